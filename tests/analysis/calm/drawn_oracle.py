"""Compares the labels of a program with what it does: what a label promises, and the runs that break it.

M and A promise one outcome for every order and batching of rows and messages, however many empty steps there are
in between; N promises one for every order of messages if each node's steps and what is given in them are the same.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from analysis.calm.drawn_programs import NODES, Drawn, Given, loaded, smaller
from analysis.calm.drawn_schedules import NO_END, Event, Lateness, Ran, World, drawn_lateness, follow
from clew.analysis.calm.analysis import analyse_dataflow
from clew.analysis.calm.dataflow.of_bloom import bloom_dataflow
from clew.bloom import Bloom
from clew.bloom.language.module import program_of
from clew.errors import ClewError

#: Labels that promise one outcome whatever comes when, and the one that does so for given steps.
FREE, STEPS = ("M", "A"), ("N",)
_STEPS_SHOWN = 20


@dataclass
class Tried:
    """What was seen of some programs: outputs by label, those that differ, and runs that say nothing."""

    outputs: Counter[str] = field(default_factory=Counter)
    differing: Counter[str] = field(default_factory=Counter)
    runs: int = 0
    spoiled: Counter[str] = field(default_factory=Counter)

    def add(self, other: Tried) -> None:
        self.outputs += other.outputs
        self.differing += other.differing
        self.runs += other.runs
        self.spoiled += other.spoiled


@dataclass(frozen=True)
class Disagreement:
    """An output whose label promises more than the program keeps, with two runs that show it."""

    program: Drawn
    output: str
    label: str
    first: Ran
    second: Ran

    def __str__(self) -> str:
        given = "\n".join(f"  {one} (step {one.step + 1} where nothing is late)" for one in self.program.given)
        parts = [f"'{self.output}' is labelled {self.label}, and differs.", self.program.text, "given:", given]
        for run in (self.first, self.second):
            parts += ["-- a run --", *(f"  {step}" for step in run.steps[:_STEPS_SHOWN])]
            parts += ["  and so on"] if len(run.steps) > _STEPS_SHOWN else []
            parts += [f"  => {node}: {_said(run.shown.get((node, self.output)))}" for node in NODES]
        return "\n".join(parts)


def _said(shown: Any) -> str:
    return repr(sorted(shown, key=repr)) if isinstance(shown, frozenset) else repr(shown)


class Subject:
    """A program that was read: its labels, and its nodes, which run many times."""

    def __init__(self, program: Drawn, folder: Path) -> None:
        module = loaded(program, folder)
        self.program = program
        self.nodes: dict[str, Bloom] = {name: module(name) for name in NODES}
        there = next(iter(self.nodes.values())).program.by_name
        self.labels = {name: label for name, label in labels_of(module).items() if name in there}
        self.tried = Tried()

    def run(self, given: Sequence[Given], late: Lateness, outputs: Sequence[str], *, steps_given: bool) -> Ran:
        random.seed(self.tried.runs)  # programs that draw numbers draw others in every run
        world = World(self.nodes, given, outputs, late)
        ran = world.steps_as_given() if steps_given else world.until_quiet()
        self.tried.runs += 1
        if ran.spoiled:
            self.tried.spoiled[_reason(ran.spoiled)] += 1
        return ran

    def differing(
        self, outputs: Sequence[str], workloads: Sequence[Drawn], seeds: Sequence[int], *, steps_given: bool
    ) -> Iterator[Disagreement]:
        """For each output that differs, the first pair of runs in which it does."""
        left = list(outputs)
        for program in workloads:
            for name, (first, second) in self._pairs(left, program.given, seeds, steps_given=steps_given).items():
                left.remove(name)
                yield Disagreement(program, name, self.labels.get(name, "?"), first, second)

    def _pairs(
        self, outputs: Sequence[str], given: Sequence[Given], seeds: Sequence[int], *, steps_given: bool
    ) -> dict[str, tuple[Ran, Ran]]:
        found: dict[str, tuple[Ran, Ran]] = {}
        first: Ran | None = None
        left = list(outputs)
        for seed in seeds:
            if not left:
                break
            ran = self.run(given, drawn_lateness(seed, steps_given=steps_given), left, steps_given=steps_given)
            if ran.spoiled == NO_END:
                break
            if ran.spoiled:
                continue
            if first is None:
                first = ran
                continue
            for output in list(left):
                if any(first.shown.get((n, output)) != ran.shown.get((n, output)) for n in NODES):
                    found[output] = (first, ran)
                    left.remove(output)
        return found


def labels_of(module: type[Bloom]) -> dict[str, str]:
    """The only thing that is asked of the analysis."""
    return {o.name: o.label.value for o in analyse_dataflow(bloom_dataflow(program_of(module))).outputs}


def _reason(spoiled: str) -> str:
    if spoiled == NO_END:
        return spoiled
    return "key conflict" if "key" in spoiled else "failing function"


def read(program: Drawn, folder: Path) -> Subject | None:
    """None if it is no program: a cycle through a negation, for example."""
    try:
        subject = Subject(program, folder)
        for node in subject.nodes.values():
            _ = node.machine
    except (ClewError, SyntaxError):  # a mutation may compare a column twice
        return None
    return subject


def disagreements(
    subject: Subject, workloads: Sequence[Drawn], seeds: Sequence[int], *, alarms: bool = False
) -> Iterator[Disagreement]:
    """Those of outputs with a promise; with ``alarms`` the others are counted as well."""
    labels, tried = subject.labels, subject.tried
    tried.outputs.update(labels.values())
    for promise, steps_given in ((FREE, False), (STEPS, True)):
        outputs = [name for name, label in labels.items() if label in promise]
        yield from subject.differing(outputs, workloads, seeds, steps_given=steps_given)
    if alarms:
        rest = [name for name, label in labels.items() if label not in FREE]
        for found in subject.differing(rest, workloads, seeds, steps_given=False):
            tried.differing[found.label] += 1


# -- shrinking ---------------------------------------------------------------------------------------------------


def shrunk(found: Disagreement, folder: Path, seeds: Sequence[int]) -> Disagreement:
    """A disagreement of the same kind with fewer rules, rows and late events."""
    steps_given = found.label in STEPS
    shrinking = True
    while shrinking:
        shrinking = False
        for candidate in smaller(found.program):
            again = _again(candidate, found, folder, seeds)
            if again is not None:
                found, shrinking = again, True
                break
    return _with_fewer_late(found, folder, steps_given=steps_given)


def _again(
    candidate: Drawn, found: Disagreement, folder: Path, seeds: Sequence[int]
) -> Disagreement | None:
    subject = read(candidate, folder)
    if subject is None:
        return None
    steps_given = found.label in STEPS
    label = subject.labels.get(found.output)
    if label is None or label not in (STEPS if steps_given else FREE):
        return None
    pair = _pair(subject, found.output, (found.first.late, found.second.late), steps_given=steps_given)
    if pair is not None:
        return Disagreement(candidate, found.output, label, *pair)
    return next(subject.differing([found.output], [candidate], seeds, steps_given=steps_given), None)


def _pair(
    subject: Subject, output: str, schedules: tuple[dict[Event, int], dict[Event, int]], *, steps_given: bool
) -> tuple[Ran, Ran] | None:
    given = subject.program.given
    first, second = (subject.run(given, follow(s), [output], steps_given=steps_given) for s in schedules)
    if first.spoiled or second.spoiled:
        return None
    return (first, second) if first.shown != second.shown else None


def _with_fewer_late(found: Disagreement, folder: Path, *, steps_given: bool) -> Disagreement:
    subject = read(found.program, folder)
    if subject is None:
        return found
    schedules = [dict(found.first.late), dict(found.second.late)]
    for which in (0, 1):
        for event in sorted(schedules[which], key=lambda e: (e[0] == "message", repr(e))):
            for less in (0, 1):
                tried = [dict(s) for s in schedules]
                tried[which][event] = less
                if less >= schedules[which][event]:
                    break
                pair = _pair(subject, found.output, (tried[0], tried[1]), steps_given=steps_given)
                if pair is not None:
                    schedules = tried
                    found = replace(found, first=pair[0], second=pair[1])
                    break
    return found
