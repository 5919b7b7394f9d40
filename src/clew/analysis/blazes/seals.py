"""Keys of seals on their way through a dataflow, and which partitions of a component they complete.

A key is followed through renamings and one-to-one functions.  It completes a partition (the thesis says it is
compatible with the gate) if it determines a non-empty part of the gate one-to-one; with dependencies that are all
one-to-one, that is a question of two closures.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Attributes = frozenset[str]
#: The partitions that an order-sensitive path works on; None where they are unknown (written ``*``).
Gate = Attributes | None


@dataclass(frozen=True)
class Dependency:
    """``target`` is a one-to-one function of ``source``: each determines the other."""

    source: Attributes
    target: Attributes

    @property
    def reversed(self) -> Dependency:
        return Dependency(self.target, self.source)


@dataclass(frozen=True)
class Lineage:
    """What a path does to the attributes of its input.

    ``by_name``: an attribute of the output that no dependency defines is the input's of the same name.
    """

    by_name: bool = True
    dependencies: tuple[Dependency, ...] = ()

    @property
    def defined(self) -> Attributes:
        return frozenset().union(*(d.target for d in self.dependencies))


#: Every attribute keeps its name.
BY_NAME = Lineage()


@dataclass(frozen=True)
class Image:
    """The attributes ``now`` and the part ``origin`` of the key determine each other."""

    origin: Attributes
    now: Attributes


@dataclass(frozen=True)
class SealKey:
    """The attributes that a stream was sealed on, by their names at its source, and what became of them."""

    key: Attributes
    images: frozenset[Image]

    def __str__(self) -> str:
        return ",".join(sorted(self.key))

    @property
    def known(self) -> bool:
        """Tell whether what is left of the key still determines it."""
        return self.key <= self._origins(frozenset().union(*(image.now for image in self.images)))

    def completes(self, gate: Gate) -> bool:
        """Evaluate the predicate *compatible* of section 4.4."""
        if gate is None:
            return False
        # The literal rule asks for a subset of the gate that the key determines; the largest such subset decides.
        part = frozenset().union(*(image.now for image in self.images)) & gate
        return bool(part) and self.key <= self._origins(part)

    def _origins(self, attributes: Attributes) -> Attributes:
        """Return the part of the key that attributes determine, also through what they determine of each other."""
        known = attributes
        found: Attributes = frozenset()
        while True:
            grown = found.union(*(i.origin for i in self.images if i.now <= known))
            reached = known.union(*(i.now for i in self.images if i.origin <= grown))
            if (grown, reached) == (found, known):
                return found
            found, known = grown, reached

    def with_dependencies(self, dependencies: Sequence[Dependency]) -> SealKey:
        """Return the same key, where attributes of a stream determine each other."""
        both = [*dependencies, *(d.reversed for d in dependencies)]
        images = self.images
        while True:
            grown = images | frozenset(_apply(both, images))
            if grown == images:
                return SealKey(self.key, images)
            images = grown

    def through(self, lineage: Lineage) -> SealKey | None:
        """Return the key behind a path; None if it is lost there."""
        images = set(_apply(lineage.dependencies, self.images))
        # An attribute that the path defines anew is no longer the one of the input, though it has its name.
        if lineage.by_name:
            images |= {image for image in self.images if not image.now & lineage.defined}
        return _if_known(self.key, images)

    def within(self, attributes: Attributes) -> SealKey | None:
        """Return the key on a stream that has only these attributes; None if it is lost there."""
        return _if_known(self.key, {image for image in self.images if image.now <= attributes})


def seal_key(attributes: Iterable[str]) -> SealKey:
    """Return the key of a stream that is sealed on these attributes."""
    key = frozenset(attributes)
    return SealKey(key, frozenset(Image(frozenset({a}), frozenset({a})) for a in key))


def common_keys(several: Sequence[Sequence[SealKey]]) -> tuple[SealKey, ...]:
    """Return the keys that several streams have in common, as far as they agree about them."""
    first, *others = several
    keys = []
    for key in first:
        images = key.images
        for other in others:
            images &= frozenset().union(*(k.images for k in other if k.key == key.key))
        merged = _if_known(key.key, images)
        if merged is not None:
            keys.append(merged)
    return tuple(keys)


def _if_known(key: Attributes, images: Iterable[Image]) -> SealKey | None:
    made = SealKey(key, frozenset(images))
    return made if made.known else None


def _apply(dependencies: Iterable[Dependency], images: frozenset[Image]) -> Iterable[Image]:
    for dependency in dependencies:
        used = [image for image in images if image.now <= dependency.source]
        if used and frozenset().union(*(image.now for image in used)) == dependency.source:
            yield Image(frozenset().union(*(image.origin for image in used)), dependency.target)
