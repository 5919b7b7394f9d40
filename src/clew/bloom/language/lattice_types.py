"""The names of lattices in programs: ``lmax()`` declares one, ``lmax.of(3)`` is a value that is written down."""

from __future__ import annotations

from typing import Any

from clew.bloom.language.capture import mistake
from clew.bloom.language.declarations import Declaration, lattice
from clew.bloom.language.lattice_handles import LatticeRelation, value_of
from clew.bloom.lattices.containers import LATTICES


class LatticeType:
    """``votes = lset()`` in the body of a class; ``self.votes <= lset.of(["a", "b"])`` in a rule."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self) -> Any:
        return lattice(self._name)

    def of(self, value: Any) -> LatticeRelation:
        return value_of(self._name, value)

    def __repr__(self) -> str:
        return self._name


lmax, lmin, lbool = LatticeType("lmax"), LatticeType("lmin"), LatticeType("lbool")
lset, lpset, lbag = LatticeType("lset"), LatticeType("lpset"), LatticeType("lbag")


def lmap(values: Any) -> Any:
    """``clock = lmap(lmax)``: a map whose values are of another lattice; ``lmap(lmap(lmax))`` is the deepest."""
    inner = values.lattice if isinstance(values, Declaration) else repr(values)
    if f"lmap[{inner}]" not in LATTICES:
        raise mistake(
            f"{values!r} is no lattice for the values of a lmap", "write lmap(lmax), and two lmaps at most"
        )
    return lattice(f"lmap[{inner}]")
