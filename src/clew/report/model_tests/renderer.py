"""Shows what ``clew.check_models`` returns: text, JSON, JUnit and the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from clew.faults import FailureSpec
from clew.files.python_names import split_name
from clew.injection.bounds import InjectionBounds
from clew.model_tests.model import ModelOutcome, Status
from clew.model_tests.result import ModelTests, ModelTestsAnswer
from clew.names import in_one_line
from clew.report.injected.words import bounds_fields
from clew.report.model_tests.words import (
    COUNTED,
    MARKS,
    answer_words,
    bounds_words,
    detail_lines,
    expected_words,
    show_command,
)
from clew.report.renderers import PageOptions
from clew.report.text.json_text import json_text as write_json
from clew.report.text.json_text import result_fields
from clew.report.text.plain import columns, pluralize

#: What the document calls itself, and the version of its shape.
FORMAT, VERSION = "clew test", 1

_HEADINGS = ("", "model", "expected", "got", "within")


def text(tests: ModelTests) -> str:
    """Return what the terminal shows: a table, what was passed over, and in the end the answer."""
    passed_over = [outcome for outcome in tests.outcomes if _is_passed_over(outcome)]
    shown = [outcome for outcome in tests.outcomes if not _is_passed_over(outcome)]
    lines = [*_table(shown)]
    if passed_over:
        lines.append(f"no expectation, and passed over ({len(passed_over)}; --all checks them, too):")
        lines += [f"  {outcome.model.name}" for outcome in passed_over]
    return "".join(f"{in_one_line(line)}\n" for line in [*lines, headline(tests)])


def headline(tests: ModelTests) -> str:
    """Return the answer in one line."""
    if tests.answer is ModelTestsAnswer.AS_EXPECTED:
        return f"AS EXPECTED: {pluralize(len(tests.compared), 'model')}."
    counts = {words: len(tests.of_status(status)) for status, words in COUNTED.items()}
    told = ", ".join(f"{number} {words[number > 1]}" for words, number in counts.items() if number)
    return f"{tests.answer.value.upper()}: {tests.reason}{f' ({told})' if told else ''}."


def _is_passed_over(outcome: ModelOutcome) -> bool:
    return outcome.status is Status.NO_EXPECTATION and outcome.answer is None and outcome.reason is None


def _table(outcomes: Sequence[ModelOutcome]) -> Iterator[str]:
    rows = [_HEADINGS, *map(_cells, outcomes)]
    widths = [max(columns(row[k]) for row in rows) for k in range(len(_HEADINGS))]
    details: list[tuple[str, ...]] = [(), *(tuple(detail_lines(outcome)) for outcome in outcomes)]
    for row, below in zip(rows, details, strict=True):
        padded = (cell + " " * (width - columns(cell)) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(padded).rstrip()
        yield from (f"{' ' * widths[0]}  {in_one_line(line)}" for line in below)


def _cells(outcome: ModelOutcome) -> tuple[str, ...]:
    cells = (outcome.model.name, expected_words(outcome), answer_words(outcome), bounds_words(outcome))
    return (MARKS[outcome.status], *map(in_one_line, cells))


# -- for machines ------------------------------------------------------------------------------------------------


def json_text(tests: ModelTests) -> str:
    """Return what ``--json`` writes."""
    return write_json(tests_document(tests))


def tests_document(tests: ModelTests) -> dict[str, Any]:
    """Return tests as an object; ``docs/json.md`` documents its fields."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "files": list(tests.paths),
        **result_fields(tests),
        "models": [_model_fields(outcome) for outcome in tests.outcomes],
        "warnings": [str(notice) for notice in tests.notices],
    }


def _model_fields(outcome: ModelOutcome) -> dict[str, Any]:
    model, spec = outcome.model, outcome.spec
    expected = model.expectation
    return {
        "model": model.name,
        "kind": model.kind.value,
        "status": outcome.status.value,
        "expected": None if expected is None else {"verdict": expected.answer, "faults": expected.faults},
        "got": None if outcome.answer is None else {"verdict": outcome.answer, "faults": outcome.faults},
        "spec": None if spec is None else _spec_fields(spec),
        "seed": model.seed,
        "runs": outcome.runs,
        "reason": outcome.reason,
        "remedy": outcome.remedy,
        "command": show_command(model),
        "printed": outcome.printed,
    }


def _spec_fields(spec: FailureSpec | InjectionBounds) -> dict[str, Any]:
    if isinstance(spec, InjectionBounds):
        return bounds_fields(spec)
    return {"nodes": list(spec.nodes), **spec.numbers}


#: What CI systems make of a status.
_CASES = {
    Status.AS_EXPECTED: "",
    Status.DIFFERS: "failure",
    Status.FAILED: "failure",
    Status.INCOMPLETE: "error",
    Status.BROKEN: "error",
    Status.NO_EXPECTATION: "skipped",
}


def junit(tests: ModelTests) -> str:
    """Return what ``--junit`` writes: a case for each model."""
    from clew.report.text.junit import Case, junit_xml

    cases = []
    for outcome in tests.outcomes:
        file, name = split_name(outcome.model.name)
        got = answer_words(outcome) or "not checked"
        message = f"expected {expected_words(outcome)}; got {got}"
        if outcome.status is Status.NO_EXPECTATION:
            message = "no expectation" + (f": {got}" if outcome.answer else "")
        told = [message, bounds_words(outcome), *detail_lines(outcome), outcome.printed]
        shown = "".join(f"{line}\n" for line in told if line)
        status = outcome.status
        cases.append(Case(file, name or "model", _CASES[status], message, shown, status.value))
    return junit_xml(cases, tests.notices)


def page(tests: ModelTests, options: PageOptions) -> str:
    """Return what ``--report`` writes: the table, with what to do about each model that is not as expected."""
    from importlib.metadata import version

    from markupsafe import Markup

    from clew.report.text.colours import COLOURS
    from clew.report.text.html import page_kind, page_part, page_template, speakable

    return page_template("model_tests.html").render(
        kind=page_kind(tests),
        answer=tests.answer.value.upper(),
        name=speakable(" ".join(tests.paths)),
        summary=speakable(headline(tests).partition(": ")[2]),
        facts=[],
        cautions=[speakable(str(notice)) for notice in tests.notices],
        rows=[
            {
                "mark": MARKS[outcome.status],
                "kind": {"": "good", "skipped": ""}.get(_CASES[outcome.status], "bad"),
                "cells": [speakable(cell) for cell in _cells(outcome)[1:]],
                "details": [speakable(line) for line in detail_lines(outcome)],
                "printed": speakable(outcome.printed),
            }
            for outcome in tests.outcomes
        ],
        style=Markup("\n".join([COLOURS, page_part("page.css")])),
        version=version("clew"),
    )
