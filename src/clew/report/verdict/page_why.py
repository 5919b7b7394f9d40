"""Why a run fails, as data of the page: what each fault does, how the violation arose, and the supports."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from clew.engine.execution import Execution
from clew.explain.explanation import Explanation
from clew.explain.why import Support
from clew.explain.without import Account
from clew.faults import Fault, FaultSet
from clew.report.verdict.step_wording import event_text, outcome_text, step_text, violated_text
from clew.report.verdict.wording import account_lead, not_needed, same_but_for_time, support_words, why_lead


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
    texts = [(event.time, event_text(event)) for event in row.events]
    if texts:
        texts.append((eot, violated_text(row.violation)))
    return [(time, [text for _, text in told]) for time, told in groupby(texts, key=lambda told: told[0])]


def _support(support: Support, faults: FaultSet, eot: int) -> dict[str, Any]:
    return {
        "needs": [[words, cut] for words, cut in support_words(support, faults, eot)],
        "falsifier": [[text, kind] for text, kind in _falsifier(support)],
    }


def _falsifier(support: Support) -> Iterator[tuple[str, str]]:
    """The faults with what became of them; crashes of one node at times in a row are written as a range."""
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
