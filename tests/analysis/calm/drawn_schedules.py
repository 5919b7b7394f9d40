"""Runs of two nodes that carry their messages and rows late, in any order, and together or apart.

Time goes in rounds; in each of them a node makes a step or misses it.  What may be late is an *event*; a schedule
says how late each is, and what it does not mention is prompt.  At the end nothing is late any more: the nodes
step, and clocks go off, until nothing changes.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from analysis.calm.drawn_programs import NODES, Given
from clew.bloom import Bloom
from clew.bloom.ir.schema import Kind
from clew.bloom.runtime.endless import EndlessStepError
from clew.bloom.runtime.machine import Machine
from clew.bloom.runtime.storage import LatticeView

#: What can be late: ("given", node, collection, number), ("message", sender, channel, row, how often it was sent
#: before), ("timer", node, name, number) and ("step", node, round), which is missed if it is late.
Event = tuple[Any, ...]
Schedule = Mapping[Event, int]
#: Outcome of an output at a node.
Shown = Mapping[tuple[str, str], Any]
#: Nothing is late any more from this round on.
_LAST_LATE = 36
_MOST_ROUNDS = 110
#: Nor is a run whose traffic grows like an avalanche worth its time: those that end send some hundreds.
_MOST_SENT = 5_000
#: Clocks go off so often while things are late, and so often afterwards, each time when all is quiet.
_EARLY_TICKS = 3
_LATE_TICKS = 3
#: Where the sequence of steps is given, so many are made.
_STEPS = 50
#: Why a run says nothing: rounds, or the rules of a step, go on and on.
NO_END = "no end"


@dataclass
class Ran:
    """What came of a run.  ``spoiled``: why it says nothing (a key conflict, a failing function, no end)."""

    shown: dict[tuple[str, str], Any] = field(default_factory=dict)
    late: dict[Event, int] = field(default_factory=dict)
    steps: list[str] = field(default_factory=list)
    spoiled: str | None = None


class Lateness:
    """Asks a function how late an event is, once for each, and remembers the answers that are not 0."""

    def __init__(self, choose: Callable[[Event, int], int]) -> None:
        self._choose = choose
        self._asked: dict[Event, int] = {}

    def __call__(self, event: Event, now: int) -> int:
        if event not in self._asked:
            late = self._choose(event, now)
            self._asked[event] = min(late, max(0, _LAST_LATE - now))
        return self._asked[event]

    @property
    def late(self) -> dict[Event, int]:
        return {event: late for event, late in self._asked.items() if late}


class _Node:
    def __init__(self, name: str, node: Bloom) -> None:
        self.name = name
        node._machine = Machine(node.program, name)  # a new one: the same class runs many times
        self.machine = node._machine
        self.inbox: list[tuple[str, tuple[Any, ...]]] = []
        self.steps = 0
        self.quiet = False
        self.sent: tuple[tuple[str, tuple[Any, ...]], ...] = ()


class World:
    """One run."""

    def __init__(
        self, nodes: Mapping[str, Bloom], given: Sequence[Given], outputs: Sequence[str], late: Lateness
    ) -> None:
        self._late = late
        self._nodes = {name: _Node(name, nodes[name]) for name in NODES}
        program = next(iter(nodes.values())).program
        self._kinds = {c.name: c.kind for c in program.collections}
        self._location = {
            c.name: c.schema.columns.index(c.schema.location) for c in program.collections if c.schema.location
        }
        self._clocks = [name for name, kind in self._kinds.items() if kind is Kind.PERIODIC]
        self._outputs = outputs
        self._accumulated: dict[tuple[str, str], set[Any]] = {}
        self._due: dict[int, dict[tuple[str, str, tuple[Any, ...]], int]] = {}
        self._sent: Counter[tuple[str, str, tuple[Any, ...]]] = Counter()
        self._ticks: Counter[tuple[str, str]] = Counter()
        self._waiting: Counter[tuple[str, str, tuple[Any, ...]]] = Counter()  # at how many rounds it will arrive
        self._number = 0
        self.ran = Ran()
        for number, one in enumerate(given):
            fixed = one.into[0] in "fp"
            round_ = 0 if fixed else one.step + late(("given", one.node, one.into, number), one.step)
            self._at(round_, one.node, one.into, one.row)
        for node in NODES:
            for clock in self._clocks:
                for number in range(_EARLY_TICKS):
                    prompt = 1 + 2 * number
                    self._at(prompt + late(("timer", node, clock, number), prompt), node, clock, ())

    def _at(self, round_: int, node: str, into: str, row: tuple[Any, ...]) -> None:
        message = (node, into, row)
        due = self._due.setdefault(round_, {})
        if message not in due:
            self._waiting[message] += 1
        due[message] = due.get(message, 0) + 1

    # -- rounds --------------------------------------------------------------------------------------------------

    def until_quiet(self) -> Ran:
        before, ticks = None, 0
        last = _LATE_TICKS * len(self._clocks)
        for now in range(_MOST_ROUNDS):
            all_stepped = self._round(now)
            if self.ran.spoiled:
                return self.ran
            nothing_late = all_stepped and all(due == now + 1 for due in self._due)
            state = self._state() if nothing_late else None
            if state is not None and state == before:
                if ticks == last:
                    return self._ended()
                for node in NODES:
                    self._at(now + 1, node, self._clocks[ticks % len(self._clocks)], ())
                ticks, state = ticks + 1, None
            before = state
        self.ran.spoiled = NO_END
        return self.ran

    def steps_as_given(self) -> Ran:
        for now in range(_STEPS):
            self._round(now)
            if self.ran.spoiled:
                return self.ran
        return self._ended()

    def _round(self, now: int) -> bool:
        """Whether all nodes made their step."""
        for (name, into, row), times in self._due.pop(now, {}).items():
            self._waiting[name, into, row] -= 1
            self._nodes[name].inbox += [(into, row)] * times
        awake = [node for node in self._nodes.values() if not self._late(("step", node.name, now), now)]
        for node in awake:
            self._step(node, now)
        return len(awake) == len(self._nodes)

    def _step(self, node: _Node, now: int) -> None:
        if not node.inbox and node.quiet and not node.machine.pending:
            node.steps += 1  # as the step before: nothing came then either, and nothing was left for this one
        else:
            self._make_step(node, now)
        for channel, row in node.sent:
            self._send(node.name, channel, row, now)

    def _make_step(self, node: _Node, now: int) -> None:
        arrived = []
        for into, row in node.inbox:
            if self._kinds[into] is Kind.PERIODIC:
                self._ticks[node.name, into] += 1
                row = (self._ticks[node.name, into], float(now))
            if self._kinds[into].arrives:
                node.machine.deliver(into, row)
            else:
                node.machine.insert(into, [row])
            arrived.append(f"{into}{row!r}")
        node.inbox, node.quiet = [], not arrived
        try:
            stepped = node.machine.step()
        except EndlessStepError:
            self.ran.spoiled = NO_END
            return
        node.steps += 1
        if arrived:
            self.ran.steps.append(f"{node.name}, step {node.steps}: {', '.join(dict.fromkeys(arrived))}")
        if stepped.refused:
            self.ran.spoiled = str(stepped.refused[0])
            return
        node.sent = stepped.sent
        self._look(node, stepped.sent)

    def _send(self, sender: str, channel: str, row: tuple[Any, ...], now: int) -> None:
        to = row[self._location[channel]]
        before = self._sent[sender, channel, row]
        self._sent[sender, channel, row] += 1
        if to not in self._nodes:
            return
        message = (to, channel, row)
        if self._waiting[message] >= 2:
            return  # it arrives together with one of those
        self._number += 1
        if self._number > _MOST_SENT:
            self.ran.spoiled = NO_END
        self._at(now + 1 + self._late(("message", sender, channel, row, before), now + 1), *message)

    # -- what is seen --------------------------------------------------------------------------------------------

    def _look(self, node: _Node, sent: Iterable[tuple[str, tuple[Any, ...]]]) -> None:
        for output in self._outputs:
            kind = self._kinds[output]
            if kind is Kind.CHANNEL:
                seen: Iterable[Any] = [row for channel, row in sent if channel == output]
            elif kind.persists:
                continue
            else:
                seen = map(tuple, node.machine.rows(output))
            self._accumulated.setdefault((node.name, output), set()).update(seen)

    def _contents(self, node: _Node, name: str) -> Any:
        held = node.machine.rows(name)
        return repr(held.value) if isinstance(held, LatticeView) else tuple(map(tuple, held))

    def _state(self) -> Any:
        held = [self._contents(node, name) for node in self._nodes.values() for name in self._kinds]
        return (
            held,
            sorted({repr(m) for r in self._due.values() for m in r}),
            [len(rows) for rows in self._accumulated.values()],
        )

    def _ended(self) -> Ran:
        shown: dict[tuple[str, str], Any] = {key: frozenset(rows) for key, rows in self._accumulated.items()}
        for output in self._outputs:
            if self._kinds[output].persists:
                for name, node in self._nodes.items():
                    shown[name, output] = self._contents(node, output)
        self.ran.shown, self.ran.late = shown, self._late.late
        return self.ran


# -- schedules ---------------------------------------------------------------------------------------------------


def follow(schedule: Schedule) -> Lateness:
    return Lateness(lambda event, now: schedule.get(event, 0))


def drawn_lateness(seed: int, *, steps_given: bool) -> Lateness:
    """Some of the numbers are extreme schedules, the others random.  0: nothing is late."""
    chance = random.Random(seed)
    first, more = _OF_MESSAGES if steps_given else _OF_ALL
    choose = (first[seed] if seed < len(first) else chance.choice(more))(chance)
    if not steps_given:
        return Lateness(choose)
    return Lateness(lambda event, now: choose(event, now) if _is_message(event) else 0)


def _is_message(event: Event) -> bool:
    """Also one from outside: a row that is given to a channel."""
    return event[0] == "message" or (event[0] == "given" and event[2][0] in "ce")


_Choose = Callable[[Event, int], int]


def _prompt(chance: random.Random) -> _Choose:
    return lambda event, now: 0


def _one_by_one(chance: random.Random) -> _Choose:
    """Everything has a round of its own."""
    gap = chance.choice((1, 1, 2, 3))
    taken: set[int] = set()

    def choose(event: Event, now: int) -> int:
        if event[0] == "step":
            return 0
        wait = 0 if event[0] == "message" else chance.randint(0, 12)
        while (now + wait) // gap in taken and now + wait < _LAST_LATE:
            wait += 1
        taken.add((now + wait) // gap)
        return wait

    return choose


def _backwards(chance: random.Random) -> _Choose:
    """What would come first comes last."""
    count = [0]

    def choose(event: Event, now: int) -> int:
        if event[0] in ("step", "timer"):
            return 0
        count[0] += 1
        return max(0, 18 - 2 * count[0])

    return choose


def _late_start(chance: random.Random) -> _Choose:
    """Empty steps first, then all rows at once."""
    return lambda event, now: max(0, 5 - now) if event[0] == "given" else 0


def _at_once(chance: random.Random) -> _Choose:
    """All messages wait for one moment, and after that for another."""
    def choose(event: Event, now: int) -> int:
        if event[0] in ("step", "timer"):
            return 0
        return next((moment - now for moment in (9, 18, 27) if moment >= now), 0)

    return choose


def _spread(chance: random.Random) -> _Choose:
    most = chance.choice((1, 2, 4, 9, 16))
    missed = chance.choice((0.0, 0.0, 0.1, 0.4))

    def choose(event: Event, now: int) -> int:
        if event[0] == "step":
            return int(chance.random() < missed)
        return chance.randint(0, most)

    return choose


def _by_kind(chance: random.Random) -> _Choose:
    """Some collections, or the rows with some number, are late."""
    wait = chance.choice((2, 5, 11))
    slow: dict[Any, int] = {}

    def choose(event: Event, now: int) -> int:
        if event[0] == "step":
            return 0
        group = event[:3]
        return slow.setdefault(group, chance.choice((0, 0, 1, wait, wait)))

    return choose


def _by_place(chance: random.Random) -> _Choose:
    """A node sleeps for a while: what arrives meanwhile is there together."""
    asleep = {node: (start := chance.randint(0, 6), start + chance.randint(2, 9)) for node in NODES}
    most = chance.choice((0, 0, 3))

    def choose(event: Event, now: int) -> int:
        if event[0] == "step":
            first, last = asleep[event[1]]
            return int(first <= now < last)
        return chance.randint(0, most)

    return choose


_Styles = tuple[Callable[[random.Random], _Choose], ...]
#: The first ones, and those of which the others are drawn.
_OF_ALL: tuple[_Styles, _Styles] = (
    (_prompt, _one_by_one, _backwards, _late_start, _by_kind, _at_once, _by_place),
    (_spread, _spread, _by_kind, _by_place, _one_by_one),
)
_OF_MESSAGES: tuple[_Styles, _Styles] = (
    (_prompt, _by_kind, _at_once, _one_by_one, _backwards),
    (_spread, _by_kind, _one_by_one),
)
