"""Which components can be sealed, what has to wait, and for which the refusal names the rule."""

from __future__ import annotations

import random
from typing import Any

import pytest

from clew.analysis.blazes.extraction.declared import annotated
from clew.analysis.blazes.extraction.system import extract
from clew.bloom import Bloom, agg, bloom, interface, lset, periodic, scratch, table
from clew.coordination import synthesized
from clew.coordination.components import ClassProgram
from clew.coordination.plans import SealedInput
from clew.coordination.seal_planning import seal_component
from clew.errors import UsageError
from coordination.schedules import Partitioned, play
from coordination.stored_orders import StoredOrders


class BothSealed(Bloom):
    """The same without tables: what is not sealed would be gone; and the columns have other names."""

    orders = interface.input("number", "what")
    cancels = interface.input("who", "order")
    ship = interface.output("number", "what")
    blazes = annotated(seals={"orders": ["number"], "cancels": ["order"]})

    @bloom
    def decide(self) -> None:
        self.ship <= self.orders.notin(self.cancels, number="order")


class Pipeline(Bloom):
    """Rows are counted three steps after they came."""

    put = interface.input("key", "value")
    get = interface.input("reqid", "key")
    out = interface.output("reqid", "count")
    mid = scratch("key", "value")
    log = table("key", "value")
    blazes = annotated(seals={"put": ["key"]})

    @bloom
    def count(self) -> None:
        self.mid <+ self.put
        self.log <+ self.mid
        self.temp.counted <= self.log.group(["key"], n=agg.count())
        self.out <= (self.get * self.temp.counted).pairs(lambda g, c: (g.reqid, c.n), key="key")


class Union(Bloom):
    """Counts what comes from either side; nothing is declared, so that the analysis recommends two seals."""

    left = interface.input("key", "value")
    right = interface.input("key", "value")
    out = interface.output("key", "count")
    both = table("key", "value")

    @bloom
    def count(self) -> None:
        self.both <= self.left
        self.both <= self.right
        self.out <= self.both.group(["key"], n=agg.count())


