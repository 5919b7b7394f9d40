"""Words for what became of a model: the same in the table, in JUnit and on the page."""

from __future__ import annotations

from collections.abc import Iterator

from clew.expectation import COUNTEREXAMPLE, describe
from clew.faults import KINDS
from clew.injection.bounds import InjectionBounds
from clew.model_tests.model import Kind, Model, ModelOutcome, Status
from clew.report.injected.words import bounds_text
from clew.report.text.plain import pluralize
from clew.report.text.shell import file_words, shell_words

#: The first column of the table.
MARKS = {
    Status.AS_EXPECTED: "ok",
    Status.DIFFERS: "DIFFERS",
    Status.INCOMPLETE: "INCOMPLETE",
    Status.FAILED: "FAILED",
    Status.BROKEN: "CLEW FAILED",
    Status.NO_EXPECTATION: "-",
}

#: How many there are of each, in the last line.
COUNTED = {
    Status.DIFFERS: ("differs", "differ"),
    Status.FAILED: ("failed", "failed"),
    Status.INCOMPLETE: ("is incomplete", "are incomplete"),
    Status.BROKEN: ("made Clew fail", "made Clew fail"),
}


def expected_words(outcome: ModelOutcome) -> str:
    """Say what a model expects; of a file that could not be loaded, nobody knows."""
    if outcome.model.expectation is not None:
        return str(outcome.model.expectation)
    return "no expectation" if outcome.status is Status.NO_EXPECTATION else "not known"


def answer_words(outcome: ModelOutcome) -> str:
    """Say what the check of a model came to."""
    if outcome.answer is not None:
        return describe(outcome.answer, outcome.faults)
    return "" if outcome.reason is None else "no answer"


def bounds_words(outcome: ModelOutcome) -> str:
    """Say for what an answer stands: the bounds of a check, or the executions of a scenario."""
    model, spec = outcome.model, outcome.spec
    if isinstance(spec, InjectionBounds):
        return bounds_text(spec)
    if spec is not None:
        parts = [f"EOT {spec.eot}", *filter(None, (kind.limit_words(spec) for kind in KINDS))]
        return ", ".join([*parts, pluralize(len(spec.nodes), "node")])
    if model.kind is not Kind.SCENARIO or model.seed is None or not outcome.runs:
        return ""
    if outcome.answer == "violation":
        return f"in the run with seed {model.seed + outcome.runs - 1}"
    return f"{pluralize(outcome.runs, 'run')} from seed {model.seed}"


def show_command(model: Model) -> str:
    """Return the command that shows what a model comes to."""
    name = file_words([model.name])
    if model.strategy is not None:
        how = "" if model.strategy == "lineage" else f" --strategy {model.strategy}"
        return f"clew check {name}{how}" + (f" --seed {model.seed}" if model.seed else "")
    if model.kind is Kind.SCENARIO:
        return f"clew fuzz {name} {shell_words(['--seed', str(model.seed), '--runs', str(model.runs)])}"
    return f"clew check {name}"


def detail_lines(outcome: ModelOutcome) -> Iterator[str]:
    """Yield what follows the line of a model that is not as expected: why, and what to do."""
    if outcome.status is Status.AS_EXPECTED:
        return
    if outcome.reason is not None:
        yield outcome.reason
    if outcome.remedy is not None:
        yield f"remedy: {outcome.remedy}"
    if outcome.status is Status.NO_EXPECTATION:
        if outcome.answer is not None:
            yield f"to expect that: {statement_of(outcome)}"
    else:
        yield f"see: {show_command(outcome.model)}"


def statement_of(outcome: ModelOutcome) -> str:
    """Return what a model would state to expect the answer that it has."""
    answer, faults = outcome.answer, outcome.faults
    if outcome.model.kind is Kind.DEDALUS:
        return f"//! expect={answer}" + (f" faults={faults}" if answer == COUNTEREXAMPLE else "")
    return f'expect="{answer}"' + (f", faults={faults}" if answer == COUNTEREXAMPLE else "")
