"""The distance to failure as a table: what it takes to break any row, and each row, and what was not looked at."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from clew.engine.extremes import Cheapest
from clew.explain.distance import Distance, Undecided, Way
from clew.explain.explainer import Explainer, Margin
from clew.faults import KINDS, FailureSpec
from clew.report.text.plain import pluralize
from clew.report.verdict.template import MarginRow
from clew.report.verdict.wording import brief

#: Outcomes with a line of their own; the first line of the table is about all of them in any case.
MOST_MARGINS = 60

ANY_ROW = "any row"
ANY_OTHER_ROW = "any other row"


def distance_rows(explainer: Explainer) -> Iterator[MarginRow]:
    """Measure a certified program, what matters most first: time may be over after any line."""
    outcomes, distances = explainer.outcomes(), explainer.distances
    if not (outcomes or distances.rows):
        return  # nothing is promised in any run
    together = distances.together
    # It would take no fault outside the budget: the certificate would be false.
    if isinstance(together.cheapest, Cheapest) and together.cheapest.outside == 0:
        raise AssertionError(f"certified, and yet {together.cheapest.faults} fails")
    yield _group_row(ANY_ROW, together, explainer.spec)
    others = explainer.distance_of_others()
    if others:
        yield _group_row(ANY_OTHER_ROW, others, explainer.spec)
    yield from (_outcome_row(margin, explainer.spec) for margin in islice(explainer.margins(), MOST_MARGINS))


def distance_lead(spec: FailureSpec) -> str:
    """Say what the figures are about."""
    counted = [kind for kind in KINDS if kind.at_will]
    left_out = filter(None, (kind.beyond(spec) for kind in KINDS if not kind.at_will))
    return (
        "How many faults outside the budget it takes at least to break a row, on top of any number inside it. "
        f"Outside are {' and '.join(kind.beyond(spec) for kind in counted)}. This is about all runs within EOT "
        f"{spec.eot}, {' and '.join(kind.at_will for kind in counted)} in them; "
        f"{' and '.join(['longer runs', *left_out])} were not looked at."
    )


def distance_note(rows: list[MarginRow], outcomes: int) -> str:
    """Say what the table leaves open."""
    notes = []
    left = outcomes - sum(bool(row.supports) for row in rows)
    if left > 0:
        has = "outcome has" if left == 1 else "outcomes have"
        notes.append(f"{left} further {has} no line; the first line is about all.")
    if any(Undecided.UNDECIDED.value in (row.distance, row.by_losses, row.by_crashes) for row in rows):
        notes.append(
            "“not decided”: the solver was stopped before it found such faults, or a proof of their absence."
        )
    return " ".join(notes)


def _group_row(name: str, distance: Distance, spec: FailureSpec) -> MarginRow:
    return _row(name, "", "", distance, spec, tell_rows=True)


def _outcome_row(margin: Margin, spec: FailureSpec) -> MarginRow:
    supports = f"more than {margin.supports}" if margin.more else str(margin.supports)
    if not margin.needs_messages:
        independent = "needs no message"
    else:
        independent = f"{'' if margin.exact else 'at least '}{margin.independent}"
    return _row(str(margin.violation), supports, independent, margin.distance, spec, tell_rows=False)


def _row(
    name: str, supports: str, independent: str, distance: Distance, spec: FailureSpec, *, tell_rows: bool
) -> MarginRow:
    return MarginRow(
        name,
        supports,
        independent,
        _fewest(distance.cheapest),
        _losses_text(distance.by_losses, spec, tell_rows),
        _crashes_text(distance.by_crashes, spec, tell_rows),
    )


def _fewest(way: Way) -> str:
    match way:
        case None:
            return "none suffices"
        case Undecided():
            return way.value
        case Cheapest():
            return f"{'' if way.proven else 'at most '}{way.outside}"


def _losses_text(way: Way, spec: FailureSpec, tell_rows: bool) -> str:
    """Say how far EFF would have to be moved, and the faults that then do it."""
    match way:
        case None if spec.eff >= spec.eot:
            return "every loss is inside the budget"
        case None:
            return f"no, whatever their number within EOT {spec.eot}"
        case Undecided():
            return way.value
        case Cheapest():
            eff = max(loss.time for loss in way.faults.losses) + 1
            return f"EFF {eff}{'' if way.proven else ' or less'}: {_faults_text(way, tell_rows)}"


def _crashes_text(way: Way, spec: FailureSpec, tell_rows: bool) -> str:
    """Say how many crashes it would take, and the faults that then do it."""
    match way:
        case None if spec.crashes >= len(spec.nodes):
            return "every crash is inside the budget"
        case None:
            return f"no, whatever their number within EOT {spec.eot}"
        case Undecided():
            return way.value
        case Cheapest():
            crashes = pluralize(len(way.faults.crashes), "crash", "crashes")
            return f"{crashes}{'' if way.proven else ' or fewer'}: {_faults_text(way, tell_rows)}"


def _faults_text(way: Cheapest, tell_rows: bool) -> str:
    broken = f" break{'s' if len(way.faults) == 1 else ''} {way.violated[0]}" if tell_rows else ""
    return f"{brief(way.faults)}{broken}"
