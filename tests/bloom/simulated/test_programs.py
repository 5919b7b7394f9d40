"""Programs are read once where their lives can share what was read, and never share rows."""

from __future__ import annotations

from typing import Any

import pytest

from bloom.simulated_programs import Log, at, rows
from clew.bloom import Bloom, bloom, channel, table
from clew.bloom.simulated import bloom_node, bloom_scenario, insert
from clew.bloom.simulated.programs import Programs
from clew.errors import ClewError
from clew.simulation import Restart, World


class Asking(Bloom):
    """A function of a rule looks into a collection of its node."""

    word = channel("@to", "text")
    known = table("text")
    again = table("text")

    @bloom
    def keep(self) -> None:
        self.again <= self.word.payloads().filter(lambda w: (w.text,) in self.known)
        self.known <+ self.word.payloads()


class Counting(Bloom):
    """A function of a rule changes the object: nobody can see that."""

    word = channel("@to", "text")
    numbered = table("number", val=["text"])

    def __init__(self, address: str | None = None) -> None:
        super().__init__(address)
        self.seen: list[str] = []

    def _number(self, word: Any) -> tuple[int, str]:
        self.seen.append(word.text)
        return len(self.seen), word.text

    @bloom
    def keep(self) -> None:
        self.numbered <= self.word(lambda w: self._number(w)).rename("number", "text")


def _is_shared(kind: Any) -> bool:
    programs = Programs(kind, {})
    return programs.begin("a")[1] is programs.begin("a")[1]


def test_what_can_reach_the_object_is_not_shared() -> None:
    assert [_is_shared(kind) for kind in (Log, Asking, Counting)] == [True, False, False]


def test_each_node_has_a_program_of_its_own() -> None:
    programs = Programs(Log, {})
    assert programs.begin("a")[1] is not programs.begin("b")[1]


@pytest.mark.parametrize("kind", [Asking, Counting])
def test_a_function_finds_the_rows_of_its_own_life(kind: Any) -> None:
    found = []
    maker = bloom_node(kind)
    for _ in range(2):
        world = World({"a": maker}, fifo=True, running=("a",))
        for _ in range(2):
            for what in ("x", "x"):
                world.inject(insert("a", "word", ("a", what)))
                world.deliver(world.pool.messages[0])
            while world.pool.messages:
                world.deliver(world.pool.messages[0])
            node: Any = world.nodes["a"]
            found.append(rows(node.again if kind is Asking else node.numbered))
            world.inject(Restart("a"))
    assert found == [[("x",)] if kind is Asking else [(1, "x"), (2, "x")]] * 4


class Given(Bloom):
    """Is made with rows."""

    kept = table("x")

    def __init__(self, address: str | None = None, *more: str) -> None:
        super().__init__(address)
        self.kept.insert(("made",), *((one,) for one in more))


def test_rows_of_the_constructor_are_there_in_each_life() -> None:
    world = World({"a": bloom_node(Given, {"kept": [("given",)]})}, fifo=True, running=("a",))
    for _ in range(3):
        assert rows(at(world, "a")["kept"]) == [("given",), ("made",)]
        world.inject(Restart("a"))


def test_a_program_may_be_made_by_a_function_of_the_name() -> None:
    world = World({"a": bloom_node(lambda name: Given(name, f"I am {name}"))}, fifo=True, running=("a",))
    assert rows(at(world, "a")["kept"]) == [("I am a",), ("made",)]


def untyped(value: Any) -> Any:
    return value


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: bloom_scenario({"a": untyped(lambda: Log("a"))}), "of the node 'a' raised TypeError"),
        (lambda: bloom_scenario({"a": untyped(lambda name: name)}), "gave a str, which is no Bloom program"),
        (lambda: bloom_scenario({"a": Log}, given={"b": {}}), "rows are given to the unknown node 'b'"),
        (lambda: Programs(Log, {"lg": []}).begin("a"), "rows are given to 'lg', which is no collection of Log"),
        (lambda: Programs(Log, {"log": [(1, 2)]}).begin("a"), r"\(1, 2\) is given to 'log', which has 1 columns"),
        (lambda: insert("a", "log", untyped({1})), "is inserted into 'log': a row is a tuple"),
    ],
)
def test_mistakes_are_explained(make: Any, says: str) -> None:
    with pytest.raises(ClewError, match=says):
        make()
