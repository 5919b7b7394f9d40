"""The bars of fault injection into code, each as measured, its limit, and whether it is met."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks import injection
from benchmarks.bars import Bar
from benchmarks.effort import Effort, say
from clew.search.verdict import Answer

LINEAGE_EXECUTIONS = 40
RANDOM_TIMES = 25
BUSY_TIMES = 1.5
CERTIFICATE_SECONDS = 90
EXECUTIONS_PER_SECOND = 150
ANY_ORDER, TIMED = 0.95, 0.6

#: Seeds of random injection, whatever the effort: a mean of fewer says little.
SEEDS = 10


def of_injection(effort: Effort) -> list[Bar]:
    return [*_executions(effort), _certificate(), *_misses(effort), _speed(effort), *_deliveries(effort)]


def _executions(effort: Effort) -> Iterator[Bar]:
    say("injection: replication by lineage and at random")
    quiet, busy = injection.by_lineage("lossy"), injection.by_lineage("busy")
    found = all(verdict.answer is Answer.COUNTEREXAMPLE for verdict in (quiet, busy))
    yield Bar(
        "injection: lineage, executions until the three faults of replication",
        str(quiet.runs),
        str(LINEAGE_EXECUTIONS),
        found and quiet.runs <= LINEAGE_EXECUTIONS,
    )
    yield Bar(
        "injection: lineage, the same with ten times the irrelevant traffic",
        f"{busy.runs / quiet.runs:.2f} times ({busy.runs})",
        f"{BUSY_TIMES:g} times",
        found and busy.runs <= BUSY_TIMES * quiet.runs,
    )
    seeds = min(SEEDS, effort.seeds)
    drawn = injection.at_random("lossy", seeds)
    times = drawn.mean / quiet.runs
    bound = "" if drawn.found == seeds else "at least "
    yield Bar(
        f"injection: random beside lineage, mean of {seeds} seeds",
        f"{bound}{times:.0f} times ({drawn.mean:.0f}; {drawn.found} of {seeds} found it)",
        f"{RANDOM_TIMES} times",
        times >= RANDOM_TIMES,
    )


def _certificate() -> Bar:
    say("injection: the certificate of the fix")
    verdict, seconds = injection.certify()
    name = (
        f"injection: replication with its fix, every two faults that begin within {injection.CERTIFIED_UNTIL:g} s"
    )
    return Bar(
        name,
        f"{verdict.answer.value} in {seconds:.1f} s ({verdict.runs} executions)",
        f"certified in {CERTIFICATE_SECONDS} s",
        verdict.answer is Answer.CERTIFIED and seconds <= CERTIFICATE_SECONDS,
    )


def _misses(effort: Effort) -> Iterator[Bar]:
    say(f"injection: lineage beside exhaustion on {effort.systems} systems")
    found = injection.misses(effort.systems)
    yield Bar(
        f"injection: lineage, misses of {found.broken} counterexamples in {found.systems} drawn systems",
        f"{found.missed} ({found.larger} more found with more faults than the fewest)",
        "shown",
        True,
    )
    yield Bar(
        "injection: executions of lineage beside exhaustion, where both find something",
        f"{found.runs_of_lineage} beside {found.runs_of_exhaustion}",
        "shown",
        True,
    )


def _speed(effort: Effort) -> Bar:
    say("injection: executions per second")
    rate = injection.executions_per_second(1_500, min(3, effort.repetitions))
    return Bar(
        f"injection: checked executions of {injection.EVENTS} events, per second",
        f"{rate:.0f}",
        str(EXECUTIONS_PER_SECOND),
        rate >= EXECUTIONS_PER_SECOND,
    )


def _deliveries(effort: Effort) -> Iterator[Bar]:
    say("injection: deliveries per second, before virtual time and now")
    found = injection.deliveries(effort.deliveries // 5, effort.repetitions)
    both = (("in any order", found.any_order, ANY_ORDER), ("in virtual time", found.timed, TIMED))
    for name, rate, least in both:
        yield Bar(
            f"injection: deliveries of Raft {name}, beside those before there was virtual time",
            f"{rate / found.before:.2f} times ({rate:.0f} / {found.before:.0f} a second)",
            f"{least:g} times",
            rate >= least * found.before,
        )
