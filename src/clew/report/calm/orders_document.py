"""Random orders against the verdict, as JSON; ``docs/calm.md`` says what the fields are.

Rows are text, written as the terminal shows them: Bloom has values, such as sets and bytes, that JSON has not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clew.analysis.calm.trying.orders import Pair, Trial
from clew.analysis.calm.trying.runs import Delivery
from clew.report.calm.orders_text import event_text, show_row


def trials_document(trials: Sequence[Trial]) -> list[dict[str, Any]]:
    """Return what came of trying each group of outputs."""
    return [
        {
            "outputs": [output.name for output in trial.outputs],
            "steps_given": trial.steps_given,
            "orders": trial.tried.orders,
            "left_out": trial.tried.left_out,
            "contradicts": trial.contradicts,
            "pair": None if trial.tried.pair is None else _pair(trial.tried.pair),
        }
        for trial in trials
    ]


def _pair(pair: Pair) -> dict[str, Any]:
    difference = pair.difference
    return {
        "seed": pair.seed,
        "given": [
            {"node": g.node, "step": g.step, "collection": g.collection, "row": show_row(g.row)}
            for g in pair.workload.inputs
        ],
        "in_time": [_delivery(one) for one in pair.prompt_run.deliveries],
        "late": [event_text(event, by) for event, by in pair.late.items()],
        "if_late": [_delivery(one) for one in pair.late_run.deliveries],
        "difference": {
            "node": difference.node,
            "collection": difference.collection,
            "step": difference.step,
            "only_in_time": [show_row(row) for row in difference.only_first],
            "only_if_late": [show_row(row) for row in difference.only_second],
        },
    }


def _delivery(one: Delivery) -> dict[str, Any]:
    return {"node": one.node, "step": one.step, "collection": one.channel, "row": show_row(one.row)}
