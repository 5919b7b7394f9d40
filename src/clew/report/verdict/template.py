"""One self-contained HTML file: no server, no network, opens from disk.

jinja2 escapes whatever comes from the program.  The page carries its own script and forbids every other by a
content security policy, so that even a mistake in escaping could not run anything.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

from markupsafe import Markup

from clew.program.ir import Program, Rule
from clew.report.diagrams import lamport_svg
from clew.report.lineage import boxes as lineage_boxes
from clew.report.text.colours import COLOURS
from clew.report.text.html import page_part, page_template, policy_hash
from clew.report.text.rules import clause_text


@dataclass(frozen=True)
class Choice:
    """A run that a button selects."""

    run: int
    label: str


@dataclass(frozen=True)
class MarginRow:
    """A line of the distance to failure."""

    row: str
    #: Empty where the line is about several rows.
    supports: str
    independent: str
    distance: str
    by_losses: str
    by_crashes: str


@dataclass(frozen=True)
class ExecutionRow:
    """An execution of the search."""

    number: int
    faults: str
    violated: str
    #: None where the page does not carry the execution; the command then shows it.
    run: int | None
    replay: str


@dataclass(frozen=True)
class Page:
    """Everything on the page besides ``data``, which its script shows."""

    kind: str
    answer: str
    name: str
    summary: str
    facts: Sequence[tuple[str, str]]
    cautions: Sequence[str]
    happens_title: str
    choices_label: str
    choices: Sequence[Choice]
    text: str
    program: Program
    data: dict[str, Any] = field(repr=False)
    margins: Sequence[MarginRow] = ()
    margins_lead: str = ""
    margins_note: str = ""
    executions: Sequence[ExecutionRow] = ()
    executions_lead: str = ""
    #: The names of the kinds of faults that happen in the runs, for the legend.
    fault_kinds: frozenset[str] = frozenset()


def render(page: Page) -> str:
    """Return the whole HTML file."""
    script = "".join(map(page_part, ("lineage.js", "page.js")))
    style = "\n".join([COLOURS, page_part("page.css"), lamport_svg.STYLE, lineage_boxes.STYLE])
    template = page_template("page.html")
    lines = _program_lines(page.program)
    values = {name: getattr(page, name) for name in page.__dataclass_fields__}
    return template.render(
        values
        | {
            "style": Markup(style),
            "script": Markup(script),
            "script_hash": Markup(policy_hash(script)),
            "data": Markup(_inside_script(page.data)),
            "program": "".join(f"{line}\n" for line in lines),
            "clauses": len(lines),
            "has_why": any(run["whys"] for run in page.data["runs"]),
            "has_lineage": bool(page.data["graphs"]),
            "version": version("clew"),
        }
    )


def _inside_script(data: dict[str, Any]) -> str:
    """Write JSON that cannot end the script element it stands in."""
    # Escapes that JSON knows, instead of entities, which a script element does not: the data are the same when
    # read.
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _program_lines(program: Program) -> list[str]:
    """List the clauses; a Bloom rule is one, also where it became several."""
    lines: list[str] = []
    for clause in program.clauses:
        text = clause_text(clause)
        # Rules that came of one Bloom rule follow each other and have its text.
        if not (isinstance(clause, Rule) and clause.text is not None and text in lines[-1:]):
            lines.append(text)
    return lines
