"""The bars: what Clew must keep up with, each as measured, its limit, and whether it is met."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks import coldstart, explaining, large, pages
from benchmarks.effort import Effort, say
from benchmarks.figures import Row
from benchmarks.growth import PROGRAMS
from benchmarks.output import Table
from clew.search.verdict import Answer

EXACT_SECONDS = 0.1
EXACT_SECONDS_FLUX = 0.5
LARGE_SECONDS = 1.0
LARGE_MEGABYTES = 500
EXECUTIONS_12 = 108
EXECUTIONS_13 = 1046
LINEAGE_SECONDS = 3.0
COLD_START_RATIO = 5.0
SIMPLE_START_RATIO = 3.5
HELP_RATIO = 1.3
EXPLAINED_RATIO = 1.5
EXACT_SPEEDUP = 10.0
RANDOM_RATIO = 10.0
REPORT_MEGABYTES = 2.0
FIRST_PAINT_MILLISECONDS = 2000
FILTER_MILLISECONDS = 200


@dataclass(frozen=True)
class Bar:
    name: str
    measured: str
    limit: str
    passed: bool


def measure(rows_12: Sequence[Row], rows_13: Sequence[Row], effort: Effort) -> list[Bar]:
    rows = {row.name: row for row in (*rows_12, *rows_13)}
    return [
        _verdicts(rows.values()),
        *(_exact_seconds(row) for row in rows.values()),
        *_large(effort),
        _executions("Figure 12", rows_12, EXECUTIONS_12),
        _executions("Figure 13", rows_13, EXECUTIONS_13),
        *(_executions_of(row) for row in rows.values()),
        _lineage_seconds("all of Figure 12", rows_12),
        _lineage_seconds("ack-deliv 8/7/1", [rows["ack-deliv"]]),
        *_cold_start(effort),
        *_explanations(effort),
        _speedup(rows["ack-deliv"]),
        _better_than_random(rows["kafka"]),
        *_pages(effort),
    ]


def table(bars: Sequence[Bar]) -> Table:
    cells = [(b.name, b.measured, b.limit, "PASS" if b.passed else "FAIL") for b in bars]
    failed = sum(not b.passed for b in bars)
    remark = f"{len(bars) - failed} met, {failed} not met."
    return Table("Bars", ("bar", "measured", "limit", "result"), cells, [remark])


def _verdicts(rows: Iterable[Row]) -> Bar:
    """Speed counts only with the right answer; not to have finished is no wrong one and has its own bars."""
    wrong = [
        f"{row.name} ({found.answer.value})"
        for row in rows
        for found in (row.exact, row.lineage)
        if found.answer is not row.expected and (found is row.exact or found.finished)
    ]
    return Bar("answers that differ from the paper's", ", ".join(wrong) or "0", "0", not wrong)


def _exact_seconds(row: Row) -> Bar:
    limit = EXACT_SECONDS_FLUX if row.name == "flux" else EXACT_SECONDS
    return Bar(f"exact: search, {row.name}", f"{row.exact.search:.4f} s", f"{limit} s", row.exact.search <= limit)


def _large(effort: Effort) -> Iterator[Bar]:
    for name in PROGRAMS:
        say(f"{name}: 12 nodes")
        done = [large.certify_in_new_process(name) for _ in range(effort.processes)]
        certified = all(d.answer == Answer.CERTIFIED.value for d in done)
        seconds, peak = median(d.seconds for d in done), max(d.peak_megabytes for d in done)
        title = f"exact: {name}, 12 nodes, 15/13/3"
        parts = [median(getattr(d, part) for d in done) for part in ("parsing", "grounding", "search")]
        detail = " + ".join(f"{p:.2f}" for p in parts)
        yield Bar(
            f"{title}: certified in",
            f"{seconds:.2f} s ({detail})" if certified else "not certified",
            f"{LARGE_SECONDS:g} s",
            certified and seconds <= LARGE_SECONDS,
        )
        yield Bar(f"{title}: peak memory", f"{peak:.0f} MB", f"{LARGE_MEGABYTES} MB", peak <= LARGE_MEGABYTES)


def _executions(figure: str, rows: Sequence[Row], limit: int) -> Bar:
    total, finished = sum(r.lineage.executions for r in rows), all(r.lineage.finished for r in rows)
    return Bar(
        f"lineage: executions, sum of {figure}", _count(total, finished), str(limit), finished and total <= limit
    )


def _executions_of(row: Row) -> Bar:
    limit = 2 * row.published.executions + 3
    found = row.lineage
    passed = found.finished and found.executions <= limit
    return Bar(f"lineage: executions, {row.name}", _count(found.executions, found.finished), str(limit), passed)


def _count(executions: int, finished: bool) -> str:
    return str(executions) if finished else f"not finished after {executions}"


def _lineage_seconds(what: str, rows: Sequence[Row]) -> Bar:
    seconds = sum(r.loading + r.lineage.seconds for r in rows)
    passed = seconds < LINEAGE_SECONDS and all(r.lineage.finished for r in rows)
    return Bar(f"lineage: {what}", f"{seconds:.2f} s", f"{LINEAGE_SECONDS:g} s", passed)


def _cold_start(effort: Effort) -> Iterator[Bar]:
    say("cold start")
    cold = coldstart.measure(effort.cold_starts)
    for what, measured, base, limit in (
        ("clew check kafka.ded, beside import clingo", cold.kafka, cold.importing, COLD_START_RATIO),
        ("clew check simple-deliv.ded, beside import clingo", cold.simple, cold.importing, SIMPLE_START_RATIO),
        ("clew --help, beside --version", cold.help, cold.version, HELP_RATIO),
    ):
        ratio = measured / base
        shown = f"{ratio:.2f} times ({measured:.3f} s / {base:.3f} s)"
        yield Bar(f"cold start: {what}", shown, f"{limit:g} times", ratio <= limit)


def _explanations(effort: Effort) -> Iterator[Bar]:
    say("explanations")
    for found in explaining.measure(effort.cold_starts):
        yield Bar(
            f"explanation: clew check {found.name}, beside --json -",
            f"{found.ratio:.2f} times ({found.check:.3f} s / {found.search:.3f} s)",
            f"{EXPLAINED_RATIO:g} times",
            found.ratio <= EXPLAINED_RATIO,
        )


def _speedup(row: Row) -> Bar:
    """The search decides; the ratio of the whole times, with grounding, is stated beside it."""
    search = row.lineage.search / row.exact.search
    whole = row.lineage.seconds / row.exact.seconds
    return Bar(
        "exact beside lineage: search of ack-deliv 8/7/1",
        f"{search:.1f} times faster ({whole:.1f} with grounding)",
        f"{EXACT_SPEEDUP:g} times",
        row.lineage.finished and search >= EXACT_SPEEDUP,
    )


def _better_than_random(row: Row) -> Bar:
    assert row.random is not None
    ratio = row.random.executions / row.lineage.executions
    least = "at least " if row.random.capped else ""
    return Bar(
        "lineage beside random: executions for kafka",
        f"{least}{ratio:.1f} times fewer",
        f"{RANDOM_RATIO:g} times",
        row.lineage.finished and ratio >= RANDOM_RATIO,
    )


def _pages(effort: Effort) -> Iterator[Bar]:
    say("reports in a browser")
    opened = pages.measure(effort.processes)
    if isinstance(opened, str):
        yield Bar("report in a browser", opened, "opened", False)
        return
    for page in opened:
        size = page.bytes / 1e6
        if page.name == "kafka":
            yield Bar("report: size, kafka", f"{size:.2f} MB", f"{REPORT_MEGABYTES} MB", size <= REPORT_MEGABYTES)
        shown = page.first_paint <= FIRST_PAINT_MILLISECONDS
        limit = f"{FIRST_PAINT_MILLISECONDS} ms"
        yield Bar(f"report: first paint, {page.name}", f"{page.first_paint:.0f} ms", limit, shown)
        quick = page.filter <= FILTER_MILLISECONDS
        yield Bar(f"report: filter, {page.name}", f"{page.filter:.0f} ms", f"{FILTER_MILLISECONDS} ms", quick)
