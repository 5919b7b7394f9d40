"""A grid as a page: maps of the verdicts over two axes at a time, the table, and the commands.

It has no script and its policy admits none; what comes from the program is escaped.  A cell of a map says in a
word and a sign what its colour says, so that nobody has to see colours.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from itertools import product

from markupsafe import Markup

from clew.checker.grid.axes import GridSetting
from clew.checker.grid.result import GridResult, GridRow, RowAnswer
from clew.names import show
from clew.report.grid.text import (
    answer_words,
    cautions,
    fixed_words,
    has_sweeps,
    is_breaking,
    row_command,
    smallest_words,
    summary,
    table_cells,
    table_head,
)
from clew.report.text.colours import COLOURS
from clew.report.text.html import page_kind, page_part, page_template, speakable

_SIGNS = {
    RowAnswer.COUNTEREXAMPLE: "✗",
    RowAnswer.CERTIFIED: "✓",
    RowAnswer.INCOMPLETE: "?",
    RowAnswer.INVALID: "–",
}


@dataclass(frozen=True)
class _Cell:
    kind: str
    sign: str
    words: str
    label: str
    smallest: bool


@dataclass(frozen=True)
class _MapRow:
    head: str
    cells: tuple[_Cell, ...]


@dataclass(frozen=True)
class _Map:
    """Two axes, at one combination of the others."""

    caption: str
    across: str
    down: str
    heads: tuple[str, ...]
    rows: tuple[_MapRow, ...]


@dataclass(frozen=True)
class _TableRow:
    kind: str
    cells: tuple[str, ...]
    smallest: bool


def grid_page(result: GridResult) -> str:
    """Return the whole HTML file."""
    smallest = {row.setting for row in result.smallest}
    swept = has_sweeps(result)
    fixed = fixed_words(result)
    return page_template("grid.html").render(
        kind=page_kind(result),
        answer=result.answer.value.upper(),
        name=speakable(" + ".join(result.files) or "program"),
        summary=speakable(summary(result)),
        facts=[("params", speakable(fixed))] if fixed else [],
        cautions=[speakable(str(notice)) for notice in result.notices]
        + [speakable(caution) for caution in cautions(result)],
        maps=list(_maps(result, smallest)),
        legend=[(answer.value, sign) for answer, sign in _SIGNS.items() if result.count(answer)],
        smallest=smallest_words(result) if smallest else "",
        verdict_column=len(result.axes),
        head=[speakable(title) for title in table_head(result)],
        rows=[
            _TableRow(
                row.answer.value,
                tuple(map(speakable, table_cells(row, swept=swept))),
                row.setting in smallest,
            )
            for row in result.ordered
        ],
        commands=[speakable(row_command(result, row)) for row in result.ordered if is_breaking(row)],
        style=Markup("\n".join([COLOURS, page_part("page.css"), page_part("grid.css")])),
        version=version("clew"),
    )


def _maps(result: GridResult, smallest: set[GridSetting]) -> Iterator[_Map]:
    """Yield a map for each combination of all axes but the last two; the last one goes across."""
    rows = {row.setting: row for row in result.rows}
    *outer, across = result.axes
    down = outer.pop() if outer else None
    for values in product(*(axis.values for axis in outer)):
        before = tuple(zip((axis.name for axis in outer), values, strict=True))
        lines = []
        for value in down.values if down else (None,):
            here = before if down is None or value is None else (*before, (down.name, value))
            found = [rows[*here, (across.name, other)] for other in across.values]
            cells = tuple(_cell(row, row.setting in smallest) for row in found)
            lines.append(_MapRow("" if value is None else speakable(show(value)), cells))
        yield _Map(
            speakable(GridRow(before).words),
            across.name,
            down.name if down else "",
            tuple(speakable(show(value)) for value in across.values),
            tuple(lines),
        )


def _cell(row: GridRow, smallest: bool) -> _Cell:
    words = answer_words(row)
    if row.verdict is not None and row.verdict.counterexamples:
        words = row.verdict.counterexamples[0].faults.count_text()
    label = f"{row.words}: {answer_words(row)}{', smallest' if smallest else ''}"
    return _Cell(row.answer.value, _SIGNS[row.answer], speakable(words), speakable(label), smallest)
