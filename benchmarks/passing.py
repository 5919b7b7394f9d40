"""Restarts, partitions and crashes together: what the kinds beyond the paper cost the exact search.

Processor time.  The paper's programs do not say what is on disk: here nothing is, and then everything.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations

from benchmarks.bars import Bar
from benchmarks.cases import EXAMPLES, Case, example
from benchmarks.effort import Effort, say
from clew.checker.model import Model
from clew.dedalus.loader import parse_program
from clew.faults import FailureSpec
from clew.program.checks import check_program
from clew.program.ir import Fact, Program
from clew.search import exact
from clew.search.verdict import Answer, Findings, Ledger, conduct

PROGRAMS = ("ack-deliv", "kafka", "3pc", "paxos-synod")
MOST_SECONDS = 1.0
MOST_RATIO = 5.0
ELECTION_SECONDS = 10.0


def measure(effort: Effort) -> Iterator[Bar]:
    """The bars of the faults that pass."""
    for name in PROGRAMS:
        say(f"faults that pass: {name}")
        case = example(name)
        plain, restarted, mixed = (
            sum(_seconds(program, spec, effort)[0] for program in _on_disk(case))
            for spec in (
                case.spec,
                replace(case.spec, restarts=1),
                replace(case.spec, restarts=1, partitions=1, crashes=1),
            )
        )
        # Two searches each, so that a search may take half of what is added up here.
        bar = f"exact: restart, partition and crash, {name}"
        yield Bar(bar, f"{mixed / 2:.3f} s", f"{MOST_SECONDS:g} s", mixed / 2 <= MOST_SECONDS)
        ratio = restarted / plain
        yield Bar(
            f"exact: one restart beside none, {name}", f"{ratio:.1f}", f"{MOST_RATIO:g}", ratio <= MOST_RATIO
        )
    yield _election(effort)


def _election(effort: Effort) -> Bar:
    say("faults that pass: an election of five")
    nodes = tuple("abcde")
    text = (EXAMPLES / "raft-vote.ded").read_text(encoding="utf-8").replace("K >= 2", "K >= 3")  # of five
    election = parse_program(text)
    others = [c for c in election.clauses if not isinstance(c, Fact) or c.relation != "node"]
    links = [Fact("node", pair) for pair in permutations(nodes, 2)]
    voting = replace(election, clauses=(*links, *others), durable=frozenset({"voted"}))
    program = check_program(voting).program
    seconds, found = _seconds(program, FailureSpec(nodes, 12, 8, restarts=2), effort)
    met = seconds <= ELECTION_SECONDS and found.answer is Answer.CERTIFIED
    measured, asked = f"{found.answer.value} in {seconds:.2f} s", f"certified in {ELECTION_SECONDS:g} s"
    return Bar("exact: votes of Raft on disk, 5 nodes, EOT 12, 2 restarts", measured, asked, met)


def _on_disk(case: Case) -> list[Program]:
    relations = frozenset(clause.relation for clause in case.program.clauses)
    return [replace(case.program, durable=durable) for durable in (frozenset[str](), relations)]


def _seconds(program: Program, spec: FailureSpec, effort: Effort) -> tuple[float, Findings]:
    """The fastest of a few searches, each with its grounding."""

    def search() -> tuple[float, Findings]:
        started = time.process_time()
        model = Model(program, spec)
        found = conduct(lambda ledger: exact.search(model, ledger), Ledger())
        return time.process_time() - started, found

    return min((search() for _ in range(min(5, effort.repetitions))), key=lambda measured: measured[0])
