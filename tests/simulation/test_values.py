"""Values: isolated when sent, one text for equal ones, and JSON that makes them again."""

from __future__ import annotations

import enum
import json
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.errors import UsageError
from clew.files.json_document import Item, read_document
from clew.simulation.values import NoValueError, canonical, from_json, isolate, to_json


class Colour(enum.Enum):
    RED = 1


@dataclass(frozen=True)
class Fixed:
    number: int
    items: Any = ()


@dataclass
class Loose:
    items: list[Any] = field(default_factory=list)


TYPES: dict[str, type] = {"Colour": Colour, "Fixed": Fixed, "Loose": Loose}


# -- isolation ---------------------------------------------------------------------------------------------------


def test_what_cannot_change_is_not_copied() -> None:
    for value in (1, "x", None, (1, (2, "x")), frozenset({1}), Fixed(1, (2, 3)), Colour.RED):
        assert isolate(value) is value


def test_what_can_change_is_copied_at_any_depth() -> None:
    inner: list[int] = [1]
    for value in ([inner], (inner,), {"k": inner}, Fixed(1, inner), Loose([inner]), (Fixed(2, [inner]),)):
        copy = isolate(value)
        assert copy == value and copy is not value
        inner.append(2)
        assert copy != value
        inner.pop()
    original = {1, 2}
    assert isolate(original) == original and isolate(original) is not original


def looped() -> list[Any]:
    loop: list[Any] = []
    loop.append(loop)
    return loop


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (object(), "a object cannot be sent"),
        (lambda: None, "a function cannot be sent"),
        ([1, {"k": (deque(),)}], "a deque cannot be sent"),
        (looped(), "the value is nested too deeply, or contains itself"),
        (Fixed(1, looped()), "the value is nested too deeply, or contains itself"),
    ],
)
def test_what_cannot_be_sent(value: object, says: str) -> None:
    with pytest.raises(NoValueError) as caught:
        isolate(value)
    assert caught.value.message == says and caught.value.remedy


# -- JSON and back -----------------------------------------------------------------------------------------------

atoms = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters())
    | st.binary()
    | st.just(Colour.RED)
    | st.just(-(10**1500))
)
hashable = st.recursive(
    atoms, lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3), max_leaves=5
)
values = st.recursive(
    hashable,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.sets(hashable, max_size=3)
        | st.dictionaries(hashable, inner, max_size=3)
        | st.builds(Fixed, st.integers(), inner)
        | st.builds(Loose, st.lists(inner, max_size=3))
    ),
    max_leaves=10,
)


def reread(document: object, folder: Path) -> Item:
    """As a document that is read from a file."""
    file = folder / "v.json"
    file.write_text(json.dumps({"value": document}), encoding="utf-8")
    return read_document(file).member("value")


@given(values)
def test_a_value_is_the_same_after_json(tmp_path_factory: pytest.TempPathFactory, value: Any) -> None:
    again = from_json(reread(to_json(value), tmp_path_factory.getbasetemp()), TYPES)
    assert again == value
    assert canonical(again) == canonical(value) == canonical(isolate(value))


def test_one_text_for_equal_values() -> None:
    assert canonical({"b": 1, "a": {2, 1}}) == canonical({"a": {1, 2}, "b": 1})
    assert canonical([1]) != canonical((1,)) != canonical({1})


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ({"$tuple": 1}, "r.json: value.$tuple: expected a list, found 1"),
        ({"$set": [[1]]}, "r.json: value.$set: not a valid set: unhashable type: 'list'"),
        ({"$dict": [[1]]}, "r.json: value.$dict[0]: expected [key, value], found a list of 1"),
        ({"$dict": ["ab"]}, "r.json: value.$dict[0]: expected [key, value], found the string 'ab'"),
        ({"$float": "much"}, "r.json: value.$float: not a valid float: could not convert string to float: 'much'"),
        ({"$bytes": "?"}, "r.json: value.$bytes: not a valid bytes: "),
        ({"$int": "one"}, "r.json: value.$int: not a valid int: "),
        ({"$enum": ["Colour", "GREEN"]}, "r.json: value.$enum[1]: Colour has no member 'GREEN'"),
        ({"$enum": ["Fixed", "x"]}, "r.json: value.$enum[0]: unknown enum 'Fixed'"),
        ({"$enum": ["Hue", "x"]}, "r.json: value.$enum[0]: unknown enum 'Hue'"),
        ({"$os.system": ["ls"]}, "r.json: value.$os.system: unknown message type 'os.system'"),
        ({"$Vote": {}}, "r.json: value.$Vote: unknown message type 'Vote'"),
        ({"$Colour": {}}, "r.json: value.$Colour: unknown message type 'Colour'"),
        ({"$Fixed": {"number": 1}}, "r.json: value.$Fixed: the field 'items' is missing"),
        ({"$Fixed": {"number": 1, "items": 1, "x": 1}}, "r.json: value.$Fixed: unknown field 'x'"),
        ([1, {"$Fixed": {"number": {"no": 1}, "items": 1}}], "r.json: value[1].$Fixed.number: expected a value"),
        ({"$tuple": [], "$set": []}, "r.json: value: expected a value"),
        ({}, "r.json: value: expected a value"),
        (float("nan"), "r.json: value: expected a value"),
    ],
)
def test_json_that_is_no_value(document: object, says: str, tmp_path: Path) -> None:
    found = reread(document, tmp_path)
    with pytest.raises(UsageError) as caught:
        from_json(Item("r.json", "value", found.value), TYPES)
    assert caught.value.message.startswith(says)


def test_json_that_is_nested_too_deeply(tmp_path: Path) -> None:
    deep: Any = 1
    for _ in range(300):
        deep = [deep]
    with pytest.raises(UsageError, match="is nested too deeply"):
        from_json(reread(deep, tmp_path), TYPES)


# -- to be looked at ---------------------------------------------------------------------------------------------


class Plain:
    def __init__(self) -> None:
        self.next: object = self
        self.queue = deque([1, 2])


class Slotted:
    __slots__ = ("number",)

    def __init__(self) -> None:
        self.number = 3


def test_objects_that_are_no_values_are_shown_by_their_attributes() -> None:
    with pytest.raises(NoValueError, match="a Plain cannot be written down"):
        to_json(Plain())
    assert to_json(Plain(), strict=False) == {
        "$object": "Plain",
        "state": {"next": {"$object": "Plain", "again": 0}, "queue": {"$object": "deque", "state": [1, 2]}},
    }
    assert to_json(Slotted(), strict=False) == {"$object": "Slotted", "state": {"number": 3}}
    assert to_json(range(3), strict=False) == {"$object": "range", "state": "range(0, 3)"}
    assert to_json(object(), strict=False) == {"$object": "object"}
    assert to_json(len, strict=False) == {"$object": "len"}