ONE_ORDER = Partitioned({"cancels": [(1, 8)]}, {"cancels": 0}, 1)
CASES: dict[str, tuple[Any, Partitioned, list[Any], str, set[Any]]] = {
    "what meets a sealed partition waits with it": (
        StoredOrders,
        ONE_ORDER,
        [("orders", (1, 9)), ("orders", (2, 9)), ("cancels_punctuation", ((2,), "p0", 0))],
        "ship",
        {(2, 9)},
    ),
    "two inputs have their partitions in common": (
        BothSealed,
        Partitioned({"orders": [(1, 9), (2, 9)], "cancels": [(8, 1)]}, {"orders": 0, "cancels": 1}, 1),
        [],
        "ship",
        {(2, 9)},
    ),
    "rows that take several steps": (
        Pipeline,
        Partitioned({"put": [(1, 7), (1, 8)]}, {"put": 0}, 1),
        [("get", (5, 1))],
        "out",
        {(5, 2)},
    ),
    "two seals that are recommended": (
        Union,
        Partitioned({"left": [(1, 7), (1, 8)], "right": [(1, 9)]}, {"left": 0, "right": 0}, 1),
        [],
        "out",
        {(1, 3)},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_one_outcome_and_which(case: str) -> None:
    cls, sealed, others, out, expected = CASES[case]
    made: Any = synthesized(cls, "seal", independent=True)
    for seed in range(25):
        outcome = play(
            made("n"), [], [*sealed.events(), *others], random.Random(seed), outputs=[out], tables=[]
        )
        assert outcome.shown == {(out, row) for row in expected}, seed


def test_a_seal_is_what_makes_the_difference() -> None:
    """The driver is able to find several outcomes: those of the components as they are."""
    for case in CASES:
        cls, sealed, others, out, _ = CASES[case]
        events = [(name, row) for name, row in [*sealed.events(), *others] if "_" not in name]
        runs = [play(cls("n"), [], events, random.Random(seed), outputs=[out], tables=[]) for seed in range(25)]
        assert len({run.shown for run in runs}) > 1, case


# -- refusals ----------------------------------------------------------------------------------------------------


class _Sealed(Bloom):
    """``rules`` of a subclass count or compare what is put, sealed on the key."""

    put = interface.input("key", "value")
    get = interface.input("reqid", "value")
    out = interface.output("x", "y")
    log = table("key", "value")
    other = table("key", "value")
    blazes = annotated(seals={"put": ["key"]})


class AcrossPartitions(_Sealed):
    @bloom
    def rules(self) -> None:
        self.log <= self.put
        self.temp.fewest <= self.log.group(["key"], n=agg.count()).argmin([], "n")
        self.out <= (self.get * self.temp.fewest).pairs(lambda g, f: (g.reqid, f.key))


class FeedsItself(_Sealed):
    @bloom
    def rules(self) -> None:
        self.log <= self.put
        self.log <+ self.log(lambda r: (r.key, r.value + 1))
        self.out <= self.log.group(["key"], n=agg.count())


class SwapsForEver(_Sealed):
    flag = scratch("key", "value")

    @bloom
    def rules(self) -> None:
        self.log <= self.put
        self.flag <+ self.log.notin(self.flag, key="key")
        self.out <= self.flag.group(["key"], n=agg.count())


class OneKeyForAll(_Sealed):
    last = table("value", val=["key"])

    @bloom
    def rules(self) -> None:
        self.log <= self.put
        self.last <= self.log(lambda r: (r.value, r.key))
        self.temp.counted <= self.log.group(["key"], n=agg.count())
        self.out <= (self.last * self.temp.counted).pairs(lambda a, c: (a.value, c.n), key="key")


class StoresRequests(_Sealed):
    asked = table("reqid", "value")

    @bloom
    def rules(self) -> None:
        self.log <= self.put
        self.asked <= self.get
        self.temp.counted <= self.log.group(["key"], n=agg.count())
        self.out <= (self.asked * self.temp.counted).pairs(lambda a, c: (a.reqid, c.n))


class DeletesOthers(_Sealed):
    @bloom
    def rules(self) -> None:
        self.log <= self.put
        self.log <- (self.log * self.put).lefts(value="value")
        self.out <= self.log.group(["key"], n=agg.count())


class Unseen(_Sealed):
    @bloom
    def rules(self) -> None:
        self.log <= self.put
        self.temp.counted <= self.log.group(["key"], n=agg.count())
        self.out <= self.temp.counted(lambda c: (c.key, str(c.n)))


class OnTime(_Sealed):
    timer = periodic(1)

    @bloom
    def rules(self) -> None:
        self.log <= self.put
        self.temp.counted <= self.log.group(["key"], n=agg.count())
        self.out <= (self.timer * self.temp.counted).pairs(lambda t, c: (c.key, c.n))


class Merged(_Sealed):
    seen = lset()

    @bloom
    def rules(self) -> None:
        self.log <= self.put
        self.seen <= self.put(lambda r: (r.value,))
        self.out <= self.log.group(["key"], n=agg.count())


@pytest.mark.parametrize(
    ("cls", "reason"),
    [
        (AcrossPartitions, "fewest <= ... (AcrossPartitions.rules) compares or counts rows of different"),
        (FeedsItself, "log <+ ... (FeedsItself.rules) feeds itself from step to step"),
        (SwapsForEver, "flag <+ ... (SwapsForEver.rules) feeds itself from step to step"),
        (OneKeyForAll, "last <= ... (OneKeyForAll.rules) may put rows of different partitions under one key"),
        (StoresRequests, "asked <= ... (StoresRequests.rules) stores requests that are made again"),
        (DeletesOthers, "log <- ... (DeletesOthers.rules) joins rows of different partitions"),
        (Unseen, "out <= ... (Unseen.rules) has a function that is not seen through"),
        (OnTime, "out <= ... (OnTime.rules) joins rows that come at any time"),
        (Merged, "seen <= ... (Merged.rules) merges rows into a lattice"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_cannot_be_sealed(cls: Any, reason: str) -> None:
    (component,) = extract(cls).dataflow.components
    with pytest.raises(UsageError) as refusal:
        seal_component(ClassProgram.read(cls), component, [SealedInput("put", ("key",))])
    assert refusal.value.message.startswith(f"{cls.__name__}: {reason}")
    assert refusal.value.position is not None
    assert refusal.value.position.file == __file__
