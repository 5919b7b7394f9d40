"""Which partitions a key completes, directly and behind renamings and one-to-one functions."""

from __future__ import annotations

import pytest

from clew.analysis.blazes.seals import Dependency, Lineage, common_keys, seal_key


def names(text: str) -> frozenset[str]:
    return frozenset(text.split())


def dependency(source: str, target: str) -> Dependency:
    return Dependency(names(source), names(target))


@pytest.mark.parametrize(
    ("key", "gate", "complete"),
    [
        ("a", "a", True),
        ("a", "a b", True),
        ("a b", "a b c", True),
        ("a b", "a", False),  # a may come with another b
        ("a", "b", False),
    ],
)
def test_by_identity(key: str, gate: str, complete: bool) -> None:
    assert seal_key(names(key)).completes(names(gate)) is complete


def test_unknown_partitions_are_never_complete() -> None:
    assert not seal_key(["a"]).completes(None)


@pytest.mark.parametrize(
    ("key", "gate", "complete"),
    [
        ("company", "symbol", True),
        ("symbol", "company", True),
        ("company", "city", False),
        ("first last", "login", True),
        ("login", "first last", True),
        ("login", "first", False),
        ("first", "login", False),
        ("first last", "mail", True),
        ("company login", "symbol mail", True),
        ("company login", "symbol", False),
    ],
)
def test_dependencies_of_a_stream(key: str, gate: str, complete: bool) -> None:
    known = [dependency("company", "symbol"), dependency("first last", "login"), dependency("login", "mail")]
    assert seal_key(names(key)).with_dependencies(known).completes(names(gate)) is complete


def test_a_name_that_a_path_defines_anew_is_another_attribute() -> None:
    path = Lineage(True, (dependency("session", "key"),))
    session = seal_key(["session"]).through(path)
    assert session is not None
    assert session.completes(names("key"))
    assert session.completes(names("session"))
    assert seal_key(["key"]).through(path) is None


def test_renamings_are_followed_one_after_the_other() -> None:
    key = seal_key(["a", "b"])
    for source, target in (("a", "x"), ("x", "y")):
        behind = key.through(Lineage(False, (dependency(source, target), dependency("b", "b"))))
        assert behind is not None
        key = behind
    assert key.completes(names("y b"))
    assert not key.completes(names("y"))
    assert not key.completes(names("a b"))


def test_part_of_a_key_is_not_a_key() -> None:
    assert seal_key(["a", "b"]).through(Lineage(False, (dependency("a", "a"),))) is None
    assert seal_key(["a", "b"]).within(names("a c")) is None
    assert seal_key(["a", "b"]).within(names("a b c")) == seal_key(["a", "b"])


def test_two_names_for_one_attribute() -> None:
    copied = seal_key(["a"]).through(Lineage(False, (dependency("a", "x"), dependency("a", "y"))))
    assert copied is not None
    assert copied.completes(names("x"))
    assert copied.completes(names("y"))
    kept = copied.within(names("y"))
    assert kept is not None
    assert not kept.completes(names("x"))


def test_what_several_streams_are_sealed_on() -> None:
    a, b = seal_key(["a"]), seal_key(["b"])
    renamed = a.through(Lineage(False, (dependency("a", "b"),)))
    assert renamed is not None
    assert common_keys([(a, b), (b,)]) == (b,)
    assert common_keys([(a,), (b,)]) == ()
    assert common_keys([(a,), (renamed,)]) == ()  # one name at the sources, two here
