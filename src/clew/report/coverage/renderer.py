"""Shows what ``clew.coverage`` returns: text, JSON, JUnit and the page."""

from __future__ import annotations

from typing import Any

from clew.bloom.tracing.record_lines import RecordLine
from clew.coverage.result import BloomCoverage, CollectionCoverage, RuleCoverage
from clew.names import harmless, in_one_line
from clew.report.coverage.text import (
    COLLECTION_HEADINGS,
    RULE_HEADINGS,
    collection_cells,
    coverage_text,
    describe,
    headline,
    place_of,
    rule_cells,
    summary,
)
from clew.report.renderers import PageOptions
from clew.report.text.json_text import json_text as write_json
from clew.report.text.json_text import result_fields

#: What the document calls itself, and the version of its shape.
FORMAT, VERSION = "clew cover", 1


def text(coverage: BloomCoverage) -> str:
    """Return what the terminal shows."""
    return harmless(coverage_text(coverage))


# -- for machines ------------------------------------------------------------------------------------------------


def json_text(coverage: BloomCoverage) -> str:
    """Return what ``--json`` writes."""
    return write_json(coverage_document(coverage))


def coverage_document(coverage: BloomCoverage) -> dict[str, Any]:
    """Return coverage as an object; ``docs/results.schema.json`` is its schema."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "file": coverage.source,
        **result_fields(coverage),
        "program": coverage.program,
        "command": {"words": list(coverage.command), "exit_code": coverage.command_exit},
        "processes": coverage.processes,
        "nodes": coverage.nodes,
        "steps": coverage.steps,
        "percentage": round(coverage.percentage, 2),
        "fail_under": coverage.fail_under,
        "fail_on_dead": coverage.fail_on_dead,
        "rules": [_rule_fields(rule) for rule in coverage.rules],
        "invariants": [_rule_fields(rule) for rule in coverage.invariants],
        "collections": [_collection_fields(each) for each in coverage.collections],
        "trace": [_record_fields(record) for record in coverage.records],
        "warnings": [str(notice) for notice in coverage.notices],
    }


def _rule_fields(rule: RuleCoverage) -> dict[str, Any]:
    position, counts = rule.position, rule.counts
    return {
        "block": rule.place.partition(",")[0],
        "file": position.file if position else None,
        "line": position.line if position else None,
        "text": rule.text,
        "collection": rule.target,
        "operator": rule.operator,
        "rows": counts.firings,
        "steps": counts.steps,
        "messages": counts.messages if rule.is_sent else None,
        "bytes": counts.bytes if rule.is_sent else None,
    }


def _collection_fields(collection: CollectionCoverage) -> dict[str, Any]:
    return {
        "collection": collection.name,
        "kind": collection.kind,
        "rows": collection.counts.rows if collection.counts_rows else None,
        "most": collection.counts.most,
    }


def _record_fields(record: RecordLine) -> dict[str, Any]:
    return {**record._asdict(), "row": list(record.row)}


def junit(coverage: BloomCoverage) -> str:
    """Return what ``--junit`` writes: a case for the answer, and one for each rule."""
    from clew.report.text.junit import Case, junit_xml, result_case

    # Of the answer alone it depends whether a rule that never fired is a failure.
    dead = "failure" if coverage.fail_on_dead else "skipped"
    cases = [result_case(coverage, coverage.source, "coverage", headline(coverage), text(coverage))]
    for rule in coverage.rules:
        kind = "" if rule.has_fired else dead
        told = f"{describe(rule)}: {rule.counts.firings} rows in {rule.counts.steps} steps"
        cases.append(Case(coverage.source, in_one_line(describe(rule)), kind, "it never fired", told, "dead"))
    return junit_xml(cases, coverage.notices)


def page(coverage: BloomCoverage, options: PageOptions) -> str:
    """Return what ``--report`` writes: the tables, each rule with its share of what the busiest one did."""
    from importlib.metadata import version

    from markupsafe import Markup

    from clew.report.text.colours import COLOURS
    from clew.report.text.html import page_kind, page_part, page_template, speakable

    most = max((rule.counts.firings for rule in coverage.rules), default=0) or 1
    return page_template("coverage.html").render(
        kind=page_kind(coverage),
        answer=coverage.answer.value.upper(),
        name=speakable(coverage.source),
        summary=speakable(f"{summary(coverage)}."),
        facts=[
            ("command", speakable(" ".join(coverage.command))),
            *([("because", speakable(coverage.reason))] if coverage.reason else []),
        ],
        cautions=[speakable(str(notice)) for notice in coverage.notices],
        rule_headings=RULE_HEADINGS,
        rules=[_page_rule(rule, most) for rule in coverage.rules],
        invariants=[_page_rule(rule, most) for rule in coverage.invariants],
        collection_headings=COLLECTION_HEADINGS,
        collections=[[speakable(cell) for cell in collection_cells(each)] for each in coverage.collections],
        records=[speakable(str(record)) for record in coverage.records],
        style=Markup("\n".join([COLOURS, page_part("page.css"), page_part("coverage.css")])),
        version=version("clew"),
    )


def _page_rule(rule: RuleCoverage, most: int) -> dict[str, Any]:
    from clew.report.text.html import speakable

    return {
        "cells": rule_cells(rule)[:-1],
        "fired": rule.has_fired,
        "share": -(-100 * rule.counts.firings // most),
        "place": speakable(f"{place_of(rule.position)}{rule.place.partition(',')[0]}"),
        "text": speakable(rule.text),
    }
