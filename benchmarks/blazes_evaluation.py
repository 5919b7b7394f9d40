"""The evaluation of section 4.7 of the thesis in small: what coordination costs an ad network.

Three report servers log the clicks that 5 or 10 ad servers send in batches, and answer requests with the query
CAMPAIGN: uncoordinated, in a total order that a sequencer decides, with campaigns sealed by all ad servers, and
with campaigns sealed by the one ad server that each is mastered at.  All are processes (``blazes_servers``).
A run is measured from a moment when all are connected to the last click in the log of the last report server.

``python -m benchmarks.blazes_evaluation`` prints one run of each.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median_low
from types import TracebackType
from typing import Any, Self

from benchmarks.blazes_servers import Role, Variant, Wiring, Workload
from benchmarks.effort import Effort, say
from benchmarks.output import Table

TITLE = "Blazes: the ad network of section 4.7"
AD_SERVERS = (5, 10)
REPORTERS = 3
_REPETITIONS = 3  # as in the thesis
_QUICK = Workload(records=200, per_campaign=100, pause=0.1)
#: From "go" to the start of the clock, in seconds: the word must have reached all processes.
_NOTICE = 0.5
#: Requests are answered this long after the last click, in seconds.
_SETTLING = 0.5
_ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Run:
    """``seconds`` to the last click at the last report server, of which the ``curve`` is: clicks at each sample.

    ``sending``: seconds until the last click was sent.  ``processed``: clicks in the smallest log, of ``records``.
    ``agreed``: whether all report servers gave the same answers.  ``processor``: seconds of processor time, of all
    processes.  ``logged``: lines that they logged, as nodes do when they refuse a row.
    """

    variant: Variant
    ad_servers: int
    records: int
    processed: int
    seconds: float
    sending: float
    agreed: bool
    answers: int
    processor: float
    logged: int
    curve: tuple[int, ...]

    @property
    def complete(self) -> bool:
        return self.processed == self.records


@dataclass(frozen=True)
class Measured:
    """The runs of one variant with so many ad servers."""

    variant: Variant
    ad_servers: int
    runs: tuple[Run, ...]

    @property
    def typical(self) -> Run:
        """The one with the median time; of two, the faster."""
        middle = median_low(run.seconds for run in self.runs)
        return next(run for run in self.runs if run.seconds == middle)

    @property
    def seconds(self) -> float:
        return self.typical.seconds

    @property
    def complete(self) -> bool:
        return all(run.complete for run in self.runs)


# -- a run -------------------------------------------------------------------------------------------------------


class Server:
    """One process; what it logs goes to a file, for a pipe could fill."""

    def __init__(self, role: Role, variant: Variant, log: Path) -> None:
        self.role = role
        self._log = log
        with log.open("w") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "benchmarks.blazes_servers", role.value, variant.value],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                cwd=_ROOT,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        with self._process:
            pass

    def tell(self, what: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(what) + "\n")
        self._process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the {self.role.value} has ended: {self.errors()}")
        heard: dict[str, Any] = json.loads(line)
        return heard

    def errors(self) -> str:
        return self._log.read_text(encoding="utf-8")


@contextmanager
def _servers(variant: Variant, ad_servers: int) -> Iterator[list[Server]]:
    roles = [*[Role.AD_SERVER] * ad_servers, *[Role.REPORT] * REPORTERS, Role.ANALYST]
    if variant is Variant.ORDERED:
        roles.append(Role.SEQUENCER)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        yield [
            stack.enter_context(Server(role, variant, Path(folder) / f"{number}.log"))
            for number, role in enumerate(roles)
        ]


def run(variant: Variant, ad_servers: int, work: Workload) -> Run:
    with _servers(variant, ad_servers) as servers:
        wiring = _wiring(servers)
        for server in servers:
            server.tell({"wiring": asdict(wiring), "workload": asdict(work)})
        for server in servers:
            server.hear()
        start = time.monotonic() + _NOTICE
        for server in servers:
            server.tell({"start": start})
        done = _by_role(servers, [server.hear() for server in servers])
        time.sleep(_SETTLING)
        for server in servers:
            server.tell({})
        results = _by_role(servers, [server.hear() for server in servers])
        logged = sum(len(server.errors().splitlines()) for server in servers)
    return _outcome(variant, work.records * ad_servers, done, results, logged)


def _wiring(servers: Sequence[Server]) -> Wiring:
    addresses = _by_role(servers, [server.hear()["address"] for server in servers])
    (analyst,) = addresses[Role.ANALYST]
    return Wiring(
        tuple(addresses[Role.AD_SERVER]),
        tuple(addresses[Role.REPORT]),
        analyst,
        *(addresses[Role.SEQUENCER] or [""]),
    )


def _by_role(servers: Sequence[Server], heard: Sequence[Any]) -> dict[Role, list[Any]]:
    pairs = list(zip(servers, heard, strict=True))
    return {role: [what for server, what in pairs if server.role is role] for role in Role}


def _outcome(
    variant: Variant,
    records: int,
    done: Mapping[Role, Sequence[Any]],
    results: Mapping[Role, Sequence[Any]],
    logged: int,
) -> Run:
    reports, answers = done[Role.REPORT], [result["answers"] for result in results[Role.REPORT]]
    last = max(reports, key=lambda report: report["seconds"])
    return Run(
        variant,
        len(done[Role.AD_SERVER]),
        records,
        min(report["processed"] for report in reports),
        last["seconds"],
        max(server["sent"] for server in done[Role.AD_SERVER]),
        all(given == answers[0] for given in answers),
        max(len(given) for given in answers),
        sum(result["processor"] for of_role in results.values() for result in of_role),
        logged,
        tuple(last["curve"]),
    )


# -- all of them -------------------------------------------------------------------------------------------------


def measure(effort: Effort) -> list[Measured]:
    """As in the thesis: ad servers that pause between batches."""
    work, repetitions = _asked(effort)
    return evaluate(AD_SERVERS, work, repetitions)


def measure_without_pauses(effort: Effort) -> list[Measured]:
    """As fast as the report servers acknowledge.  An order is left out: the pauses are not what it waits for."""
    work, repetitions = _asked(effort)
    variants = [variant for variant in Variant if variant is not Variant.ORDERED]
    return evaluate(AD_SERVERS, replace(work, pause=0.0), repetitions, variants)


def _asked(effort: Effort) -> tuple[Workload, int]:
    quick = effort.repetitions < _REPETITIONS
    return (_QUICK, 1) if quick else (Workload(), _REPETITIONS)


def evaluate(
    ad_servers: Sequence[int], work: Workload, repetitions: int, variants: Sequence[Variant] = tuple(Variant)
) -> list[Measured]:
    """The repetitions in turn, so that what else the machine does is shared out."""
    kinds = [(number, variant) for number in ad_servers for variant in variants]
    runs: dict[tuple[int, Variant], list[Run]] = {kind: [] for kind in kinds}
    for repetition in range(repetitions):
        for number, variant in kinds:
            done = run(variant, number, work)
            runs[number, variant].append(done)
            say(f"blazes: {number} ad servers, {variant.value}, run {repetition + 1}: {done.seconds:.2f} s")
    return [Measured(variant, number, tuple(made)) for (number, variant), made in runs.items()]


def found(measured: Sequence[Measured], variant: Variant, ad_servers: int) -> Measured:
    return next(m for m in measured if m.variant is variant and m.ad_servers == ad_servers)


def ratio(measured: Sequence[Measured], variant: Variant, ad_servers: int) -> float:
    """Its time, in times of the uncoordinated run."""
    return (
        found(measured, variant, ad_servers).seconds / found(measured, Variant.UNCOORDINATED, ad_servers).seconds
    )


def growth(measured: Sequence[Measured], variant: Variant) -> float:
    """Its time with the most ad servers, in times of that with the fewest."""
    numbers = sorted({m.ad_servers for m in measured})
    return found(measured, variant, numbers[-1]).seconds / found(measured, variant, numbers[0]).seconds


def table(measured: Sequence[Measured], title: str) -> Table:
    rows = [_cells(m, ratio(measured, m.variant, m.ad_servers)) for m in measured]
    columns = (
        "strategy",
        "ad servers",
        "clicks",
        "sent s",
        "processed s",
        "fastest - slowest s",
        "/ uncoordinated",
        "clicks per s",
        "processor s",
        "replicas agree",
    )
    remarks = [
        "Clicks: those that all three report servers have processed, of those that were sent.  Sent, processed: "
        "seconds to the last one, in the run with the median time.  Processor: of all processes together.  "
        "Replicas agree: runs in which all report servers gave the same answers to all requests."
    ]
    return Table(title, columns, rows, remarks)


def _cells(measured: Measured, times: float) -> tuple[str, ...]:
    one, seconds = measured.typical, sorted(run.seconds for run in measured.runs)
    return (
        measured.variant.value,
        str(measured.ad_servers),
        f"{min(run.processed for run in measured.runs)} of {one.records}",
        f"{one.sending:.2f}",
        f"{one.seconds:.2f}",
        f"{seconds[0]:.2f} - {seconds[-1]:.2f}",
        f"{times:.2f}",
        f"{one.processed / one.seconds:.0f}",
        f"{one.processor:.1f}",
        f"{sum(run.agreed for run in measured.runs)} of {len(measured.runs)}",
    )


def main() -> None:
    print(table(evaluate(AD_SERVERS, Workload(), 1), TITLE).markdown())


if __name__ == "__main__":
    main()
