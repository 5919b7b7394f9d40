"""The record of coordination in a class that was made by ``clew blazes --synthesize``.

Such a class wraps another one, its ``original``: it declares input interfaces of the original again and holds back
what arrives there, so that the rules of the original see sealed partitions, or rows in one order.  That this is so
cannot be read from the rules of the wrapper, for a seal is a promise of producers.  The class says it in the
attribute ``coordination``, and whoever analyses it may take the original with these inputs in its place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from clew.bloom.language.module import Module

#: The attribute of a class that holds the record.
ATTRIBUTE = "coordination"


@dataclass(frozen=True)
class Coordination:
    """What a wrapper does to the inputs of its ``original``.

    ``seals``: the key of each input that is held back until its partition is complete.  ``reads``: inputs that
    wait for sealed partitions.  ``ordered``: inputs that get one row at a time, in the same order at all replicas.
    Either ``seals`` or ``ordered`` is empty.  Both are in a system, which imports wrapped modules in the place of
    those that ``original`` imports.
    """

    original: type[Module]
    seals: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    reads: tuple[str, ...] = ()
    ordered: tuple[str, ...] = ()


def sealed(
    original: type[Module], seals: Mapping[str, Sequence[str]], *, reads: Sequence[str] = ()
) -> Coordination:
    """Return the record of a class that seals inputs of ``original``, by their keys."""
    return Coordination(original, {name: tuple(key) for name, key in seals.items()}, tuple(reads))


def ordered(original: type[Module], inputs: Sequence[str]) -> Coordination:
    """Return the record of a class that orders inputs of ``original``."""
    return Coordination(original, ordered=tuple(inputs))


def system(original: type[Module]) -> Coordination:
    """Return the record of a class that is ``original`` with coordinated modules in it."""
    return Coordination(original)


def coordination_of(module: type[Module]) -> Coordination | None:
    """Return the record of a coordinated class, None if it is not coordinated.

    A subclass of a coordinated class has rules that the record knows nothing of, so the record is not inherited.
    """
    found = vars(module).get(ATTRIBUTE)
    return found if isinstance(found, Coordination) else None
