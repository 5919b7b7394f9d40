"""What the rules of a program cannot say about its dataflow: replicas, seals, and dependencies that are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from clew.analysis.blazes.seals import Attributes, Dependency
from clew.bloom.language.capture import user_position
from clew.errors import Position, ProgramError

#: The attribute of a class that holds them.
ATTRIBUTE = "blazes"


@dataclass(frozen=True)
class Declared:
    """``replicated`` are components; ``seals`` and ``injective`` are by the name of a stream.

    ``repeated`` are input interfaces, by the names that the class has for them.
    """

    replicated: tuple[str, ...] = ()
    seals: Mapping[str, Attributes] = field(default_factory=dict)
    injective: Mapping[str, tuple[Dependency, ...]] = field(default_factory=dict)
    repeated: tuple[str, ...] = ()
    position: Position | None = field(default=None, compare=False)


def annotated(
    *,
    replicated: Sequence[str] = (),
    seals: Mapping[str, Sequence[str]] | None = None,
    injective: Mapping[str, Mapping[str, str]] | None = None,
    repeated: Sequence[str] = (),
) -> Any:
    """Declare facts for Blazes: ``blazes = annotated(...)`` in a class.

    ``replicated``: the imported modules that have several instances (or the class, if it imports none).
    ``seals``: the key that a stream is sealed on, as in ``{"clicks": ["campaign"]}``.  ``injective``: which
    attributes of a stream determine others one-to-one, as in ``{"clicks": {"campaign": "advertiser"}}``.
    ``repeated``: input interfaces whose requests are made again until all that they ask for is there, as in
    ``["report.request"]``.
    """
    # The line of the class body, for messages: the declaration itself is only checked when the dataflow is known.
    position = user_position()
    _refuse_text(replicated, "replicated", 'replicated=["report"]', position)
    _refuse_text(repeated, "repeated", 'repeated=["report.request"]', position)
    for key in (seals or {}).values():
        _refuse_text(key, "the key of a seal", 'seals={"clicks": ["campaign"]}', position)
    return Declared(
        tuple(replicated),
        {name: frozenset(key) for name, key in (seals or {}).items()},
        {name: tuple(_dependency(*pair) for pair in pairs.items()) for name, pairs in (injective or {}).items()},
        tuple(repeated),
        position,
    )


def declaration_of(module: type) -> Declared:
    found = getattr(module, ATTRIBUTE, None)
    if found is None:
        return Declared()
    if not isinstance(found, Declared):
        raise ProgramError(
            f"{module.__name__}.{ATTRIBUTE} is {found!r}",
            remedy=f"write {ATTRIBUTE} = annotated(...), or use another name",
        )
    return found


def _dependency(source: str, target: str) -> Dependency:
    return Dependency(frozenset({source}), frozenset({target}))


def _refuse_text(value: Sequence[str], what: str, example: str, position: Position | None) -> None:
    if isinstance(value, str) or not all(isinstance(name, str) for name in value):
        raise ProgramError(f"{what} must be a list of names, not {value!r}", position=position, remedy=example)
