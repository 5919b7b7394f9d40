"""One search, timed: grounding and search apart, both on a fresh model so that nothing is learnt beforehand."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from statistics import mean, median

from benchmarks.cases import Case
from clew.budgets.deadline import Deadline
from clew.checker.model import Model
from clew.checker.traced import TracedModel
from clew.lineage.negation import Negation
from clew.search import exact, lineage, random_faults
from clew.search.verdict import Answer, Ledger, conduct

#: A measurement is not repeated once its repetitions have taken this long.
_ENOUGH_SECONDS = 2.0


@dataclass(frozen=True)
class Search:
    """The outcome and the seconds of one search.  An incomplete answer means that it did not finish."""

    answer: Answer
    executions: int
    grounding: float
    search: float

    @property
    def seconds(self) -> float:
        return self.grounding + self.search

    @property
    def finished(self) -> bool:
        return self.answer is not Answer.INCOMPLETE


@dataclass(frozen=True)
class Sample:
    """Random searches, one a seed.  With ``capped`` seeds, which found nothing, the means are lower bounds."""

    seeds: int
    cap: int
    capped: int
    executions: float
    seconds: float


def exact_search(case: Case) -> Search:
    """For the fewest faults that violate something, or for the certificate that there are none."""
    started = time.perf_counter()
    system = Model(case.program, case.spec)
    grounded = time.perf_counter()
    findings = conduct(lambda ledger: exact.search(system, ledger), Ledger())
    return Search(findings.answer, findings.runs, grounded - started, time.perf_counter() - grounded)


def lineage_search(case: Case, seconds: float) -> Search:
    """The lineage loop for at most this long; grounding includes recording the rule/goal graph."""
    started = grounded = time.perf_counter()

    def work(ledger: Ledger) -> str | None:
        nonlocal grounded
        system = TracedModel(case.program, case.spec, Negation.EXACT, deadline=ledger.deadline)
        grounded = time.perf_counter()
        return lineage.search(system, ledger)

    findings = conduct(work, Ledger(Deadline(seconds)))
    return Search(findings.answer, findings.runs, grounded - started, time.perf_counter() - grounded)


def random_searches(case: Case, seeds: int, cap: int) -> Sample:
    """Random fault injection with the seeds 0, 1, ...; grounded once, and not counted."""
    system = Model(case.program, case.spec)
    started = time.perf_counter()
    found = [
        conduct(partial(random_faults.search, system, seed=seed, max_runs=cap), Ledger()) for seed in range(seeds)
    ]
    seconds = (time.perf_counter() - started) / seeds
    capped = sum(f.answer is Answer.INCOMPLETE for f in found)
    return Sample(seeds, cap, capped, mean(f.runs for f in found), seconds)


def repeated(search: Callable[[], Search], times: int) -> Search:
    """The medians of some repetitions; fewer when one takes long."""
    done = [search()]
    while len(done) < times and sum(s.seconds for s in done) < _ENOUGH_SECONDS:
        done.append(search())
    return replace(done[0], grounding=median(s.grounding for s in done), search=median(s.search for s in done))
