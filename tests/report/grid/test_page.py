"""The page of a grid: a map for each pair of values of the outer axes, and nothing of a program unescaped."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import clew
from clew.checker.grid.axes import Axis
from clew.checker.grid.result import GridResult, GridRow, Problem
from clew.errors import Notice
from clew.report.renderers import PageOptions, renderer_of

TELL = """\
//! nodes=1..n eot=3
param n = 3; param word = hello;
node(1, 2..n); node(X, Y)@next :- node(X, Y);
log(1, word); log(X, P)@next :- log(X, P);
log(Y, P)@async :- log(X, P), node(X, Y), start(X);
start(1);
missing(Y, P) :- log(X, P), node(X, Y), notin log(Y, P);
pre(X, P) :- log(X, P);
post(X, P) :- log(X, P), notin missing(_, P);
"""


def page(result: GridResult) -> str:
    return renderer_of(result).page(result, PageOptions())


def cells(text: str) -> list[str]:
    """The cells of all maps: the class and the words of each."""
    found = re.findall(r'<td class="(\w+)-cell( smallest)?" title="[^"]*"><span[^>]*>.</span> ([^<]*)</td>', text)
    return [f"{kind}{mark}: {words}" for kind, mark, words in found]


def tell(folder: Path, *axes: str, **values: object) -> GridResult:
    file = folder / "tell.ded"
    file.write_text(TELL, encoding="utf-8")
    return clew.check_grid(file, {name: values[name] for name in axes})  # type: ignore[misc]


def test_one_axis_is_one_line(tmp_path: Path) -> None:
    text = page(tell(tmp_path, "eff", eff=[0, 1, 2, 3]))
    assert cells(text) == ["certified: certified, beware"] * 2 + [
        "counterexample smallest: 1 fault",
        "counterexample: 1 fault",
    ]
    assert text.count('<table class="map">') == 1 and "<caption>" not in text


def test_the_last_two_axes_make_a_map_for_each_value_of_the_others(tmp_path: Path) -> None:
    found = tell(tmp_path, "word", "n", "eff", word=["a", "b c"], n=[1, 2], eff=[0, 2])
    text = page(found)
    assert re.findall("<caption>(.*)</caption>", text) == ["word=a", "word=b c"]
    one = ["invalid: invalid"] * 2 + ["certified: certified, beware", "counterexample smallest: 1 fault"]
    assert cells(text) == one * 2
    assert text.count('scope="row"') == 4
    # The table has every setting, with those that break first, and a command for each of them.
    rows = re.findall(r'<tr class="(\w+)-row( smallest)?">', text)
    assert rows == [("counterexample", " smallest")] * 2 + [
        *[("invalid", "")] * 2,
        ("certified", ""),
        *[("invalid", "")] * 2,
        ("certified", ""),
    ]
    assert text.count("counterexample (smallest)</td>") == 2
    assert "--set &#39;word=&#34;b c&#34;&#39; --set n=2 --eff 2" in text


def test_what_comes_from_a_program_is_escaped_everywhere() -> None:
    evil = "<script>alert(1)</script>\x1b[31m"
    axes = (Axis("word", (evil, "b"), True), Axis("n", (1,), True))
    problem = Problem(evil, remedy=evil)
    rows = tuple(GridRow((("word", word), ("n", 1)), problem=problem) for word in axes[0].values)
    result = GridResult(axes, rows, {"x": evil}, files=(evil,))
    text = page(result)
    assert "<script" not in text and "\x1b" not in text
    assert "\x1b" not in str(result) and "\x1b" not in renderer_of(result).junit(result)
    assert Notice(evil) not in result.notices


def test_colour_is_not_all_that_tells_verdicts_apart(tmp_path: Path) -> None:
    """Each has a sign and a word, in the map and in the legend; both themes have their own colours."""
    text = page(tell(tmp_path, "n", "eff", n=[1, 2], eff=[0, 2]))
    legend = re.findall(r'<span class="swatch (\w+)-cell" aria-hidden="true">(.)</span> (\w+)', text)
    assert legend == [
        ("counterexample", "✗", "counterexample"),
        ("certified", "✓", "certified"),
        ("invalid", "–", "invalid"),
    ]
    assert "prefers-color-scheme:dark" in text
    assert re.findall(r"\.(\w+)-cell\{background:([^}]*)\}", text) != []
    assert "#" not in "".join(re.findall(r"-cell\{background:([^}]*)\}", text))


def test_a_certificate_that_means_little_is_marked(tmp_path: Path) -> None:
    found = tell(tmp_path, "eff", eff=[0])
    assert "certified, beware" in str(found)
    assert "Beware, with eff=0: these bounds allow no fault at all" in str(found)
    assert "these bounds allow no fault at all" in page(found)
    row = found.rows[0]
    assert row.verdict is not None
    strong = replace(found, rows=(replace(row, verdict=replace(row.verdict, cautions=())),))
    assert "beware" not in str(strong).lower()
