"""A verdict as JUnit XML, the form in which CI systems show results: one test case for each promise.

Without promises that a program states, it is one for each relation that must survive.

A case passes only when it is proven: the search ends at a counterexample, so the relations that it does not
violate are shown as skipped, not as passed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from xml.etree import ElementTree

from clew.checker.answers import PromiseAnswer, Standing
from clew.checker.result import Verdict
from clew.checker.survey.promises import Part
from clew.engine.conditions import Occurrence
from clew.errors import ProgramError
from clew.program.assertions import Assertion, is_never, is_pre, post_of
from clew.program.outcomes import stated_outcomes
from clew.report.text.html import speakable
from clew.report.text.junit import finish_suite
from clew.report.verdict.promise_text import standing_text
from clew.report.verdict.text import verdict_text
from clew.search.verdict import Answer


def junit_xml(verdict: Verdict, files: Sequence[str]) -> str:
    """Return the whole document; ``files`` are those that were checked, as they were given."""
    root = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(root, "testsuite", name="clew")
    for relation, name in _cases(verdict).items():
        case = ElementTree.SubElement(suite, "testcase")
        case.set("classname", speakable(" + ".join(files) or "program"))
        case.set("name", speakable(name))
        case.set("time", _seconds(verdict))
        _fill(case, relation, verdict, files)
    _add_empty_promises(suite, verdict, files)
    return finish_suite(root, suite, verdict.notices, seconds=_seconds(verdict))


def _cases(verdict: Verdict) -> dict[str, str]:
    """Name the test case for each relation whose rows are outcomes; there is always one."""
    try:
        stated = stated_outcomes(verdict.program) if verdict.program else ()
    except ProgramError:
        stated = ()  # the search ended before it looked at this
    violated = (v.relation for c in (*verdict.counterexamples, *verdict.candidates) for v in c.violations)
    return {r: _title(r) for r in (*stated, *violated)} or {"": "what must hold"}


def _title(relation: str) -> str:
    if is_never(relation) or is_pre(relation):
        return Assertion(relation, post_of(relation) if is_pre(relation) else None).title
    return f"{relation} survives"


def _add_empty_promises(suite: ElementTree.Element, verdict: Verdict, files: Sequence[str]) -> None:
    """Add a case, shown as skipped, for each part of a promise that was never asked for."""
    promises = verdict.survey.promises if verdict.survey and verdict.answer is not Answer.COUNTEREXAMPLE else ()
    for promise in promises:
        if promise.part in (Part.RULE, Part.TAG) and promise.applies is Occurrence.NEVER:
            place = f" at {promise.position.file}:{promise.position.line}" if promise.position else ""
            case = ElementTree.SubElement(suite, "testcase")
            case.set("classname", speakable(" + ".join(files) or "program"))
            whole = _title(promise.relation)
            case.set("name", speakable(f"{promise.part.value} {promise.name}{place} of {whole}"))
            case.set("time", _seconds(verdict))
            ElementTree.SubElement(case, "skipped", message="never applies within these bounds")


def _seconds(verdict: Verdict) -> str:
    return f"{verdict.seconds:.3f}"


def _fill(case: ElementTree.Element, relation: str, verdict: Verdict, files: Sequence[str]) -> None:
    answer = next((a for a in verdict.promises if a.assertion.relation == relation), None)
    if answer is not None and answer.standing is not Standing.VIOLATED:
        _fill_promise(case, answer, verdict, files)
        return
    match verdict.answer:
        case Answer.CERTIFIED:
            ElementTree.SubElement(case, "system-out").text = speakable(verdict_text(verdict, files))
        case Answer.INCOMPLETE:
            _add(case, "error", "incomplete", verdict.reason or "incomplete", verdict_text(verdict, files))
        case Answer.COUNTEREXAMPLE:
            _fill_counterexample(case, relation, verdict, files)


def _fill_promise(
    case: ElementTree.Element, answer: PromiseAnswer, verdict: Verdict, files: Sequence[str]
) -> None:
    """Tell how one of several promises stands that no counterexample violates."""
    if answer.standing is Standing.CERTIFIED:
        ElementTree.SubElement(case, "system-out").text = speakable(verdict_text(verdict, files))
        return
    message = speakable(standing_text(answer, len(verdict.counterexamples)))
    if verdict.answer is Answer.INCOMPLETE:
        _add(case, "error", "incomplete", message, verdict_text(verdict, files))
    else:
        ElementTree.SubElement(case, "skipped", message=message)


def _fill_counterexample(case: ElementTree.Element, relation: str, verdict: Verdict, files: Sequence[str]) -> None:
    found = [c for c in verdict.counterexamples if any(v.relation == relation for v in c.violations)]
    if not found:
        # Skipped, not passed: a search stops at the first counterexample, and says nothing of other relations.
        reason = "not decided: the search ended at a counterexample for another relation"
        ElementTree.SubElement(case, "skipped", message=reason)
        return
    rows = ", ".join(str(v) for v in found[0].violations if v.relation == relation)
    faults = ", ".join(fault.sentence for fault in found[0].faults) or "no fault is needed"
    # The answers for several promises are about all counterexamples, and refer to them by number.
    told = verdict if verdict.promises else replace(verdict, counterexamples=tuple(found))
    text = verdict_text(told, files)
    violated = "violated" if is_pre(relation) or is_never(relation) else "lost"
    _add(case, "failure", "counterexample", f"{violated}: {rows}; {faults}", text)


def _add(case: ElementTree.Element, element: str, kind: str, message: str, text: str) -> None:
    ElementTree.SubElement(case, element, type=kind, message=speakable(message)).text = speakable(text)
