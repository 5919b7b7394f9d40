"""What the page can show, as data: runs, why they fail, lineage graphs, tables.

Runs share most rows with the failure-free one, so each carries only what differs.  Drawings are made here; the
script of the page chooses among them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from clew.budgets.deadline import Deadline
from clew.engine.execution import Execution, Row, row_key, row_text
from clew.explain.explainer import Explainer, Lineage
from clew.explain.explanation import Explanation
from clew.explain.lineage_graph import LineageGraph
from clew.explain.overview import Overview, overview
from clew.explain.why import Support
from clew.explain.without import Account
from clew.faults import KINDS, FailureSpec, Fault, FaultSet
from clew.names import show
from clew.report.diagrams.lamport import lamport_of
from clew.report.diagrams.lamport_svg import diagram_svg
from clew.report.lineage.marks import lineage_marks
from clew.report.lineage.svg import lineage_svg
from clew.report.text.commands import replay_command
from clew.report.verdict.combined_losses import summary_lines
from clew.report.verdict.wording import (
    account_lead,
    meaning,
    not_needed,
    outcome_text,
    same_but_for_time,
    step_text,
    story,
    support_words,
    why_lead,
)

#: A table with more distinct rows than this is cut off: the file has to stay small enough to open.
MOST_ROWS = 20_000


@dataclass(frozen=True)
class ShownRun:
    """A run with its name; ``beside``: whether the failure-free picture beside it marks what its faults hit."""

    name: str
    run: Execution
    whys: tuple[Explanation, ...] = ()
    beside: bool = False


def page_data(
    shown: Sequence[ShownRun], first: int, lineages: Sequence[Lineage], explainer: Explainer, files: Sequence[str]
) -> dict[str, Any]:
    """Return the data: ``shown[0]`` is the failure-free run, ``first`` the one that is selected at first."""
    base = shown[0].run
    tables = _Tables([s.run for s in shown])
    drawn = [_Drawn(lineage, explainer) for lineage in lineages]
    return {
        "first": first,
        "last": base.spec.eot,
        "nodes": list(base.spec.nodes),
        "names": [show(node) for node in base.spec.nodes],
        "rows": tables.rows(),
        "cutOff": tables.cut_off,
        "graphs": [graph.data() for graph in drawn],
        "runs": [
            _run(s, base, drawn, files, explainer.deadline) | {"rows": tables.differences(s.run)} for s in shown
        ],
    }


def _run(
    shown: ShownRun, base: Execution, drawn: Sequence[_Drawn], files: Sequence[str], deadline: Deadline
) -> dict[str, Any]:
    # Only Ctrl-C: runs that were chosen are drawn even when the time is over.
    deadline.check_interrupt()
    run = shown.run
    without = lamport_of(base, run.faults)
    within = lamport_of(run)
    # The executions of a search are shown without it: there can be hundreds.
    left = None
    if shown.beside:
        left = diagram_svg(without, title="The failure-free run", beside=within)
    return {
        "name": shown.name,
        "faults": [{"words": f.sentence, "code": str(f)} for f in run.faults],
        "together": summary_lines(run.faults, run.messages),
        "violated": [str(v) for v in run.violations],
        "meaning": meaning(run),
        "replay": replay_command(run.faults, run.spec, files, run.program),
        "left": left,
        "right": diagram_svg(within, title=shown.name, beside=without),
        "whys": [why_data(row, run) for row in shown.whys],
        "marks": [graph.marks(run) for graph in drawn],
    }


# -- lineage -----------------------------------------------------------------------------------------------------


class _Drawn:
    """A lineage as the page shows it, with the boxes into which its goals are put."""

    def __init__(self, lineage: Lineage, explainer: Explainer) -> None:
        self._lineage = lineage
        self._rules = explainer.program.rules
        self._spec = explainer.spec
        self._whole = overview(lineage.whole, self._rules)
        self._focused = self._whole if lineage.all_needed else overview(lineage.focused, self._rules)

    def data(self) -> dict[str, Any]:
        whole = self._lineage.whole
        outcome = whole.goals[0].label
        notes = []
        if self._lineage.untouchable:
            notes.append(_untouchable(self._spec))
        if whole.truncated:
            notes.append(f"The lineage is larger than this: only {len(whole.goals)} goals are drawn.")
        title = f"Lineage of {outcome}"
        return {
            "row": outcome,
            "focused": None
            if self._lineage.all_needed
            else lineage_svg(self._lineage.focused, self._focused, self._rules, title=title),
            "whole": lineage_svg(whole, self._whole, self._rules, title=title),
            "note": " ".join(notes),
        }

    def marks(self, run: Execution) -> dict[str, dict[str, list[int]]]:
        """Return what the faults of a run cut, and what no longer is as it was."""
        whole = _marks(self._lineage.whole, self._whole, run)
        focused = whole if self._lineage.all_needed else _marks(self._lineage.focused, self._focused, run)
        return {"focused": focused, "whole": whole}


def _untouchable(spec: FailureSpec) -> str:
    """Say that no fault breaks an outcome, of those faults that were looked at."""
    faults = " and ".join(filter(None, (kind.none_of(spec) for kind in KINDS)))
    others = [kind.overlooked(spec) for kind in KINDS]
    said = f"{faults[0].upper()}{faults[1:]} can touch this outcome within EOT {spec.eot}."
    return " ".join(filter(None, (said, *others)))


def _marks(graph: LineageGraph, seen: Overview, run: Execution) -> dict[str, list[int]]:
    marks = lineage_marks(graph, seen, run)
    return {kind: sorted(getattr(marks, kind)) for kind in ("cut", "gone", "boxes", "joints")}


# -- tables ------------------------------------------------------------------------------------------------------


class _Tables:
    """The distinct rows of all runs, and at which times each run has them."""

    def __init__(self, runs: Sequence[Execution]) -> None:
        # The first column of most relations is where the row is; the page filters by it.
        self._nodes = set(runs[0].spec.nodes)
        found: dict[tuple[str, Row], None] = {}
        # By identity: to compare executions would be to compare their tables.
        self._times = {id(run): _times(run) for run in runs}
        for run in runs:
            found.update(dict.fromkeys(self._times[id(run)]))
        ordered = sorted(found, key=lambda item: (item[0], row_key(item[1])))
        self._rows = ordered[:MOST_ROWS]
        self._base = self._times[id(runs[0])]
        left_out = len(ordered) - len(self._rows)
        self.cut_off = f"{left_out} further rows are left out of this page" if left_out else ""

    def rows(self) -> list[list[Any]]:
        """Return relation, node (None if the first column is none), row, and the times in the failure-free run."""
        return [
            [
                relation,
                row[0] if row[0] in self._nodes else None,
                row_text(row),
                self._base.get((relation, row), ""),
            ]
            for relation, row in self._rows
        ]

    def differences(self, run: Execution) -> dict[int, str]:
        """Return by the number of the row its times in this run, where they are others."""
        times = self._times[id(run)]
        return {
            number: times.get(key, "")
            for number, key in enumerate(self._rows)
            if times.get(key, "") != self._base.get(key, "")
        }


def _times(run: Execution) -> dict[tuple[str, Row], str]:
    """Return for every row the times at which it is there, like ``1-4,7``."""
    found: dict[tuple[str, Row], list[int]] = {}
    hidden = run.program.helpers if run.program else frozenset()
    for relation, by_time in run.tables.items():
        if relation in hidden:
            continue
        for time, rows in enumerate(by_time, start=1):
            for row in rows:
                found.setdefault((relation, row), []).append(time)
    return {key: ",".join(_ranges(times)) for key, times in found.items()}


def _ranges(times: Sequence[int]) -> Iterator[str]:
    first = last = times[0]
    for time in [*times[1:], None]:
        if time == last + 1:
            last = time
            continue
        yield str(first) if first == last else f"{first}-{last}"
        if time is not None:
            first = last = time


def why_data(row: Explanation, run: Execution) -> dict[str, Any]:
    """Return what the page says about one violated row."""
    assert row.why is not None, "a page has room for supports"
    return {
        "row": str(row.violation),
        "lead": f"Why {row.violation}: {account_lead(row.account)}",
        "without": list(_without(row.account)),
        "arose": _arose(row, run.spec.eot),
        "kept": _sentence(why_lead(row.why)) if row.why.supports else "",
        "supports": [_support(support, run.faults, run.spec.eot) for support in row.why.supports],
        "more": "There are more supports than are listed here; all are cut." if row.why.more else "",
    }


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]


def _without(account: Account) -> Iterator[tuple[str, list[str], str]]:
    """Return for each fault its heading, what happens without it, and to what that leads."""
    spare = [str(line.fault) for line in account.without if not line.needed]
    if spare:
        yield f"without {', '.join(spare)}", [], not_needed(len(spare))
    for line in account.without:
        if line.needed:
            steps = [step_text(step, line.fault) for step in line.steps]
            yield f"{'and ' if spare else ''}without {line.fault}", steps, outcome_text(line)


def _arose(row: Explanation, eot: int) -> list[tuple[int, list[str]]]:
    """Return by time what happened in the failing run; empty where something was only lost."""
    return [(t, [text for _, text in told]) for t, told in groupby(story(row, eot), key=lambda told: told[0])]


def _support(support: Support, faults: FaultSet, eot: int) -> dict[str, Any]:
    return {
        "needs": [[words, cut] for words, cut in support_words(support, faults, eot)],
        "falsifier": [[text, kind] for text, kind in _falsifier(support)],
    }


def _falsifier(support: Support) -> Iterator[tuple[str, str]]:
    """List faults with what became of them; crashes of one node at times in a row are written as a range."""
    kinds: list[tuple[Fault, str]] = [
        (f, "happened" if f in support.cut_by else "possible") for f in support.falsifier
    ]
    kinds += [(f, "beyond") for f in support.out_of_reach]
    # Faults of messages keep the order in which the messages are told.
    kinds.sort(key=lambda item: () if item[0].message else (1, same_but_for_time(item[0])))
    rows: list[list[tuple[Fault, str]]] = []
    for fault, kind in kinds:
        if rows and _goes_on(rows[-1][-1], fault, kind):
            rows[-1].append((fault, kind))
        else:
            rows.append([(fault, kind)])
    for row in rows:
        if len(row) > 2:
            yield f"{row[0][0]}…{row[-1][0]}", row[0][1]
        else:
            yield from ((str(fault), kind) for fault, kind in row)


def _goes_on(before: tuple[Fault, str], fault: Fault, kind: str) -> bool:
    earlier, earlier_kind = before
    return (
        fault.message is None
        and same_but_for_time(earlier) == same_but_for_time(fault)
        and earlier.time + 1 == fault.time
        and earlier_kind == kind != "happened"
    )
