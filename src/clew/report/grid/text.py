"""A grid for the terminal: a table with a line for each setting, and the commands that show those that break."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Any

from clew.checker.grid.result import GridResult, GridRow, RowAnswer
from clew.faults import KINDS, FailureSpec
from clew.names import in_one_line, show
from clew.node_lists import BareNumber, WrittenNode, write_node
from clew.report.text.commands import setting_word
from clew.report.text.plain import columns, pluralize, shorten
from clew.report.text.shell import file_words, shell_words
from clew.report.verdict.wording import brief

#: So much of a counterexample or of a reason fits; JSON and the page have all of it.
_LONGEST = 60
_WIDTH = 115

#: What the smallest breaking settings are marked with.
_MARK = "*"

#: How the options of a check are written on a command line; what is True is a flag without a value.
_FLAGS = {"find_all": "--all", "sweep_seconds": "--sweep"}


def grid_text(result: GridResult) -> str:
    """Return the answer, the table, and what to do next."""
    return "".join(f"{in_one_line(line)}\n" for line in _lines(result))


def _lines(result: GridResult) -> Iterator[str]:
    yield f"{result.answer.value.upper()}: {summary(result)}"
    if fixed := fixed_words(result):
        yield f"  with {fixed}"
    if result.smallest:
        yield f"  smallest: {', '.join(row.words for row in result.smallest)}"
    yield ""
    yield from _table(result)
    yield ""
    if result.smallest:
        yield f"{_MARK} {smallest_words(result)}."
        yield "To see one that breaks:"
        yield from (f"  {row_command(result, row)}" for row in result.ordered if is_breaking(row))
    for caution in cautions(result):
        yield from wrap(caution, _WIDTH, initial_indent="  ", subsequent_indent="    ", break_long_words=False)
    yield f"  {result.strategy} search, {pluralize(count_runs(result), 'execution')}"


def summary(result: GridResult) -> str:
    """Say how many settings have which answer, and within which bounds."""
    total = len(result.rows)
    broken, certified = result.count(RowAnswer.COUNTEREXAMPLE), result.count(RowAnswer.CERTIFIED)
    parts = (
        [f"{broken} of {pluralize(total, 'setting')} {'breaks' if broken == 1 else 'break'} it"] if broken else []
    )
    if certified == total:
        parts.append(f"no counterexample exists at any of {pluralize(total, 'setting')}")
    elif certified or not broken:
        parts.append(
            f"{certified}{'' if broken else f' of {total}'} {'is' if certified == 1 else 'are'} certified"
        )
    others = [(a, result.count(a)) for a in (RowAnswer.INCOMPLETE, RowAnswer.INVALID)]
    parts += [f"{n} {'is' if n == 1 else 'are'} {answer.value}" for answer, n in others if n]
    within = _common_bounds(result)
    return f"{', '.join(parts)}{f'; within {within}' if within else ''}."


def _common_bounds(result: GridResult) -> str:
    """Return the bounds that all settings have in common, and how many nodes there are."""
    specs = [row.verdict.spec for row in result.rows if row.verdict is not None]
    if not specs:
        return ""
    parts = [_common(f"EOT {spec.eot}" for spec in specs)]
    parts += [_common(kind.limit_words(spec) for spec in specs) for kind in KINDS]
    return ", ".join([*filter(None, parts), _nodes_words(specs)])


def _common(words: Iterator[str]) -> str:
    found = set(words)
    return found.pop() if len(found) == 1 else ""


def _nodes_words(specs: Sequence[FailureSpec]) -> str:
    if len({spec.nodes for spec in specs}) == 1:
        return f"nodes {', '.join(map(show, specs[0].nodes))}"
    fewest, most = (pick(len(spec.nodes) for spec in specs) for pick in (min, max))
    return f"{fewest} to {most} nodes" if fewest != most else pluralize(most, "node")


def fixed_words(result: GridResult) -> str:
    """Return the params that were set for all settings."""
    return ", ".join(f"{name}={show(value)}" for name, value in result.params.items())


def smallest_words(result: GridResult) -> str:
    """Say what is meant by the smallest settings."""
    if any(isinstance(value, str) for axis in result.axes for value in axis.values):
        return "smallest: none with the same strings breaks whose numbers are smaller, or as small"
    return "smallest: none breaks whose numbers are smaller, or as small"


def is_breaking(row: GridRow) -> bool:
    """Tell whether a setting has a counterexample."""
    return row.answer is RowAnswer.COUNTEREXAMPLE


def count_runs(result: GridResult) -> int:
    """Return how many executions were performed."""
    return sum(row.verdict.runs for row in result.rows if row.verdict is not None)


# -- the table ---------------------------------------------------------------------------------------------------


def table_head(result: GridResult) -> list[str]:
    """Return the titles of the columns."""
    swept = ["within"] if has_sweeps(result) else []
    return [
        *(axis.name for axis in result.axes),
        "verdict",
        *swept,
        "faults",
        "executions",
        "counterexample or reason",
    ]


def has_sweeps(result: GridResult) -> bool:
    """Tell whether settings found their own EOT."""
    return any(row.verdict is not None and row.verdict.swept for row in result.rows)


def table_cells(row: GridRow, *, swept: bool) -> list[str]:
    """Return what stands in the columns for one setting; the last is its counterexample, or why there is none."""
    verdict = row.verdict
    found = verdict.counterexamples[0].faults if verdict and verdict.counterexamples else None
    within = f"EOT {verdict.spec.eot}, EFF {verdict.spec.eff}" if verdict and verdict.swept else ""
    return [
        *(show(value) for _, value in row.setting),
        answer_words(row),
        *([within] if swept else []),
        "" if found is None else str(len(found.failures)),
        str(verdict.runs) if verdict else "",
        brief(found) if found is not None else row.why or "",
    ]


def answer_words(row: GridRow) -> str:
    """Return the answer of a setting; a certificate that means little does not look like others."""
    is_weak = row.verdict is not None and row.answer is RowAnswer.CERTIFIED and bool(row.verdict.cautions)
    return f"{row.answer.value}, beware" if is_weak else row.answer.value


def _table(result: GridResult) -> Iterator[str]:
    swept = has_sweeps(result)
    rows = [table_head(result), *(table_cells(row, swept=swept) for row in result.ordered)]
    for cells in rows:
        cells[-1] = shorten(in_one_line(cells[-1]), _LONGEST)
    widths = [max(columns(cells[place]) for cells in rows) for place in range(len(rows[0]))]
    smallest = len(result.smallest)
    for number, cells in enumerate(rows):
        mark = _MARK if 0 < number <= smallest else " "
        padded = (cell + " " * (width - columns(cell)) for cell, width in zip(cells, widths, strict=True))
        yield f"{mark} {'  '.join(padded)}".rstrip()


def cautions(result: GridResult) -> Iterator[str]:
    """Say what makes certificates mean little, each once, with the settings that it is about."""
    about: dict[str, list[GridRow]] = {}
    for row in result.ordered:
        for caution in row.verdict.cautions if row.verdict and not is_breaking(row) else ():
            about.setdefault(caution, []).append(row)
    for caution, rows in about.items():
        others = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
        yield f"Beware, with {rows[0].words}{others}: {caution}."


# -- commands ----------------------------------------------------------------------------------------------------


def row_command(result: GridResult, row: GridRow) -> str:
    """Return the command that checks one setting alone."""
    params = {axis.name for axis in result.axes if axis.is_param}
    settings = {**result.params, **{name: value for name, value in row.setting if name in params}}
    words = [word for name, value in settings.items() for word in ("--set", setting_word(name, value))]
    bounds = {name: value for name, value in row.setting if name not in params}
    return f"clew check {file_words(result.files)} {shell_words([*words, *_option_words(result.options, bounds)])}"


def _option_words(options: Mapping[str, Any], bounds: Mapping[str, Any]) -> Iterator[str]:
    for name, value in {**options, **bounds}.items():
        yield _FLAGS.get(name, f"--{name.replace('_', '-')}")
        if name == "nodes":
            yield ",".join(map(_node_word, value))
        elif value is not True:
            yield f"{value:g}" if isinstance(value, float) else str(value)


def _node_word(node: WrittenNode) -> str:
    return node.text if isinstance(node, BareNumber) else write_node(node, [node])
