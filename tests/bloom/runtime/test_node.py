"""A node as its user sees it: steps, collections from outside, parts, and several nodes together."""

from __future__ import annotations

from typing import Any

import pytest

from clew.bloom.language.declarations import bloom, channel, imported, interface, lattice, periodic, scratch, table
from clew.bloom.language.module import Module
from clew.bloom.language.relations import rows
from clew.bloom.runtime.machine import Change
from clew.bloom.runtime.node import Node
from clew.errors import ClewError, ProgramError, UsageError
from random_network import RandomNetwork


class Shelf(Node):
    books = table("title", val=["count", "index"])
    ordered = table("title", "copy")
    wanted = interface.input("title")
    found = interface.output("title", val=["count"])
    mail = channel("@to", "text")
    seen = lattice("lset")

    @bloom
    def look(self) -> None:
        self.found <= (self.wanted * self.books).pairs(lambda w, b: (b.title, b.count), title="title")
        self.found <= (self.books * self.ordered).pairs(lambda b, o: (b.title, b.index + b.count), title="title")
        self.seen <= self.wanted


def test_collections_from_outside() -> None:
    shelf = Shelf()
    shelf.books.insert(("b", 2, 0), ("a", 1, 0))
    shelf.books <+ rows([("c", 0, 0)])
    assert (len(shelf.books), bool(shelf.books)) == (0, False)
    shelf.tick()
    assert list(shelf.books) == [("a", 1, 0), ("b", 2, 0), ("c", 0, 0)]
    assert [(book.title, book.count, book.index) for book in shelf.books][1] == ("b", 2, 0)
    assert [row in shelf.books for row in (("a", 1, 0), ["a", 1, 0], ("a", 2, 0))] == [True, True, False]
    assert (shelf.books["b"].count, shelf.books["z"]) == (2, None)
    shelf.ordered.insert(("a", 1))
    shelf.wanted.insert(("b",))
    shelf.tick()
    assert (shelf.ordered["a", 1], shelf.ordered["a", 2]) == (("a", 1), None)
    assert list(shelf.found) == [("a", 1), ("b", 2)]
    assert shelf.seen.value.elements() == (("b",),)


def test_deleting_and_sending_from_outside() -> None:
    shelf = Shelf()
    shelf.books.insert(("a", 1, 0), ("b", 2, 0))
    shelf.tick()
    shelf.books <- rows([("a", 1, 0)])
    shelf.mail <~ rows([("there", "hello")])
    stepped = shelf.tick()
    assert stepped.sent == (("mail", ("there", "hello")),)
    assert stepped.changes == {"books": Change((), (("a", 1, 0),))}


def _now(shelf: Any) -> None:
    shelf.books <= [("a", 1, 0)]


def _expression(shelf: Any) -> None:
    shelf.wanted <+ shelf.ordered.project("title")


@pytest.mark.parametrize(
    ("misuse", "error", "message", "remedy"),
    [
        (
            _now,
            ProgramError,
            "'<=' into 'books' from outside: the step that it means is over",
            "use <+ or insert(...): the rows are there in the next step",
        ),
        (
            lambda shelf: shelf.books.insert(("a", 1)),
            UsageError,
            "('a', 1) is put into 'books', which has 3 columns",
            "give a value for each of title, count, index",
        ),
        (
            _expression,
            UsageError,
            "an expression is put into 'wanted' from outside of rules",
            "give rows: insert((1, 2)), or write a rule in a method marked with @bloom",
        ),
        (
            lambda shelf: shelf.mail.insert(("there", "hello")),
            ProgramError,
            "rows are inserted into the channel 'mail'",
            "send them with <~",
        ),
    ],
)
def test_misuse_from_outside(misuse: Any, error: type[ClewError], message: str, remedy: str) -> None:
    with pytest.raises(error) as caught:
        misuse(Shelf())
    assert (caught.value.message, caught.value.remedy) == (message, remedy)


class Countdown(Node):
    left = scratch("n")

    def __init__(self, start: int = 3, **settings: Any) -> None:
        self.start = start
        super().__init__(**settings)
        self.stop = 0

    @bloom
    def count(self) -> None:
        self.left <+ self.left(lambda r: (r.n - 1,) if r.n > self.stop else None)


