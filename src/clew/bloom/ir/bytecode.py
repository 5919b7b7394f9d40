"""Read the bytecode of every supported Python as one language.

What calm calls consistent rests on what the code of functions of rows is seen to do, and that must not depend on
which Python runs the analysis.  So everything in which the versions differ is evened out here, and those who read
bytecode know one vocabulary, that of 3.11, without what only the interpreter needs:

- 3.13 loads and stores two variables by one instruction: two here.  Overlooking the second of two loads would be
  overlooking that a function reads ``self``.
- 3.12 returns a constant by one instruction (two here), merges ``LOAD_METHOD`` into ``LOAD_ATTR``, and calls
  intrinsics for what used to be instructions of their own, such as ``(*row, 1)``.
- 3.12 compiles list, set and dict comprehensions into the function around them: ``in_comprehension``.
- 3.13 loads the cells for an inner function like other variables: ``LOAD_CLOSURE``.
- 3.11 and 3.12 announce the names of keyword arguments before a call, 3.13 has ``CALL_KW``.

An instruction that is not known here keeps its own name, which those who read it then take for the worst.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from types import CodeType
from typing import Any

#: Instructions that compute nothing, and ``PRECALL``, which is counted with the call after it.
_SILENT = frozenset(("CACHE", "EXTENDED_ARG", "KW_NAMES", "NOP", "PRECALL", "RESUME"))
_PAIRS = {
    "LOAD_FAST_LOAD_FAST": ("LOAD_FAST", "LOAD_FAST"),
    "STORE_FAST_LOAD_FAST": ("STORE_FAST", "LOAD_FAST"),
    "STORE_FAST_STORE_FAST": ("STORE_FAST", "STORE_FAST"),
}


@dataclass(frozen=True)
class Instruction:
    """One instruction, as 3.11 has it."""

    name: str
    value: Any  # its variable, attribute or constant, or where it jumps to
    line: int | None
    #: The height of the stack before and after it.
    height: int
    height_after: int
    operator: str = ""
    is_jump_target: bool = False
    #: Whether it belongs to a comprehension that is compiled into this function; in 3.11 that is another function.
    in_comprehension: bool = False
    #: Whether it is the first of what such a comprehension goes through: there, 3.11 makes the other function.
    begins_comprehension: bool = False


def instructions_of(code: CodeType) -> Sequence[Instruction]:
    """Return the instructions of a function, without those of the functions in it."""
    return _instructions_in(code, code.co_filename)


# Remembered, since several analyses ask for each function, and a class is read anew for each of its nodes.  The
# file is a key of its own: code of two files can be equal, and inner functions are among the values.
@lru_cache(maxsize=4096)
def _instructions_in(code: CodeType, file: str) -> Sequence[Instruction]:
    found = list(_mark_comprehensions(_split(code)))
    for place, one in enumerate(found):
        if one.name == "LOAD_FAST_AND_CLEAR":
            # The iterator is on top of the stack: what computes it begins where that was not yet so high.
            begin = max((k for k in range(place) if found[k].height < one.height), default=place)
            found[begin] = replace(found[begin], begins_comprehension=True)
    return tuple(found)


def attributes_at(instructions: Sequence[Instruction]) -> tuple[str, ...]:
    """Return the attributes that the first instructions go on to, as in ``.a.b.c``."""
    found = []
    for one in instructions:
        if one.name not in ("LOAD_ATTR", "LOAD_METHOD"):
            break
        found.append(one.value)
    return tuple(found)


def _split(code: CodeType) -> Iterator[Instruction]:
    cells = {*code.co_cellvars, *code.co_freevars}
    for one in _read(code):
        if one.name in _PAIRS:
            first, second = _PAIRS[one.name]
            between = one.height + (1 if first == "LOAD_FAST" else -1)
            parts = [
                replace(one, name=first, value=one.value[0], height_after=between),
                replace(one, name=second, value=one.value[1], height=between, is_jump_target=False),
            ]
        elif one.name == "RETURN_CONST":
            parts = [
                replace(one, name="LOAD_CONST", height_after=one.height + 1),
                replace(one, name="RETURN_VALUE", value=None, height=one.height + 1, is_jump_target=False),
            ]
        else:
            parts = [one]
        for part in parts:
            is_cell = part.name == "LOAD_FAST" and part.value in cells
            yield replace(part, name="LOAD_CLOSURE") if is_cell else part


def _read(code: CodeType) -> Iterator[Instruction]:
    """Yield the instructions that compute something, with the height of the stack.

    A jump forward tells the height where it leads to.  As if nothing jumped, it would be wrong after every loop:
    by one too high in 3.11, where the end of the loop takes the iterator away, and by one too low later.
    """
    height = taken = 0
    told: dict[int, int] = {}
    target = named = False
    for one in dis.get_instructions(code):
        height = told.get(one.offset, height)
        # What jumps to an instruction with a large argument jumps to what extends the argument.
        target = target or one.is_jump_target
        named = named or one.opname == "KW_NAMES"
        if one.opname in _SILENT:
            # In 3.11 PRECALL takes the arguments of the call away; the call is what uses them.
            taken += dis.stack_effect(one.opcode, one.arg) if one.opname == "PRECALL" else 0
            continue
        after = height + taken + dis.stack_effect(one.opcode, one.arg, jump=False)
        if one.opcode in dis.hasjrel or one.opcode in dis.hasjabs:
            told.setdefault(one.argval, height + dis.stack_effect(one.opcode, one.arg, jump=True))
        name = "CALL_KW" if named and one.opname == "CALL" else _name(one)
        line = one.positions.lineno if one.positions else None
        yield Instruction(name, one.argval, line, height, after, one.argrepr, target)
        height, taken = after, 0
        target, named = False, named and one.opname != "CALL"


def _name(one: dis.Instruction) -> str:
    # Since 3.12 the lowest bit says that a method is loaded, to be called.
    if sys.version_info >= (3, 12) and one.opname == "LOAD_ATTR" and (one.arg or 0) & 1:
        return "LOAD_METHOD"
    if one.opname.startswith("CALL_INTRINSIC"):
        # Nothing is called: LIST_TO_TUPLE, UNARY_POSITIVE, and what generators do when they are exhausted.
        return one.argrepr.removeprefix("INTRINSIC_")
    return one.opname


def _mark_comprehensions(instructions: Iterator[Instruction]) -> Iterator[Instruction]:
    """Mark what lies between saving a variable of the same name and restoring it."""
    saved: list[tuple[str, int]] = []
    for one in instructions:
        if one.name == "LOAD_FAST_AND_CLEAR":
            saved.append((one.value, one.height_after))
        yield replace(one, in_comprehension=bool(saved))
        if one.name == "STORE_FAST" and (one.value, one.height) in saved:
            saved.remove((one.value, one.height))
