"""A verdict as one JSON object; ``docs/json.md`` documents every field."""

from __future__ import annotations

import json
from typing import Any

from clew.api import Verdict
from clew.search.verdict import Counterexample
from clew.violation import Violation


def verdict_document(verdict: Verdict) -> dict[str, Any]:
    spec = verdict.spec
    return {
        "verdict": verdict.answer.value,
        "strategy": verdict.strategy,
        "spec": {
            "nodes": list(spec.nodes),
            "eot": spec.eot,
            "eff": spec.eff,
            "crashes": spec.crashes,
            "delays": spec.delays,
        },
        "counterexamples": [_counterexample(c) for c in verdict.counterexamples],
        "runs": verdict.runs,
        "combinations": verdict.combinations,
        "seconds": round(verdict.seconds, 3),
        "reason": verdict.reason,
        "vacuous": verdict.vacuous,
        "warnings": [str(notice) for notice in verdict.notices],
        "sweep": [{"eot": s.eot, "eff": s.eff, "verdict": s.answer.value} for s in verdict.swept],
    }


def to_json(verdict: Verdict) -> str:
    return json.dumps(verdict_document(verdict), indent=2, ensure_ascii=False) + "\n"


def _counterexample(counterexample: Counterexample) -> dict[str, Any]:
    faults = counterexample.faults
    return {
        "losses": [[m.source, m.target, m.time] for m in faults.losses],
        "crashes": [[c.node, c.time] for c in faults.crashes],
        "delays": [[d.source, d.target, d.time, d.lag] for d in faults.delays],
        "violated": [_violation(v) for v in counterexample.violations],
    }


def _violation(violation: Violation) -> dict[str, Any]:
    return {"relation": violation.relation, "row": list(violation.row)}
