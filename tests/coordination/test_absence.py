"""What one input has and another has not: who is sealed, and who waits for whose partition.

A seal on what holds rows back is enough where the others are stored and name their partition: each waits for
it.  On drawn components (``drawn_absence``), by a driver that knows nothing of the analysis.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import permutations, product
from typing import Any

import pytest

from clew.analysis.blazes import analyse
from clew.analysis.blazes.extraction.declared import annotated
from clew.analysis.blazes.extraction.system import extract
from clew.bloom import Bloom, agg, bloom, interface, rows, table
from clew.coordination import synthesized
from clew.errors import UsageError
from coordination.drawn_absence import COLUMNS, Absence, Row, draw
from coordination.schedules import Given, Outcome, Partitioned, again, play
from coordination.stored_orders import Orders, StoredOrders
from long_mode import first_of

PARTS = 4
_SCHEDULES = 6


class Slowly(Bloom):
    """The same, in several steps, with other names, and what is decided is stored."""

    orders = interface.input("number", "what")
    cancels = interface.input("order", "who")
    ship = interface.output("number", "what")
    ordered = table("number", "what")
    cancelled = table("order", "who")
    shipped = table("number", "what")
    blazes = annotated(seals={"cancels": ["order"]})

    @bloom
    def decide(self) -> None:
        self.ordered <+ self.orders
        self.cancelled <+ self.cancels
        self.shipped <+ self.ordered.notin(self.cancelled, number="order")
        self.ship <= self.shipped


class TwiceCancelled(Orders):
    """Counts first, for which the partition must be complete, too."""

    @bloom
    def decide(self) -> None:
        self.ordered <= self.orders
        self.cancelled <= self.cancels
        often = self.cancelled.group(["order"], n=agg.count()).filter(lambda c: c.n > 1)
        self.ship <= self.ordered.notin(often, order="order")


class Beside(Orders):
    """Orders meet nothing that cancels can change, so they need not wait at all."""

    @bloom
    def decide(self) -> None:
        self.ordered <= self.orders
        self.cancelled <= self.cancels
        self.ship <= self.cancelled.group(["order"], n=agg.count())
        self.ship <= self.ordered


# -- all orders and batchings ------------------------------------------------------------------------------------


def _batchings(events: Sequence[Given]) -> Iterator[list[list[Given]]]:
    """Yield every order of some events in every division into steps."""
    for order in permutations(events):
        for cuts in product((False, True), repeat=len(order) - 1):
            batches = [[order[0]]]
            for event, cut in zip(order[1:], cuts, strict=True):
                batches = [*batches, [event]] if cut else [*batches[:-1], [*batches[-1], event]]
            yield batches


@pytest.mark.parametrize(
    ("cls", "cancels", "expected"),
    [
        (StoredOrders, [(1, 8)], {(2, 9)}),
        (Slowly, [(1, 8)], {(2, 9)}),
        (TwiceCancelled, [(1, 8)], {(1, 9), (2, 9)}),
        (Beside, [(1, 8)], {(1, 9), (2, 9), (1, 1)}),
    ],
)
def test_every_order_and_batching(cls: Any, cancels: list[Row], expected: set[Row]) -> None:
    made: Any = synthesized(cls, "seal", independent=True)
    ends = [("cancels_punctuation", ((order,), "p", sum(c[0] == order for c in cancels))) for order in (1, 2)]
    sent = [("orders", (1, 9)), ("orders", (2, 9)), *(("cancels", row) for row in cancels)]
    first = made("n")
    for batches in _batchings([*sent, *ends[:1]]):
        node, shown = again(first), set[Row]()
        node.cancels_punctuation.insert(ends[1][1])
        for batch in batches:
            for name, row in batch:
                getattr(node, name).insert(row)
            node.tick()
            shown.update(map(tuple, node.ship))
        while node.machine.pending:
            node.tick()
            shown.update(map(tuple, node.ship))
        assert shown == expected, batches


def test_who_waits() -> None:
    def held(cls: Any) -> tuple[str, ...]:
        made = extract(synthesized(cls, "seal", independent=True))
        assert made.notices == ()
        assert not analyse(made.dataflow).worst.bad
        return made.coordination

    sealed = "cancels is sealed on order"
    assert held(StoredOrders) == (sealed, "orders waits for what is sealed")
    assert held(Slowly) == (sealed, "orders waits for what is sealed")
    assert held(TwiceCancelled) == (sealed, "orders waits for what is sealed")
    assert held(Beside) == (sealed,)


# -- where one seal is not enough --------------------------------------------------------------------------------


class OtherSide(StoredOrders):
    """It is not the orders that hold anything back."""

    blazes = annotated(seals={"orders": ["order"]})


class OtherColumn(StoredOrders):
    """Who cancels is not what is compared."""

    blazes = annotated(seals={"cancels": ["who"]})


class PassingCancels(Orders):
    """Cancels are gone in the step after the one in which they are let in; the order is there still."""

    @bloom
    def decide(self) -> None:
        self.ordered <= self.orders
        self.ship <= self.ordered.notin(self.cancels, order="order")


class UnnamedOrders(Orders):
    """An order that does not say which cancels it is about cannot wait for them."""

    named = table("what", "order")

    @bloom
    def decide(self) -> None:
        self.ordered <= self.orders
        self.cancelled <= self.cancels
        asked = (self.ordered * self.named).pairs(lambda o, n: (n.order, o.what), what="what")
        self.ship <= asked.rename("order", "what").notin(self.cancelled, order="order")


class BothSides(Orders):
    """Orders hold back others as well."""

    @bloom
    def decide(self) -> None:
        self.ordered <= self.orders
        self.cancelled <= self.cancels
        self.cancelled <= self.orders(lambda o: (o.what, o.order))
        self.ship <= self.ordered.notin(self.cancelled, order="order")


class CountedOrders(Orders):
    """What is shipped is counted, and orders come at any time."""

    @bloom
    def decide(self) -> None:
        self.ordered <= self.orders
        self.cancelled <= self.cancels
        self.ship <= self.ordered.notin(self.cancelled, order="order").group(["order"], n=agg.count())


class Written(Orders):
    """Orders that are written in the program are shipped before any cancel comes."""

    @bloom
    def decide(self) -> None:
        self.cancelled <= self.cancels
        self.ship <= rows([(1, 9)]).rename("order", "what").notin(self.cancelled, order="order")


class GivenBefore(Orders):
    """Likewise those in a table that is filled before."""

    @bloom
    def decide(self) -> None:
        self.cancelled <= self.cancels
        self.ship <= self.ordered.notin(self.cancelled, order="order")


class CountedWithWritten(Orders):
    """A count that begins with a row of the program is shown before the others are there."""

    @bloom
    def decide(self) -> None:
        self.cancelled <= self.cancels
        self.cancelled <= rows([(1, 9)])
        self.ship <= self.cancelled.group(["order"], n=agg.count())


@pytest.mark.parametrize(
    "cls",
    [
        OtherSide,
        OtherColumn,
        PassingCancels,
        UnnamedOrders,
        BothSides,
        CountedOrders,
        Written,
        GivenBefore,
        CountedWithWritten,
    ],
)
def test_one_seal_is_refused(cls: Any) -> None:
    with pytest.raises(UsageError, match="there is still Run"):
        synthesized(cls, "seal", independent=True)


# -- drawn components --------------------------------------------------------------------------------------------

#: What is sealed, and what has to be among the components for which that is so.
SEALED = {"b": ("sealed", "refused", "plain", "shown"), "ab": ("sealed", "plain", "shown"), "a": ("refused",)}


def _rows(chance: random.Random) -> list[Row]:
    return sorted({(chance.randint(1, 3), chance.randint(1, 3)) for _ in range(chance.randint(1, 4))})


def _outcomes(drawn: Absence, made: Any, sealed: str, chance: random.Random) -> tuple[set[Outcome], set[Row]]:
    keys = dict(zip("ab", drawn.compared, strict=True))
    given = {"a": _rows(chance), "b": _rows(chance)}
    at = {name: COLUMNS.index(keys[name]) for name in sealed}
    events = Partitioned({name: given[name] for name in sealed}, at, 1).events()
    # Whatever is asked for is ended, also where there is nothing.
    ended = {event[1][0] for event in events if event[0] == f"{sealed[0]}_punctuation"}
    for name in sealed:
        events += [(f"{name}_punctuation", ((n,), "p0", 0)) for n in (1, 2, 3) if (n,) not in ended]
    events += [(name, row) for name in "ab" if name not in sealed for row in given[name]]
    events += [("q", row) for row in _rows(chance)] if drawn.requests else []
    node = made("n")
    found = {
        play(again(node), [], events, chance, outputs=["out"], tables=[]) for _ in range(_SCHEDULES)
    }
    return found, drawn.expected(given["a"], given["b"])


@pytest.mark.parametrize("part", first_of(range(PARTS), 1))
@pytest.mark.parametrize("sealed", SEALED)
def test_drawn_components_have_one_outcome(sealed: str, part: int, thorough: bool) -> None:
    count: Counter[str] = Counter()
    programs = 20_000 if thorough else 240
    for seed in range(part, programs, PARTS):
        chance = random.Random(seed)
        drawn = draw(seed)
        try:
            made = synthesized(drawn.module(sealed), "seal", independent=True)
        except UsageError:
            count["refused"] += 1
            continue
        coordinated = extract(made)
        assert not coordinated.notices, (seed, drawn.text)
        assert coordinated.coordination, (seed, drawn.text)
        found, expected = _outcomes(drawn, made, sealed, chance)
        assert len(found) == 1, (seed, drawn.text, found)
        (one,) = found
        count["sealed"] += 1
        count["shown"] += bool(one.shown)
        if drawn.plain:
            assert {row for _, row in one.shown} == expected, (seed, drawn.text)
            count["plain"] += 1
    assert min(count[kind] for kind in SEALED[sealed]) >= 3, count
    assert sealed != "a" or count["sealed"] == 0, count
