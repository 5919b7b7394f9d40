"""A consistent label is a promise: random programs in random orders, and the programs that once broke it."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from analysis.calm.analysis import labels, of_class, of_text
from analysis.calm.generated import NODES, Generated, generated
from clew.analysis.calm.trying.orders import try_orders
from clew.analysis.calm.trying.runs import End, EndlessError, Event, Firing, Given, Message, Run, Step, run
from clew.analysis.calm.trying.workloads import Workload, workload
from clew.bloom import Bloom, agg, bloom, channel, interface, periodic, rows, scratch, table
from clew.errors import ProgramError
from clew.frontends.bloom import open_bloom

PROGRAMS, THOROUGH_PROGRAMS = 60, 1_500
ORDERS = 5
#: In a settled program, messages and timers take at least so many rounds.
_SETTLING = 8
_SPREADS = (3, 8, 14)
_MOST_ROUNDS = 300


class _Late:
    """A random order; the first messages and timers come after ``settling`` rounds, and no step before is late."""

    def __init__(self, seed: int, settling: int) -> None:
        self._chance = random.Random(seed)
        self._settling = settling
        self._most = self._chance.choice(_SPREADS) if seed else 0
        self._steps = self._chance.choice((0, 0, 1, 3)) if seed else 0

    def __call__(self, event: Event) -> int:
        match event:
            case Message():
                return self._settling + self._chance.randint(0, self._most)
            case Firing():
                first = self._settling if event.number == 1 else 0
                return first + self._chance.randint(0, self._most)
            case Step():
                return 0 if event.number <= self._settling else self._chance.randint(0, self._steps)
            case Given() | End():
                return self._chance.randint(0, self._steps)


def _loaded(program: Generated, folder: Path) -> type[Any]:
    file = folder / "generated_program.py"
    file.write_text(program.text, encoding="utf-8")
    return open_bloom(f"{file}:Generated").cls


def _runs(program: Generated, module: type[Any], watched: list[str]) -> list[Run]:
    """In several orders, the prompt one first; none if a function fails or the program goes on for ever."""
    given = Workload(dict.fromkeys(NODES, module), program.inputs)
    settling = _SETTLING if program.settled else 0
    try:
        found = [run(given, _Late(k, settling), watched, most_rounds=_MOST_ROUNDS) for k in range(ORDERS + 1)]
    except (EndlessError, ProgramError):
        return []
    return [] if found[0].refused else [one for one in found if not one.refused]


def test_what_is_labelled_consistent_is_the_same_in_all_orders(tmp_path: Path, thorough: bool) -> None:
    broken: list[tuple[int, str]] = []
    tried = 0
    programs = THOROUGH_PROGRAMS if thorough else PROGRAMS
    for seed in range(programs):
        program = generated(seed)
        module = _loaded(program, tmp_path)
        consistent = [output.name for output in of_class(module).outputs if output.label.consistent]
        runs = _runs(program, module, consistent) if consistent else []
        tried += len(runs) > 1
        broken += [(seed, program.text)] if any(one.shown != runs[0].shown for one in runs) else []
    assert broken == []
    assert tried > programs // 3


def test_a_seed_means_one_program() -> None:
    assert generated(7) == generated(7)
    assert len({generated(seed).text for seed in range(PROGRAMS)}) == PROGRAMS


# -- programs that were labelled consistent and are not ----------------------------------------------------------


class Arriving(Bloom):
    first = channel("@node", "k", "v")
    second = channel("@node", "k", "v")
    fixed = table("k", "v")
    one = table("k", "v")
    other = table("k", "v")
    known = table("k", "v")
    passing = scratch("k", "v")
    out = interface.output("k")

    @bloom
    def keep(self) -> None:
        self.one <= self.first.payloads()
        self.other <= self.second.payloads()


class CountsWhatComesTogether(Arriving):
    """The rows of a channel are there for a step: how many of them is a matter of chance."""

    @bloom
    def rules(self) -> None:
        self.out <= self.first.group(["k"], n=agg.count())(lambda g: (g.k,) if g.n >= 2 else None)


class CountsWhatPasses(Arriving):
    @bloom
    def rules(self) -> None:
        self.passing <= self.first.payloads()
        self.temp.counted <= self.passing.group(["k"], n=agg.count())
        self.out <= self.temp.counted(lambda g: (g.k,) if g.n >= 2 else None)


class LargeAndSmall(Arriving):
    """Each of the two needs one row, and both need two in the same step."""

    @bloom
    def rules(self) -> None:
        self.out <= self.first.group(["k"], most=agg.max("v"), least=agg.min("v"))(
            lambda g: (g.k,) if g.most > 1 and g.least < 2 else None
        )


class FirstTimeJoined(Arriving):
    """What is let through once is not there when the other row comes later."""

    @bloom
    def rules(self) -> None:
        self.passing <= self.one.notin(self.known)
        self.known <+ self.passing
        self.out <= (self.passing * self.other).lefts(k="k").project("k")


class DeletedAtOnce(Arriving):
    """A table that loses what it gets is a scratch."""

    @bloom
    def rules(self) -> None:
        self.one <- rows([(1, 1)])
        self.out <= (self.one * self.other).lefts(k="k", v="v").project("k")


class DeletedByFixedRows(Arriving):
    @bloom
    def rules(self) -> None:
        self.one <- self.fixed
        self.out <= (self.one * self.other).lefts(k="k", v="v").project("k")


class DeletedAndCounted(Arriving):
    @bloom
    def rules(self) -> None:
        self.one <- rows([(1, 1), (1, 2)])
        self.out <= self.one.group(["k"], n=agg.count())(lambda g: (g.k,) if g.n >= 2 else None)


class ComesAndGoes(Arriving):
    """Nothing enters the cycle, and still it is never at rest."""

    @bloom
    def rules(self) -> None:
        self.known <+ self.fixed.notin(self.known)
        self.known <- self.known
        self.out <= (self.known * self.first).lefts(k="k").project("k")


class ReduceLooksInto(Arriving):
    @bloom
    def rules(self) -> None:
        self.out <= self.fixed.reduce([], lambda memo, row: [(len(self.one),)], ["k"])


class TicksWhenItComes(Arriving):
    """A clock ticks again, and the row of a channel is gone by then."""

    timer = periodic(1)

    @bloom
    def rules(self) -> None:
        self.out <= (self.first * self.timer).lefts().project("k")


_ROWS: dict[str, dict[str, list[tuple[Any, ...]]]] = {
    "a": {"first": [("a", 1, 1), ("a", 1, 2)], "second": [("a", 1, 1)], "fixed": [(1, 1)]}
}


@pytest.mark.parametrize(
    "program",
    [
        CountsWhatComesTogether,
        CountsWhatPasses,
        LargeAndSmall,
        FirstTimeJoined,
        DeletedAtOnce,
        DeletedByFixedRows,
        DeletedAndCounted,
        ComesAndGoes,
        ReduceLooksInto,
        TicksWhenItComes,
    ],
)
def test_order_matters_and_is_said_to(program: Any) -> None:
    assert labels(of_class(program))["out"] == "D"
    assert try_orders(workload({"a": program}, _ROWS), ["out"]).pair is not None


class AsManyValues(Bloom):
    """There are fewer roles than members, so that more can answer than are counted."""

    members = table("peer", "role")
    begin = interface.input("number")
    asked = channel("@peer", "caller", "number")
    here = channel("@caller", "peer", "number")
    present = table("number", "peer")
    member_cnt = scratch(val=["cnt"])
    present_cnt = scratch("number", val=["cnt"])
    passed = interface.output("number")

    @bloom
    def rules(self) -> None:
        self.asked <~ (self.begin * self.members).pairs(lambda b, m: (m.peer, self.ip_port, b.number))
        self.here <~ self.asked(lambda c: (c.caller, c.peer, c.number))
        self.present <= self.here(lambda h: (h.number, h.peer))
        self.member_cnt <= self.members.group([], agg.count("role"))
        self.present_cnt <= self.present.group(["number"], agg.count())
        self.passed <= (self.present_cnt * self.member_cnt).lefts(cnt="cnt").project("number")


def test_a_number_of_values_is_no_number_of_rows() -> None:
    assert labels(of_class(AsManyValues))["passed"] == "D"
    members: list[tuple[Any, ...]] = [("a", "x"), ("b", "x")]
    given = {"a": {"members": members, "begin": [(1,)]}}
    tried = try_orders(workload(dict.fromkeys(NODES, AsManyValues), given), ["passed"])
    assert tried.pair is not None


def test_a_count_of_events_in_dedalus() -> None:
    text = """
        {kept}
        sent(To, Item, Voter)@async :- ballot(From, To, Item, Voter);
        counted(Node, Item, count<Voter>) :- {counted}(Node, Item, Voter);
        won(Node, Item)@next :- counted(Node, Item, N), N > 1;
        won(Node, Item)@next :- won(Node, Item);
        ballot("a", "a", "x", "b")@1;
        ballot("a", "a", "x", "c")@2;
    """
    keeping = "votes(N, I, V) :- sent(N, I, V); votes(N, I, V)@next :- votes(N, I, V);"
    assert labels(of_text(text.format(kept="", counted="sent")))["won"] == "D"
    assert labels(of_text(text.format(kept=keeping, counted="votes")))["won"] == "A"


# -- one row is enough, and the analysis does not know it --------------------------------------------------------


class OneIsEnough(Arriving):
    @bloom
    def rules(self) -> None:
        self.out <= self.first.group(["k"], most=agg.max("v"))(lambda g: (g.k,) if g.most >= 2 else None)


class KeysOfWhatComes(Arriving):
    @bloom
    def rules(self) -> None:
        self.out <= self.first.group(["k"], n=agg.count()).project("k")


@pytest.mark.parametrize("program", [OneIsEnough, KeysOfWhatComes])
def test_aggregates_over_rows_of_one_step_are_order_sensitive(program: Any) -> None:
    """No example needs more: whatever is aggregated is stored first."""
    assert labels(of_class(program))["out"] == "D"
    assert try_orders(workload({"a": program}, _ROWS), ["out"], orders=50).pair is None
