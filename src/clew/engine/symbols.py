"""Values as symbols of clingo, and back."""

from __future__ import annotations

from clingo import Function, Number, String, Symbol, SymbolType, Tuple_

from clew.engine.encode import NOTHING
from clew.program.ir import Value


def symbol_of(value: Value) -> Symbol:
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
    if symbol.type is SymbolType.Number:
        return symbol.number
    if symbol.type is SymbolType.String:
        return symbol.string
    # Whatever else an atom of ours contains is a tuple, or stands for None.
    return None if symbol.name else tuple(map(value_of, symbol.arguments))
