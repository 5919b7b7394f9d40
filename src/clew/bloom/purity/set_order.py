"""Functions that show the order of a set, which is another one in every process.

Python goes through a set in an order that depends on the hashes of its elements, and those of texts are drawn when
a process starts.  So ``",".join({r.a, r.b})`` gives one text at one replica and another at the next; Python
documents neither order.  No example needs a function that makes sets in any other way than these, whose results do
not depend on that order:

- it is asked for its size, smallest or largest element, for an element, or compared;
- it is sorted, without a key (with one, equal keys stay in the order of the set);
- it is combined with other sets or changed, and what comes of that is used in one of these ways;
- it becomes a column.

A set is followed through one function from the instruction that makes it to those that use it, by the height of
the stack; where code jumps before it is used, or it goes elsewhere, its order counts as shown.  Sets that come in
rows are not seen here (``docs/calm.md``).
"""

from __future__ import annotations

from collections.abc import Iterator
from types import CodeType

from clew.bloom.ir.bytecode import Instruction, instructions_of

_MAKERS = frozenset(("set", "frozenset"))
#: Functions that give the same for every order of one argument.
_ORDERLESS = frozenset(("all", "any", "bool", "isinstance", "len", "max", "min", "sorted"))
_CHANGES = frozenset(("add", "clear", "difference_update", "discard", "intersection_update", "remove", "update"))
_TESTS = frozenset(("isdisjoint", "issubset", "issuperset"))
_COMBINES = frozenset(("copy", "difference", "intersection", "symmetric_difference", "union"))
_QUESTIONS = ("CONTAINS_OP", "COMPARE_OP", "IS_OP", "UNARY_NOT", "POP_TOP", "TO_BOOL")
_IN_A_ROW = ("BUILD_TUPLE", "BUILD_LIST")


def shows_order(code: CodeType) -> int | None:
    """Return the line of a set whose order a function may show; None if there is none."""
    return next(_Sets(code).find_shown(), None)


class _Sets:
    """The sets of one function, without the functions in it."""

    def __init__(self, code: CodeType) -> None:
        # Bytecode, not the syntax tree: lambdas have no source of their own, and several may stand in one line.
        self._code = instructions_of(code)
        self._line = code.co_firstlineno
        self._pending = [k for k, i in enumerate(self._code) if self._makes(k, i)]

    def _makes(self, place: int, one: Instruction) -> bool:
        if one.name == "BUILD_SET":
            return True
        if one.name == "LOAD_CONST" and isinstance(one.value, frozenset):
            return True
        return one.name.startswith("CALL") and self._name_of_call(place) in _MAKERS | {"<setcomp>"}

    def _name_of_call(self, place: int) -> str:
        """Return the name of what is called; empty if that is not so simple."""
        bottom = self._code[place].height_after - 1
        for before in range(place - 1, -1, -1):
            if self._code[before].height == bottom:
                one = self._code[before]
                if isinstance(one.value, CodeType):
                    return one.value.co_name
                later = self._code[before + 1]
                if one.name == "PUSH_NULL" and later.name.startswith("LOAD_"):
                    return later.value.co_name if isinstance(later.value, CodeType) else str(later.value)
                return str(one.value) if one.name in ("LOAD_GLOBAL", "LOAD_NAME") else ""
            if self._code[before].height < bottom:
                break
        return ""

    # -- how they are used ---------------------------------------------------------------------------------------

    def find_shown(self) -> Iterator[int]:
        seen: set[int] = set()
        while self._pending:
            place = self._pending.pop()
            if place in seen:
                continue
            seen.add(place)
            used = self._user(place)
            if used is None or not self._is_orderless(used):
                yield self._code[place].line or self._line

    def _user(self, place: int) -> int | None:
        """Return the instruction that takes what an instruction leaves on the stack."""
        height = self._code[place].height_after
        for later in range(place + 1, len(self._code)):
            one = self._code[later]
            pushes = one.name.startswith(("LOAD_", "PUSH_")) and one.name not in ("LOAD_ATTR", "LOAD_METHOD")
            # A jump may arrive with another value at the same height of the stack.
            if one.is_jump_target or (not pushes and "JUMP" in one.name and one.height > height):
                return None
            if not pushes and min(one.height, one.height_after) <= height:
                return later
        return None

    def _is_orderless(self, used: int) -> bool:
        one, name = self._code[used], self._code[used].name
        if name in _QUESTIONS or name.startswith("POP_JUMP") or name == "RETURN_VALUE":
            return True
        # What is combined is a set again, so its own uses are looked at in turn.
        if name in ("BINARY_OP", "SET_UPDATE", "SET_ADD"):
            self._pending.append(used)
            return name != "BINARY_OP" or one.operator.rstrip("=") in ("|", "&", "-", "^")
        if name == "STORE_FAST":
            # Any load of the variable, also before the store in the text: code may loop.
            loads = [k for k, i in enumerate(self._code) if _loads(i, str(one.value))]
            self._pending += loads
            # A comprehension that uses it is another function in 3.11, and what happens there is not followed.
            return not any(self._code[k].in_comprehension and not one.in_comprehension for k in loads)
        if name in ("LOAD_ATTR", "LOAD_METHOD"):
            return self._is_method(used, str(one.value))
        if name == "CALL":
            return self._is_call(used)
        return name in _IN_A_ROW and self._is_in_a_row(used)

    def _is_method(self, used: int, method: str) -> bool:
        # The method returns another set; its call, not the attribute, is what is used next.
        if method in _COMBINES:
            call = self._user(used)
            self._pending += [] if call is None else [call]
            return call is not None
        return method in _CHANGES | _TESTS

    def _is_call(self, used: int) -> bool:
        called = self._name_of_call(used)
        return called in _MAKERS or called in _ORDERLESS

    def _is_in_a_row(self, used: int) -> bool:
        """Return whether a tuple or a list of them is all that is made of it, and is returned."""
        last: int | None = used
        while last is not None and self._code[last].name in _IN_A_ROW:
            last = self._user(last)
        return last is not None and self._code[last].name == "RETURN_VALUE"


def _loads(one: Instruction, variable: str) -> bool:
    return one.name.startswith(("LOAD_FAST", "LOAD_CLOSURE")) and one.value == variable
