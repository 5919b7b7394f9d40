"""What the author of a stream program says of it: the decorators ``annotate`` and ``annotate_source``.

They leave a note on steps and sources, and change nothing else, so that an annotated program runs as it did.  This
module imports no stream engine.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any, NoReturn, TypeVar

from clew.analysis.blazes.annotations import (
    BEHAVIOURS,
    SOURCE_LABELS,
    Annotation,
    Behaviour,
    Label,
    LabelKind,
    is_name,
)
from clew.analysis.blazes.dataflow import Ordering
from clew.analysis.blazes.seals import Attributes, Dependency, Lineage
from clew.errors import Position, ProgramError

#: An attribute, or several.
Names = str | Sequence[str]
_Decorated = TypeVar("_Decorated")

#: Where notes are left.
_NOTED = "__clew_noted__"
_LABELS = (*BEHAVIOURS, "OR*", "OW*")
_ORDERINGS = (Ordering.DYNAMIC.value, Ordering.SEQUENCE.value)


@dataclass(frozen=True)
class StepNote:
    """What is said of the paths of a step, and of the streams that leave it.

    ``source`` and ``target``: the ports of the paths that are meant, "" for all.  ``repeatable``: what the
    step is seen to depend on besides its input makes no difference.
    """

    annotation: Annotation
    lineage: Lineage
    source: str
    target: str
    replicated: bool
    ordering: Ordering
    seals: tuple[Attributes, ...]
    attributes: tuple[str, ...] | None
    repeatable: bool
    position: Position


@dataclass(frozen=True)
class SourceNote:
    """What is said of the stream that a source begins."""

    label: Label
    seals: tuple[Attributes, ...]
    attributes: tuple[str, ...] | None
    dependencies: tuple[Dependency, ...]
    position: Position


Note = StepNote | SourceNote


@dataclass(frozen=True)
class _Noted:
    """Notes, and what they were made for: ``functools.wraps`` copies them to what they do not describe."""

    of: object
    notes: tuple[Note, ...]


def annotate(
    label: str,
    subscript: Names | None = None,
    *,
    source: str = "",
    target: str = "",
    meets: Names | None = None,
    lineage: Names | Mapping[str, str] | None = None,
    injective: Mapping[str, str] | None = None,
    replicated: bool = False,
    order: str | None = None,
    seal: Names | None = None,
    attributes: Sequence[str] | None = None,
    repeatable: bool = False,
) -> Callable[[_Decorated], _Decorated]:
    """Say what a step does with its input: a decorator for what the step is given, or for an operator.

    - ``label``: CR, CW, OR or OW; ``subscript``: for OR and OW the attributes by which the work falls into parts.
    - ``source``, ``target``: the ports that are meant, of a step that has several; decorate once for each.
    - ``meets``, ``lineage``, ``injective``, ``order``: as in a file, see docs/blazes.md.
    - ``replicated``: there are several instances that ought to agree (not: that each have a part of the work).
    - ``seal``, ``attributes``: of the streams that leave the step.
    - ``repeatable``: the clock, chance, or state of its own that it is seen to use makes no difference to what
      leaves it.

    Raises ``ProgramError`` for what is no annotation.
    """
    position = _position_of_caller(sys._getframe(1))
    behaviour = _behaviour(label, subscript, position)
    if meets is not None and behaviour is not Behaviour.CW:
        _refuse("only CW has meets", position, "leave it out")
    if order is not None and order not in _ORDERINGS:
        _refuse(f"the order {order!r} is unknown", position, f"write one of {', '.join(_ORDERINGS)}")
    note = StepNote(
        Annotation(
            behaviour,
            None if subscript is None else frozenset(_names(subscript, "subscript", position)),
            # Empty is a statement here, and not forgotten: the rows meet nothing for which order matters.
            frozenset() if meets in ((), []) else _key(meets, "meets", position),
        ),
        _lineage(lineage, injective, position),
        source,
        target,
        replicated,
        Ordering(order) if order is not None else Ordering.NONE,
        _seals(seal, attributes, position),
        None if attributes is None else _names(attributes, "attributes", position),
        repeatable,
        position,
    )
    return lambda decorated: _leave(decorated, note)


def annotate_source(
    *,
    seal: Names | None = None,
    attributes: Sequence[str] | None = None,
    injective: Mapping[str, str] | None = None,
    label: str = LabelKind.ASYNC.value,
) -> Callable[[_Decorated], _Decorated]:
    """Say what the stream of a source is like: a decorator for the class of the source, or for a source itself.

    - ``seal``: the attributes on which its producers seal it; without, it comes in any order and nobody knows when
      something is complete.
    - ``attributes``: its schema; ``injective``: which of these determine others one-to-one.
    - ``label``: what it is already: Async, Run, Inst or Split.

    Raises ``ProgramError`` for what is no annotation.
    """
    position = _position_of_caller(sys._getframe(1))
    if label not in SOURCE_LABELS:
        _refuse(
            f"the label {label!r} of a source is unknown", position, f"write one of {', '.join(SOURCE_LABELS)}"
        )
    entered = Label(LabelKind(label))
    if entered.bad and seal is not None:
        _refuse(f"a stream that is {label} cannot be sealed", position, "leave label or seal out")
    note = SourceNote(
        entered,
        _seals(seal, attributes, position),
        None if attributes is None else _names(attributes, "attributes", position),
        _dependencies(injective or {}, "injective", position),
        position,
    )
    return lambda decorated: _leave(decorated, note)


def notes_on(value: object) -> tuple[Note, ...]:
    """Return what was said of a function, a class, or an object, or of the class of an object.

    Not of a class that it is derived from, nor of a function that it wraps: these may do something else.  What has
    some of its arguments already (``functools.partial``, a method) is the same code.
    """
    # It may be partial several times over.
    while isinstance(value, functools.partial):
        value = value.func
    candidates = (value, getattr(value, "__func__", None), type(value))
    return next((notes for candidate in candidates if (notes := _own_notes(candidate))), ())


def _own_notes(value: object) -> tuple[Note, ...]:
    noted = (getattr(value, "__dict__", None) or {}).get(_NOTED)
    return noted.notes if isinstance(noted, _Noted) and noted.of is value else ()


def _leave(decorated: _Decorated, note: Note) -> _Decorated:
    # The functions that Bytewax makes of operators have their class: the steps in a dataflow are objects of that.
    described: Any = getattr(decorated, "_op_cls", decorated)
    if described is not decorated and described.__module__.partition(".")[0] == "bytewax":
        _refuse(
            f"{described.__name__} is an operator of Bytewax, which all its users share",
            note.position,
            "annotate the function that the step is given, or an operator of your own that wraps this one",
        )
    before = _own_notes(described)
    if isinstance(note, SourceNote) and any(isinstance(other, SourceNote) for other in before):
        _refuse("a source is annotated twice", note.position, "annotate it once")
    try:
        setattr(described, _NOTED, _Noted(described, (*before, note)))
    except (AttributeError, TypeError):
        _refuse(
            f"{described!r} cannot be annotated",
            note.position,
            "wrap it in a function of your own, and annotate that",
        )
    return decorated


def _behaviour(label: str, subscript: Names | None, position: Position) -> Behaviour:
    if label not in _LABELS:
        _refuse(f"the label {label!r} is unknown", position, f"write one of {', '.join(_LABELS)}")
    behaviour = BEHAVIOURS[label.removesuffix("*")]
    if subscript is not None and (not behaviour.ordered or label.endswith("*")):
        _refuse(f"{label} has no subscript", position, "only OR and OW have one: the attributes that partition")
    return behaviour


def _seals(seal: Names | None, attributes: Sequence[str] | None, position: Position) -> tuple[Attributes, ...]:
    key = _key(seal, "seal", position)
    if key is None:
        return ()
    for name in sorted(key - frozenset(attributes or key)):
        _refuse(f"the seal is on {name!r}, which is not among the attributes", position, "add it, or correct it")
    return (key,)


def _key(names: Names | None, what: str, position: Position) -> Attributes | None:
    return None if names is None else frozenset(_names(names, what, position))


def _names(names: Any, what: str, position: Position) -> tuple[str, ...]:
    remedy = f'write {what}=["first", "second"]; names consist of letters, digits, _ and -'
    given = (names,) if isinstance(names, str) else names
    if not isinstance(given, Iterable):
        _refuse(f"{what} must be a list of attributes, not {names!r}", position, remedy)
    found = tuple(given)
    for name in found:
        if not (isinstance(name, str) and is_name(name)):
            _refuse(f"{what} names {name!r}, which is no attribute", position, remedy)
    if not found:
        _refuse(f"{what} names no attribute", position, f"leave {what} out, or name one")
    if len(set(found)) < len(found):
        _refuse(f"{what} names an attribute twice", position, "name it once")
    return found


def _lineage(
    lineage: Names | Mapping[str, str] | None, injective: Mapping[str, str] | None, position: Position
) -> Lineage:
    also = _dependencies(injective or {}, "injective", position)
    if lineage is None:
        return Lineage(True, also)
    if isinstance(lineage, Mapping):
        return Lineage(False, (*_dependencies(lineage, "lineage", position), *also))
    kept = tuple(Dependency(frozenset({n}), frozenset({n})) for n in _names(lineage, "lineage", position))
    return Lineage(False, (*kept, *also))


def _dependencies(pairs: Any, what: str, position: Position) -> tuple[Dependency, ...]:
    if not isinstance(pairs, Mapping):
        _refuse(f"{what} must be a mapping, not {pairs!r}", position, f'write {what}={{"attribute": "other"}}')
    for name in (*pairs, *pairs.values()):
        _names([name], what, position)
    return tuple(Dependency(frozenset({source}), frozenset({target})) for source, target in pairs.items())


def _position_of_caller(frame: FrameType) -> Position:
    return Position(frame.f_code.co_filename, frame.f_lineno, 1)


def _refuse(message: str, position: Position, remedy: str) -> NoReturn:
    raise ProgramError(message, position=position, remedy=remedy)