def test_until_quiet() -> None:
    countdown = Countdown(5, address="here")
    countdown.left.insert((countdown.start,))
    assert len(countdown.until_quiet()) == 6
    assert (list(countdown.left), countdown.ip_port) == ([(0,)], "here")
    assert countdown.until_quiet() == ()
    countdown.left.insert((countdown.start,))
    with pytest.raises(UsageError, match="Countdown is not quiet after 2 steps"):
        countdown.until_quiet(limit=2)


class Doubler(Module):
    given = interface.input("x")
    doubled = interface.output("x", "times")
    kept = table("x")

    @bloom
    def double(self) -> None:
        self.kept <= self.given
        self.doubled <= self.kept(lambda r: (r.x, len(self.kept)))


class Machinery(Node):
    first = imported(Doubler)
    second = imported(Doubler)
    most = scratch("x")

    @bloom
    def chain(self) -> None:
        self.second.given <= self.first.doubled(lambda r: (r.x * 2,))
        self.most <= self.second.doubled(lambda r: (len(self.first.kept),))


def test_imported_modules_have_rows_of_their_own() -> None:
    machinery = Machinery()
    machinery.first.given.insert((1,), (5,))
    machinery.tick()
    assert list(machinery.first.kept) == [(1,), (5,)]
    assert list(machinery.second.doubled) == [(2, 2), (10, 2)]
    assert list(machinery.most) == [(2,)]


def test_a_module_that_nothing_runs_holds_nothing() -> None:
    with pytest.raises(ProgramError, match="'kept' is read outside of rules, and nothing runs them"):
        len(Doubler().kept)


# -- several nodes -----------------------------------------------------------------------------------------------


class Flood(Node):
    """What one node knows all learn: messages are repeated with a timer."""

    peer = table("address")
    known = table("fact")
    news = channel("@to", "fact")
    timer = periodic(1)

    @bloom
    def spread(self) -> None:
        self.known <= self.news.payloads()
        self.news <~ (self.peer * self.known * self.timer).pairs(lambda p, k, t: (p.address, k.fact))


def flooded(seed: int, **network: float) -> RandomNetwork:
    nodes = {name: Flood(address=name) for name in ("a", "b", "c")}
    for name, node in nodes.items():
        node.peer.insert(*((other,) for other in nodes if other != name))
        node.known.insert((f"fact of {name}",))
    cluster = RandomNetwork(nodes, seed, **network)
    for _ in range(20):
        for name in nodes:
            cluster.fire(name, "timer")
        cluster.run(1)
    cluster.settle()
    return cluster


@pytest.mark.parametrize("network", [{}, {"loss": 0.5}, {"duplication": 0.5, "loss": 0.2}])
def test_a_cluster_carries_messages(network: dict[str, float]) -> None:
    for seed in range(5):
        cluster = flooded(seed, **network)
        assert cluster.refused == []
        assert [list(node.known) for node in cluster.nodes.values()] == [
            [("fact of a",), ("fact of b",), ("fact of c",)]
        ] * 3


def test_a_network_that_loses_everything() -> None:
    cluster = flooded(0, loss=1.0)
    assert [list(node.known) for node in cluster.nodes.values()] == [[(f"fact of {n}",)] for n in ("a", "b", "c")]


class Recorder(Node):
    """Keeps the order in which messages arrive."""

    say = channel("@to", "what")
    now = table(val=["step"])
    heard = table("step", "what")

    @bloom
    def note(self) -> None:
        self.now <- self.now
        self.now <+ self.now(lambda n: (n.step + 1,))
        self.heard <= (self.now * self.say).pairs(lambda n, s: (n.step, s.what))


def orders(seed: int) -> list[Any]:
    node = Recorder(address="only")
    node.now.insert((0,))
    node.say <~ rows([("only", k) for k in range(8)])
    node.say <~ rows([("nobody", 0)])
    cluster = RandomNetwork({"only": node}, seed)
    cluster.run(20)
    assert cluster.unreachable == [("say", ("nobody", 0))]
    return list(node.heard)


def test_the_seed_decides_the_order() -> None:
    assert orders(1) == orders(1)
    assert orders(1) != orders(2)
    assert sorted(what for _, what in orders(1)) == list(range(8))
