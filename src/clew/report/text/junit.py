"""JUnit XML, the form in which CI systems show results: a suite of test cases.

A case passes only for the exit code 0.  What is incomplete is an error, not a failure: nothing is wrong with the
program as far as is known, and whoever reads the CI page must not take it for a pass either.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from xml.etree import ElementTree

from clew.errors import Notice
from clew.report.text.html import speakable
from clew.results import HOLDS, VIOLATED, Result


@dataclass(frozen=True)
class Case:
    """A test case: ``kind`` is "" if it passed, or "failure", "error" or "skipped", with a ``message``."""

    group: str
    name: str
    kind: str = ""
    message: str = ""
    text: str = ""
    answer: str = ""


def result_case(result: Result, group: str, name: str, message: str, text: str) -> Case:
    """Return the one case that a result comes to; ``message`` is shown where it did not pass."""
    kind = {HOLDS: "", VIOLATED: "failure"}.get(result.exit_code, "error")
    return Case(group, name, kind, message, text, result.answer.value)


def junit_xml(cases: Iterable[Case], notices: Iterable[Notice] = ()) -> str:
    """Return the whole document; it has no times, so that equal results give equal bytes."""
    root = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(root, "testsuite", name="clew")
    for case in cases:
        _add_case(suite, case)
    return finish_suite(root, suite, notices)


def finish_suite(
    root: ElementTree.Element, suite: ElementTree.Element, notices: Iterable[Notice], *, seconds: str = ""
) -> str:
    """Count the cases of a suite, add the notices, and write it."""
    shown = "\n".join(map(str, notices))
    if shown:
        ElementTree.SubElement(suite, "system-err").text = speakable(shown)
    elements = {"tests": "", "failures": "/failure", "errors": "/error", "skipped": "/skipped"}
    for attribute, path in elements.items():
        suite.set(attribute, str(len(suite.findall(f"testcase{path}"))))
    if seconds:
        suite.set("time", seconds)
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _add_case(suite: ElementTree.Element, case: Case) -> None:
    element = ElementTree.SubElement(suite, "testcase")
    element.set("classname", speakable(case.group or "clew"))
    element.set("name", speakable(case.name))
    if not case.kind:
        ElementTree.SubElement(element, "system-out").text = speakable(case.text)
    elif case.kind == "skipped":
        ElementTree.SubElement(element, "skipped", message=speakable(case.message))
    else:
        found = ElementTree.SubElement(element, case.kind, type=case.answer, message=speakable(case.message))
        found.text = speakable(case.text)
