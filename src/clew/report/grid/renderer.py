"""Shows what ``clew.check_grid`` returns: text, JSON, JUnit and the page."""

from __future__ import annotations

from clew.checker.grid.result import GridResult, GridRow, RowAnswer
from clew.report.grid.document import grid_document
from clew.report.grid.text import grid_text, is_breaking, row_command, table_cells
from clew.report.renderers import PageOptions
from clew.report.text.json_text import json_text as write_json
from clew.report.text.junit import Case, junit_xml

#: What CI systems make of an answer: a setting that could not be checked is no failure, and no pass either.
_KINDS = {RowAnswer.CERTIFIED: "", RowAnswer.COUNTEREXAMPLE: "failure"}


def text(result: GridResult) -> str:
    """Return what the terminal shows."""
    return grid_text(result)


def json_text(result: GridResult) -> str:
    """Return what ``--json`` writes."""
    return write_json(grid_document(result))


def junit(result: GridResult) -> str:
    """Return what ``--junit`` writes: a case for each setting, in the order of the table."""
    return junit_xml([_case(result, row) for row in result.ordered], result.notices)


def _case(result: GridResult, row: GridRow) -> Case:
    *_, told = table_cells(row, swept=False)
    lines = [f"{row.words}: {row.answer.value}", *([f"  {told}"] if told else [])]
    if is_breaking(row):
        lines.append(f"  see: {row_command(result, row)}")
    lines += [f"  Beware: {caution}." for caution in (row.verdict.cautions if row.verdict else ())]
    kind = _KINDS.get(row.answer, "error")
    group = " + ".join(result.files) or "program"
    return Case(group, row.words, kind, told, "\n".join(lines) + "\n", row.answer.value)


def page(result: GridResult, options: PageOptions) -> str:
    """Return what ``--report`` writes."""
    from clew.report.grid.page import grid_page

    return grid_page(result)
