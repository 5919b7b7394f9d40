"""Lattices: values that only grow, and the functions that respect it (placeholder registry, see ``LATTICES``)."""

from __future__ import annotations

from typing import Any, NamedTuple


class Method(NamedTuple):
    """A function of a lattice.  ``result``: the lattice that it gives.  Monotone: it never goes back.

    Morphism: it can be applied to the parts of a merge one by one.
    """

    result: str
    monotone: bool = True
    morphism: bool = False


LATTICES: dict[str, Any] = {}
