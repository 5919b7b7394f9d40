"""What the decorators take, what they refuse, and on what their notes are found again."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

import clew
from clew.analysis.blazes.annotations import RUN, Annotation, Behaviour
from clew.analysis.blazes.dataflow import Ordering
from clew.analysis.blazes.seals import Dependency, Lineage
from clew.analysis.blazes.streaming.declared import SourceNote, StepNote, notes_on


def _one(name: str) -> frozenset[str]:
    return frozenset({name})


@pytest.mark.parametrize(
    ("label", "subscript", "expected"),
    [
        ("C", None, Annotation(Behaviour.CR)),
        ("CR", None, Annotation(Behaviour.CR)),
        ("CW", None, Annotation(Behaviour.CW)),
        ("OR", None, Annotation(Behaviour.OR)),
        ("OW*", None, Annotation(Behaviour.OW)),
        ("OW", "word", Annotation(Behaviour.OW, _one("word"))),
        ("OR", ["word", "batch"], Annotation(Behaviour.OR, frozenset({"word", "batch"}))),
    ],
)
def test_labels(label: str, subscript: Any, expected: Annotation) -> None:
    @clew.annotate(label, subscript)
    def step() -> None: ...

    (note,) = notes_on(step)
    assert isinstance(note, StepNote)
    assert (note.annotation, note.lineage, note.ordering) == (expected, Lineage(), Ordering.NONE)
    assert (note.source, note.target, note.replicated, note.seals, note.attributes) == ("", "", False, (), None)


def test_all_that_can_be_said_of_a_step() -> None:
    @clew.annotate(
        "CW",
        source="up",
        target="down",
        meets=["order"],
        lineage={"a": "b"},
        injective={"c": "d"},
        replicated=True,
        order="dynamic",
        seal="b",
        attributes=["b", "d"],
    )
    def step() -> None: ...

    (note,) = notes_on(step)
    assert isinstance(note, StepNote)
    assert note.annotation == Annotation(Behaviour.CW, meets=_one("order"))
    assert note.lineage == Lineage(
        False, (Dependency(_one("a"), _one("b")), Dependency(_one("c"), _one("d")))
    )
    assert (note.source, note.target, note.replicated, note.ordering) == ("up", "down", True, Ordering.DYNAMIC)
    assert (note.seals, note.attributes) == ((_one("b"),), ("b", "d"))
    assert (note.position.file, note.position.column) == (__file__, 1)


def test_that_nothing_is_met_is_not_the_same_as_nothing_said() -> None:
    (none,) = notes_on(clew.annotate("CW", meets=[])(lambda: None))
    (unsaid,) = notes_on(clew.annotate("CW")(lambda: None))
    assert isinstance(none, StepNote)
    assert isinstance(unsaid, StepNote)
    assert (none.annotation.meets, unsaid.annotation.meets) == (frozenset(), None)


def test_all_that_can_be_said_of_a_source() -> None:
    @clew.annotate_source(attributes=["a", "b"], seal=["a", "b"], injective={"a": "b"})
    class Sealed: ...

    @clew.annotate_source(label="Run")
    class Differing: ...

    (sealed,), (differing,) = notes_on(Sealed), notes_on(Differing())
    assert isinstance(sealed, SourceNote)
    assert isinstance(differing, SourceNote)
    assert (sealed.seals, sealed.attributes) == ((frozenset({"a", "b"}),), ("a", "b"))
    assert sealed.dependencies == (Dependency(_one("a"), _one("b")),)
    assert (differing.label, differing.seals, differing.attributes) == (RUN, (), None)


def test_what_is_decorated_stays_what_it_is() -> None:
    def step(number: int) -> int:
        return number + 1

    assert clew.annotate("CR")(step) is step
    assert step(1) == 2


# -- on what a note is found -------------------------------------------------------------------------------------


def test_a_note_is_found_on_a_function_a_class_its_objects_and_its_methods() -> None:
    class Step:
        @clew.annotate("CW")
        def method(self) -> None: ...

    assert notes_on(Step().method) == notes_on(Step.method) != ()
    annotated = clew.annotate("CR")(Step)
    assert notes_on(annotated()) == notes_on(annotated) != ()
    one = Step()
    clew.annotate_source()(one)
    assert [type(note) for note in notes_on(one)] == [SourceNote]
    assert [type(note) for note in notes_on(Step())] == [StepNote]


def test_what_wraps_or_is_derived_is_something_else() -> None:
    @clew.annotate("CR")
    def step(number: int) -> int:
        return number

    @functools.wraps(step)
    def remembering(number: int) -> int:
        return number

    @clew.annotate("CR")
    class Step: ...

    class Derived(Step): ...

    other: list[object] = [remembering, functools.partial(remembering, 1), Derived, Derived(), 1, None, "CR"]
    assert [notes_on(value) for value in other] == [()] * len(other)


def test_what_has_some_of_its_arguments_is_the_same() -> None:
    @clew.annotate("CR")
    def step(number: int, other: int, more: int) -> int:
        return number + other + more

    assert notes_on(functools.partial(functools.partial(step, 1), 2)) == notes_on(step) != ()


def test_an_annotation_of_a_wrapper_is_its_own() -> None:
    @clew.annotate("CR")
    def step(number: int) -> int:
        return number

    remembering = clew.annotate("CW")(functools.wraps(step)(lambda number: number))
    (note,) = notes_on(remembering)
    assert isinstance(note, StepNote)
    assert note.annotation.behaviour is Behaviour.CW


# -- what is refused ---------------------------------------------------------------------------------------------

_STEP: list[tuple[Callable[..., Any], dict[str, Any], str]] = [
    (clew.annotate, {"label": "X"}, "the label 'X' is unknown"),
    (clew.annotate, {"label": "cr"}, "the label 'cr' is unknown"),
    (clew.annotate, {"label": "CR*"}, "the label 'CR*' is unknown"),
    (clew.annotate, {"label": ["CR"]}, "the label ['CR'] is unknown"),
    (clew.annotate, {"label": "CR", "subscript": ["a"]}, "CR has no subscript"),
    (clew.annotate, {"label": "OW*", "subscript": ["a"]}, "OW* has no subscript"),
    (clew.annotate, {"label": "OW", "subscript": []}, "subscript names no attribute"),
    (clew.annotate, {"label": "OW", "subscript": ["a", "a"]}, "subscript names an attribute twice"),
    (clew.annotate, {"label": "OW", "subscript": ["a b"]}, "subscript names 'a b', which is no attribute"),
    (clew.annotate, {"label": "OW", "subscript": [1]}, "subscript names 1, which is no attribute"),
    (clew.annotate, {"label": "OW", "subscript": 1}, "subscript must be a list of attributes, not 1"),
    (clew.annotate, {"label": "OW", "meets": ["a"]}, "only CW has meets"),
    (clew.annotate, {"label": "CR", "order": "total"}, "the order 'total' is unknown"),
    (clew.annotate, {"label": "CR", "lineage": 1}, "lineage must be a list of attributes, not 1"),
    (clew.annotate, {"label": "CR", "lineage": {"a": 1}}, "lineage names 1, which is no attribute"),
    (clew.annotate, {"label": "CR", "injective": ["a"]}, "injective must be a mapping, not ['a']"),
    (clew.annotate, {"label": "CR", "seal": ["a"], "attributes": ["b"]}, "the seal is on 'a', which is not among"),
    (clew.annotate_source, {"seal": ""}, "seal names '', which is no attribute"),
    (clew.annotate_source, {"seal": []}, "seal names no attribute"),
    (clew.annotate_source, {"seal": "a", "attributes": ["b"]}, "the seal is on 'a', which is not among"),
    (clew.annotate_source, {"label": "Seal"}, "the label 'Seal' of a source is unknown"),
    (clew.annotate_source, {"label": "Run", "seal": "a"}, "a stream that is Run cannot be sealed"),
    (clew.annotate_source, {"attributes": []}, "attributes names no attribute"),
]


@pytest.mark.parametrize(("decorator", "given", "message"), _STEP)
def test_what_is_no_annotation(decorator: Callable[..., Any], given: dict[str, Any], message: str) -> None:
    with pytest.raises(clew.ProgramError) as raised:
        decorator(**given)
    assert raised.value.message.startswith(message)
    assert raised.value.remedy
    assert raised.value.position is not None
    assert raised.value.position.file == __file__


@pytest.mark.parametrize("value", [len, str.split, int, 1, object()])
def test_what_cannot_be_annotated(value: object) -> None:
    with pytest.raises(clew.ProgramError, match="cannot be annotated"):
        clew.annotate("CR")(value)


def test_a_source_is_annotated_once() -> None:
    @clew.annotate_source()
    class Source: ...

    with pytest.raises(clew.ProgramError, match="a source is annotated twice"):
        clew.annotate_source(seal="a")(Source)
