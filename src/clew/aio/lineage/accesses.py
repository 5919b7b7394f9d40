"""What a piece of code looks at while it is executed: variables that outlive a call, and attributes.

By its bytecode, once for each function: at which instruction which chain of names is read (``self.data``) or
bound. Chains begin with a variable and go on by attributes; whatever goes on in another way, by a subscript or a
call, is the content of what the chain ends at.
"""

from __future__ import annotations

import dis
import enum
from functools import lru_cache
from types import CodeType
from typing import NamedTuple


class Root(enum.Enum):
    """Where a chain begins."""

    LOCAL = enum.auto()
    CELL = enum.auto()
    GLOBAL = enum.auto()


class Access(NamedTuple):
    """A chain of names that an instruction reads, or binds the last of."""

    root: Root
    name: str
    attributes: tuple[str, ...]
    binds: bool


_LOADS = {
    **dict.fromkeys(("LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_BORROW", "LOAD_FAST_LOAD_FAST"), Root.LOCAL),
    **dict.fromkeys(("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"), Root.CELL),
    **dict.fromkeys(("LOAD_GLOBAL", "LOAD_NAME"), Root.GLOBAL),
}
_STORES = {"STORE_DEREF": Root.CELL, "STORE_GLOBAL": Root.GLOBAL}
_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD")
#: Instructions that leave what a chain ends at on top of the stack.
_NEUTRAL = ("CACHE", "EXTENDED_ARG", "NOP", "COPY")


@lru_cache(maxsize=4096)
def find_accesses(code: CodeType) -> dict[int, Access]:
    """Return the accesses of a function, by the places of its instructions."""
    found: dict[int, Access] = {}
    chain: Access | None = None
    for each in dis.get_instructions(code):
        name = each.opname
        if name in _LOADS:
            # One instruction may load two; what follows is about the last.
            variable = each.argval[-1] if isinstance(each.argval, tuple) else each.argval
            chain = found[each.offset] = Access(_LOADS[name], str(variable), (), False)
        elif name in _ATTRIBUTES and chain is not None:
            chain = found[each.offset] = chain._replace(attributes=(*chain.attributes, str(each.argval)))
        elif name == "STORE_ATTR" and chain is not None:
            attributes = (*chain.attributes, str(each.argval))
            found[each.offset] = chain._replace(attributes=attributes, binds=True)
            chain = None
        elif name in _STORES:
            found[each.offset] = Access(_STORES[name], str(each.argval), (), True)
            chain = None
        elif name not in _NEUTRAL:
            chain = None
    return found
