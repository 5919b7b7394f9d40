"""Values of programs as clingo has them: as text in a logic program, as symbols, and read back from atoms.

All strings are quoted, so that a value of the user's never becomes a constant, a variable or an operator of
clingo.
"""

from __future__ import annotations

from collections.abc import Sequence
from json import JSONDecodeError, JSONDecoder

from clingo import Function, Number, String, Symbol, SymbolType, Tuple_

from clew.program.ir import Value

#: How None is written: in the text of an atom, JSON reads it back.
NOTHING = "null"


def encode_value(value: Value) -> str:
    """Write a value in the text of a logic program."""
    match value:
        case None:
            return NOTHING
        case int():
            return str(value)
        case tuple():
            return encode_tuple([encode_value(item) for item in value])
    # These three are all that clingo escapes; as_value has refused what it cannot read at all.
    escaped = value.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
    return f'"{escaped}"'


def encode_tuple(items: Sequence[str]) -> str:
    """Write a tuple of texts; in clingo as in Python, one item needs a comma to be a tuple."""
    return f"({items[0]},)" if len(items) == 1 else f"({','.join(items)})"


def symbol_of(value: Value) -> Symbol:
    """Make a symbol of a value: what a callback hands back to clingo."""
    match value:
        case None:
            return Function(NOTHING)
        case int():
            return Number(value)
        case str():
            return String(value)
        case tuple():
            return Tuple_([symbol_of(item) for item in value])


def value_of(symbol: Symbol) -> Value:
    """Read a value from a symbol."""
    if symbol.type is SymbolType.Number:
        return symbol.number
    if symbol.type is SymbolType.String:
        return symbol.string
    # Whatever else an atom of ours contains is a tuple, or stands for None.
    return None if symbol.name else tuple(map(value_of, symbol.arguments))


def symbol_values(symbol: Symbol, name: str) -> tuple[Value, ...]:
    """Return the arguments of an atom with this name.

    Read from its text, which without tuples is JSON: asking clingo for each argument takes longer.
    """
    try:
        return tuple(_decode(f"[{str(symbol)[len(name) + 1 : -1]}]"))
    except JSONDecodeError:
        return tuple(map(value_of, symbol.arguments))


_decode = JSONDecoder(strict=False).decode  # strings may contain control characters
