"""Clusters for the tests of minimization: generated ones, and small ones made by hand.

A generated node is a table: what it does depends on a small state and on what happens to it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from typing import Any, NamedTuple

from hypothesis import strategies as st

from clew.errors import UsageError
from clew.minimization.search import TrialResult
from clew.minimization.trial import Match, Schedule, Target, attempt, complete_recorded, split_steps
from clew.simulation import (
    Broken,
    CodeBlock,
    Context,
    External,
    Heal,
    Network,
    Node,
    Partition,
    Restart,
    Scenario,
    Send,
    Start,
    Stop,
    WaitQuiescence,
    World,
)
from clew.simulation.execution.steps import Act, Do, Step
from clew.simulation.execution.trace import execute
from clew.simulation.fuzzing.random_run import random_run
from clew.simulation.loading import as_loaded
from clew.simulation.recordings.recording import Recording, make_recording
from clew.simulation.scenario import Invariant
from clew.simulation.user_code import ask

STATES = 4
LETTERS = 3
NAMES = ("a", "b", "c")


@dataclass(frozen=True)
class Note:
    """``hops`` is how many more messages may follow from it."""

    letter: int
    hops: int


@dataclass(frozen=True)
class Letters:
    """From outside: several letters at once."""

    letters: list[int]
    hops: int


@dataclass(frozen=True)
class Reaction:
    """``sends``: targets and letters.  ``timer``: set it (1) or cancel it (-1).  ``raises``: where, 0 nowhere."""

    state: int
    sends: tuple[tuple[str, int], ...] = ()
    timer: int = 0
    raises: int = 0


#: What a node does, by its state and what happens to it: a letter, "timer" or "start".
Table = Mapping[tuple[int, int | str], Reaction]


class TableNode(Node):
    def __init__(self, table: Table) -> None:
        self.state = 0
        self.table = table

    def on_start(self, ctx: Context) -> None:
        lives = ctx.durable["lives"] = ctx.durable.get("lives", 0) + 1
        self.state = (lives - 1) % STATES
        self._react(ctx, "start", 1)

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        for letter in message.letters if isinstance(message, Letters) else [message.letter]:
            self._react(ctx, letter, message.hops)

    def on_timer(self, ctx: Context, name: str) -> None:
        self._react(ctx, "timer", 1)

    def _react(self, ctx: Context, what: int | str, hops: int) -> None:
        reaction = self.table[self.state, what]
        self.state = reaction.state
        if hops:
            for target, letter in reaction.sends:
                ctx.send(target, Note(letter, hops - 1))
        if reaction.timer > 0:
            ctx.set_timer()
        elif reaction.timer < 0:
            ctx.cancel_timer()
        if reaction.raises == 1:
            self._here()
        elif reaction.raises == 2:
            self._there()

    def _here(self) -> None:
        raise ValueError("here")

    def _there(self) -> None:
        raise ValueError("there")


def generated(seed: int) -> Scenario:
    """A cluster with everything that can happen to one."""
    random = Random(seed)
    names = NAMES[: random.randint(2, 3)]
    chatty, timed, raising = random.choice((0.3, 0.6)), random.choice((0.0, 0.2)), random.choice((0.0, 0.04))
    tables = {name: _table(random, names, chatty, timed, raising) for name in names}
    blocks = tuple(CodeBlock(f"poke {name}", _poke(name)) for name in names)
    running = [name for name in names if random.random() < 0.5]
    return Scenario(
        nodes={name: _maker(tables[name]) for name in names},
        running=running,
        before=[*(Start(name) for name in names if name not in running), WaitQuiescence()],
        events=[(3, _sending(names)), (1, _troubling(names, blocks))],
        count=10,
        invariants=_invariants(random, names),
        network=random.choice(list(Network)),
        loss=random.choice((0, 0.15)),
        duplication=random.choice((0, 0.15)),
        timers=0.2,
        steps=50,
        code=blocks,
        fingerprint=random.choice((None, repr)),
        check_every=random.choice((1, 1, 5)),
    )


def _maker(table: Table) -> Callable[[], Node]:
    return lambda: TableNode(table)


def _table(random: Random, names: Sequence[str], chatty: float, timed: float, raising: float) -> Table:
    table: dict[tuple[int, int | str], Reaction] = {}
    for state in range(STATES):
        for what in (*range(LETTERS), "timer", "start"):
            sends = tuple(
                (random.choice(names), random.randrange(LETTERS)) for _ in range(3) if random.random() < chatty
            )
            timer = random.choice((1, 1, -1)) if random.random() < timed else 0
            raises = random.randint(1, 2) if what != "start" and random.random() < raising else 0
            # The last state is rare: invariants are about it.
            next_state = random.choice((0, 0, 1, 1, 2, 2, 3)) if state != 2 else random.randrange(STATES)
            table[state, what] = Reaction(0 if what == "start" else next_state, sends, timer, raises)
    return table


def _sending(names: Sequence[str]) -> Callable[[Random, World], External]:
    def sending(random: Random, world: World) -> External:
        node, hops = random.choice(names), random.randint(1, 2)
        if random.random() < 0.3:
            return Send(node, Letters([random.randrange(LETTERS) for _ in range(random.randint(1, 4))], hops))
        return Send(node, Note(random.randrange(LETTERS), hops))

    return sending


def _troubling(names: Sequence[str], blocks: Sequence[CodeBlock]) -> Callable[[Random, World], External]:
    def troubling(random: Random, world: World) -> External:
        one, other = random.sample(names, 2)
        events: Sequence[External] = (
            Partition(one, other), Partition(one, other, one_way=True), Heal(), Heal(one, other),
            Restart(one), Stop(one), Start(one), Start(other), random.choice(blocks),
        )  # fmt: skip
        return random.choice(events)

    return troubling


def _poke(node: str) -> Callable[[World], None]:
    def poke(world: World) -> None:
        poked = world.nodes.get(node)
        if isinstance(poked, TableNode):
            poked.state = (poked.state + 1) % STATES

    return poke


def _invariants(random: Random, names: Sequence[str]) -> list[Invariant]:
    def never(first: str, second: str, one: int, two: int, named: bool) -> Invariant:
        def invariant(nodes: Mapping[str, Any]) -> Broken | None:
            if first in nodes and second in nodes and (nodes[first].state, nodes[second].state) == (one, two):
                return Broken(f"never {one}{two}", f"{first} and {second}", (first, second) if named else ())
            return None

        return invariant

    pairs = [(first, second) for first in names for second in names if first < second]
    return [
        never(*random.choice(pairs), random.choice((2, 3)), 3, random.random() < 0.7)
        for _ in range(random.randint(1, 3))
    ]


class Failing(NamedTuple):
    """A cluster, and a recording of a run in which something breaks."""

    scenario: Scenario
    recording: Recording


@cache
def failing(seed: int) -> Failing | None:
    """With the first of some random runs that breaks something after some deliveries, if one does."""
    scenario = generated(seed)
    exact = replace(scenario, check_every=1)
    for number in range(10):
        run = random_run(exact, number, recording=True)
        if run.broken is not None and run.deliveries >= 4:
            return Failing(scenario, make_recording(as_loaded(exact), number, run.steps))
    return None


#: Not more than this, so that several tests can share them.
failures = st.integers(0, 60).map(failing).filter(lambda found: found is not None)


# -- targets -----------------------------------------------------------------------------------------------------


def aimed(scenario: Scenario, steps: Sequence[Step], seed: int = 0) -> tuple[Target, Schedule]:
    """A schedule that ends in a violation, as minimization sees it."""
    exact = replace(scenario, check_every=1)
    identity = execute(exact, seed, steps).identity
    assert identity is not None, "nothing breaks"
    externals, schedule = split_steps(steps)
    target = Target(exact, seed, externals, identity)
    named = complete_recorded(target, schedule)
    assert named is not None
    return target, named


def one_minimal(target: Target, schedule: Schedule) -> bool:
    """Whether no single item can be left out."""
    return not any(
        attempt(target, schedule[:k] + schedule[k + 1 :], Match.TYPE) is not None for k in range(len(schedule))
    )


# -- by hand -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Key:
    """Something to keep."""

    key: int


@dataclass(frozen=True)
class Relay:
    """From outside: send keys to somebody."""

    to: str
    keys: tuple[int, ...]


class Keeper(Node):
    """Keeps the keys that it gets, in their order, and relays others; ``on_timer`` is like getting key 0."""

    def on_start(self, ctx: Context) -> None:
        self.lives = ctx.durable["lives"] = ctx.durable.get("lives", 0) + 1
        self.kept: list[int] = []
        ctx.set_timer("tick")

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        if isinstance(message, Relay):
            for key in message.keys:
                ctx.send(message.to, Key(key))
        else:
            self.kept.append(message.key)

    def on_timer(self, ctx: Context, name: str) -> None:
        self.kept.append(0)


def never(node: str, wrong: Callable[[list[int]], bool], *, named: bool = True) -> Invariant:
    """An invariant: what a node keeps is never wrong."""

    def invariant(nodes: Mapping[str, Any]) -> Broken | None:
        if node in nodes and wrong(nodes[node].kept):
            return Broken("never", f"{node} keeps {nodes[node].kept}", (node,) if named else ())
        return None

    return invariant


def keepers(*invariants: Invariant, **how: Any) -> Scenario:
    return Scenario(
        **{
            "nodes": dict.fromkeys("abcd", Keeper),
            "running": "abcd",
            "invariants": invariants,
            "network": Network.REORDERING,
            **how,
        }
    )


def act(source: str, nth: int, target: str, kind: str = "Key", do: Do = Do.DELIVER, mark: str = "") -> Act:
    return Act(do, source, nth, target, False, kind, mark or kind)


def tick(node: str, nth: int = 1) -> Act:
    return Act(Do.DELIVER, node, nth, node, True, "tick", "tick")


def of_steps(scenario: Scenario, steps: Sequence[Step]) -> Recording:
    return make_recording(as_loaded(replace(scenario, check_every=1)), 0, steps)


def nothing(world: World) -> None:
    """What a code block does that is in the way."""


# -- candidates without schedules --------------------------------------------------------------------------------

_PARENT = os.getpid()


class Scripted(NamedTuple):
    """A candidate of which it is known what comes of it; some things only happen in another process."""

    number: int
    what: str

    def evaluate(self, target: Target) -> TrialResult:
        if self.what == "succeed":
            return TrialResult((self.number,), 1)
        if self.what == "refuse":
            raise UsageError(f"number {self.number} is refused", remedy="none")
        if os.getpid() != _PARENT:
            if self.what == "die":
                os._exit(7)
            if self.what == "sleep":
                time.sleep(60)
            if self.what == "stuck":
                ask("something", _for_ever, remedy="none")
        return TrialResult(None, 1 + self.number % 3)


def _for_ever() -> None:
    while True:
        pass


# -- contents that depend on history -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Vote:
    term: int


class Candidate(Node):
    """Every tick begins a term, and asks b for a vote in it."""

    def on_start(self, ctx: Context) -> None:
        self.term = 0
        self.kept: list[int] = []
        ctx.set_timer("tick")

    def on_timer(self, ctx: Context, name: str) -> None:
        self.term += 1
        ctx.send("b", Vote(self.term))
        ctx.set_timer("tick")

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        self.kept.append(message.term)


def votes(wrong: Callable[[list[int]], bool]) -> tuple[Scenario, Recording]:
    """b gets the votes of the last two of five terms; what a vote says matters."""
    scenario = keepers(never("b", wrong), nodes=dict.fromkeys("ab", Candidate), running="ab", fingerprint=repr)
    steps: list[Step] = [tick("a", nth) for nth in (1, 3, 5, 7, 9)]
    steps += [act("a", nth, "b", "Vote", mark=f"Vote(term={term})") for nth, term in ((8, 4), (10, 5))]
    return scenario, of_steps(scenario, steps)
