"""The search for the fewest faults where there are many ways to fail, and what it costs where there is none.

Processor time, so that other load on the machine matters little.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from benchmarks.bars import Bar
from benchmarks.cases import Case, broadcast_text, example, from_text
from benchmarks.effort import Effort, say
from clew.checker.traced import TracedModel
from clew.engine.fewest import ever_fewer_faults
from clew.engine.ground import GroundProgram
from clew.faults import FailureSpec, FaultSet
from clew.lineage.negation import Negation
from clew.search import lineage
from clew.search.verdict import Answer, Ledger, conduct

CERTIFICATE_RATIO = 1.1
LINEAGE_SPEEDUP = 4.0
#: More conflicts than any question of these programs takes.
_NO_LIMIT = 1_000_000_000
_CERTIFIED = ("ack-deliv", "redun-deliv", "paxos-synod", "bully-le", "flux")


def measure(effort: Effort) -> Iterator[Bar]:
    """The bars of section "fewest faults"; the largest needs seconds and is left out of a quick run."""
    cases = [
        ("kafka, EOT 50, EFF 49", _kafka(50), 3, 0.3),
        ("kafka, EOT 100, EFF 99", _kafka(100), 3, 0.5),
        ("redun-deliv, 4 nodes, delays 8", _redundant(4, 8), 5, 0.5),
        ("redun-deliv, 5 nodes, delays 5", _redundant(5, 5), 15, 15.0),
    ]
    for name, case, faults, limit in cases if effort.name == "full" else cases[:-1]:
        say(f"fewest faults: {name}")
        seconds, found = min(_search(case, _fewest) for _ in range(min(3, effort.repetitions)))
        measured, asked = f"{found} in {seconds:.2f} s", f"{faults} in {limit:g} s"
        yield Bar(f"exact: fewest faults, {name}", measured, asked, seconds <= limit and found == faults)
    yield _certificates(effort)
    if effort.name == "full":
        yield _lineage_certificate()


def _lineage_certificate() -> Bar:
    """Beside the search that insists on smallest candidates to the end, which takes most of a minute."""
    say("lineage: certificates")
    names = tuple("abcde")
    spec = FailureSpec(names, eot=8, eff=7, crashes=1)
    case = from_text("ack-deliv", broadcast_text("ack-deliv", names), spec)
    any_size, answer = _trace(case, lineage.MOST_CONFLICTS)
    by_size, same = _trace(case, _NO_LIMIT)
    ratio = by_size / any_size
    certified = answer is same is Answer.CERTIFIED
    return Bar(
        "lineage: ack-deliv, 5 nodes, 8/7/1, beside smallest candidates only",
        f"{ratio:.1f} times faster ({any_size:.1f} s / {by_size:.1f} s)" if certified else "not certified",
        f"{LINEAGE_SPEEDUP:g} times",
        certified and ratio >= LINEAGE_SPEEDUP,
    )


def _trace(case: Case, most_conflicts: int) -> tuple[float, Answer]:
    """Seconds of grounding and lineage search, and the answer."""
    started = time.process_time()
    system = TracedModel(case.program, case.spec, Negation.EXACT)
    found = conduct(lambda book: lineage.search(system, book, most_conflicts=most_conflicts), Ledger())
    return time.process_time() - started, found.answer


def _certificates(effort: Effort) -> Bar:
    """Beside what only lowers the upper bound, which is the fastest that is known for certificates."""
    say("certificates")
    cases = [example(name) for name in _CERTIFIED]
    # The fastest of each case: the fastest of whole rounds still varies by a tenth on a machine that is shared.
    new, old = [math.inf] * len(cases), [math.inf] * len(cases)
    for _ in range(4 * effort.repetitions):
        new = [min(best, _search(case, _fewest)[0]) for best, case in zip(new, cases, strict=True)]
        old = [min(best, _search(case, _bounded)[0]) for best, case in zip(old, cases, strict=True)]
    ratio = sum(new) / sum(old)
    return Bar(
        "exact: certificates, beside branch and bound alone",
        f"{ratio:.2f} times",
        f"{CERTIFICATE_RATIO} times",
        ratio <= CERTIFICATE_RATIO,
    )


def _search(case: Case, search: Callable[[GroundProgram], list[FaultSet]]) -> tuple[float, int]:
    """Seconds and the number of faults in the end, on a freshly grounded program."""
    ground = GroundProgram(case.program, case.spec)
    started = time.process_time()
    found = search(ground)
    return time.process_time() - started, len(found[-1]) if found else 0


def _fewest(ground: GroundProgram) -> list[FaultSet]:
    return list(ever_fewer_faults(ground))


def _bounded(ground: GroundProgram) -> list[FaultSet]:
    assumed = [] if ground.violated is None else [ground.violated]
    return [ground.faults_of(m) for m in ground.solutions(assumed, "opt", "auto")] if assumed else []


def _kafka(eot: int) -> Case:
    case = example("kafka")
    return replace(case, spec=replace(case.spec, eot=eot, eff=eot - 1))


def _redundant(nodes: int, delays: int) -> Case:
    names = tuple("abcde"[:nodes])
    spec = FailureSpec(names, eot=11, eff=10, crashes=1, delays=delays)
    return from_text("redun-deliv", broadcast_text("redun-deliv", names), spec)
