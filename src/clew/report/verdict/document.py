"""A verdict as one JSON object; ``docs/json.md`` documents every field, ``docs/verdict.schema.json`` its shape.

``clew.report.replay.reading`` reads it back.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from clew.faults import FIRST_KINDS, KINDS, fault_columns
from clew.program.assertions import PRE
from clew.report.text.json_text import escape_surrogates
from clew.report.text.rules import clause_text
from clew.report.verdict.duration_text import duration_fields

if TYPE_CHECKING:  # whoever only asks what the document calls itself needs no solver
    from clew.checker.answers import PromiseAnswer
    from clew.checker.result import Verdict
    from clew.checker.survey.coverage import RuleCoverage
    from clew.checker.survey.promises import Promise
    from clew.errors import Position
    from clew.faults import FaultSet
    from clew.program.ir import Program
    from clew.search.verdict import Counterexample
    from clew.violation import Violation

#: What the document calls itself, and the version of its shape; readers refuse what they do not know.
FORMAT, VERSION = "clew verdict", 2


def verdict_document(verdict: Verdict, files: Sequence[str] = ()) -> dict[str, Any]:
    """Return the document; ``files`` are those that were checked, as they were given."""
    spec = verdict.spec
    return {
        "format": FORMAT,
        "version": VERSION,
        "files": list(files),
        "verdict": verdict.answer.value,
        "strategy": verdict.strategy,
        "spec": {
            "nodes": list(spec.nodes),
            **spec.numbers,
            **param_fields(verdict.program),
        },
        # Only where it is true: documents without it stay what they were.
        **({"lasting": True} if verdict.lasting else {}),
        "counterexamples": [counterexample_fields(c) for c in verdict.counterexamples],
        "runs": verdict.runs,
        "combinations": verdict.combinations,
        # The only field that differs between two runs of the same check.
        "seconds": round(verdict.seconds, 3),
        "reason": verdict.reason,
        "vacuous": verdict.vacuous,
        "cautions": list(verdict.cautions),
        "remarks": list(verdict.remarks),
        "promises": [_promise(p) for p in verdict.survey.promises] if verdict.survey else [],
        # Only where there is more than 'pre' and 'post': documents of other programs stay what they were.
        **({"answers": [_promise_answer(a) for a in answers]} if (answers := verdict.promises) else {}),
        "coverage": [_rule_coverage(c) for c in verdict.survey.coverage] if verdict.survey else [],
        "warnings": [str(notice) for notice in verdict.notices],
        "sweep": [{"eot": s.eot, "eff": s.eff, "verdict": s.answer.value} for s in verdict.swept],
        "certified": {"eot": verdict.certified.eot, "eff": verdict.certified.eff} if verdict.certified else None,
        "candidates": [counterexample_fields(c) for c in verdict.candidates],
    }


def param_fields(program: Program | None) -> dict[str, Any]:
    """Return the params of a program, with whether they were set; nothing for one without."""
    if program is None or not program.params:
        return {}
    return {"params": [{"name": p.name, "value": p.value, "set": p.given} for p in program.params]}


def to_json(verdict: Verdict, files: Sequence[str] = ()) -> str:
    from decimal import Decimal  # a cold start should not pay for it

    document = verdict_document(verdict, files)
    # Python prints no integer of more than 4300 digits, which large bounds exceed; Decimal does.  A line break
    # occurs in no JSON string, so this line is the field and nothing else.
    text = json.dumps({**document, "combinations": 0}, indent=2, ensure_ascii=False)
    text = text.replace('\n  "combinations": 0,', f'\n  "combinations": {Decimal(verdict.combinations)},', 1)
    return escape_surrogates(text) + "\n"


def counterexample_fields(counterexample: Counterexample) -> dict[str, Any]:
    """Return a counterexample as JSON has it: its faults, what they violate, and how long that lasts."""
    violated = [violation_fields(v) for v in counterexample.violations]
    document = {**fault_fields(counterexample.faults), "violated": violated}
    if counterexample.duration is not None:
        document["duration"] = duration_fields(counterexample.duration)
    return document


def fault_fields(faults: FaultSet) -> dict[str, Any]:
    """Return faults by kind, as all documents about programs have them."""
    listed = {kind.kind.plural: [fault_columns(f) for f in faults.of_kind(kind)] for kind in KINDS}
    # Of the kinds beyond the first three those that happen: documents without them stay what they were.
    return {name: found for name, found in listed.items() if found or name in FIRST_KINDS}


def _promise_answer(answer: PromiseAnswer) -> dict[str, Any]:
    return {
        "relation": answer.assertion.relation,
        "post": answer.assertion.post,
        "answer": answer.standing.value,
        "counterexamples": list(answer.counterexamples),
        "reason": answer.reason,
    }


def _promise(promise: Promise) -> dict[str, Any]:
    return {
        "part": promise.part.value,
        "name": promise.name,
        "place": _place(promise.position),
        "applies": promise.applies.value,
        "follows_from_pre": promise.follows,
        **({} if promise.relation == PRE else {"relation": promise.relation}),
    }


def _rule_coverage(covered: RuleCoverage) -> dict[str, Any]:
    return {
        "rule": clause_text(covered.rule),
        "place": _place(covered.rule.position),
        "fires": covered.fires.value,
        "times": covered.times,
    }


def _place(position: Position | None) -> str | None:
    return None if position is None else str(position)


def violation_fields(violation: Violation) -> dict[str, Any]:
    """Return a violated row, as all documents about programs have it."""
    when = {} if violation.time is None else {"time": violation.time}
    return {"relation": violation.relation, "row": list(violation.row), **when}
