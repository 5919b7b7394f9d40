"""The page of coverage in a real browser: it loads nothing, what never fired is seen, and names are only text."""

from __future__ import annotations

from pathlib import Path

import pytest

import clew
from browser.driving import Page
from clew.bloom.tracing.counters import CollectionCounts, RuleCounts
from clew.bloom.tracing.record_lines import RecordLine
from clew.coverage.result import BloomCoverage, CollectionCoverage, RuleCoverage
from clew.errors import Position


def _rule(
    line: int, firings: int, *, text: str = "self.kept <= self.put", invariant: bool = False
) -> RuleCoverage:
    counts = RuleCounts(firings, firings, firings // 2, 7 * firings)
    place = f"Store.keep, line {line}"
    return RuleCoverage(place, Position("store.py", line, 9), text, "kept", "<=", invariant, line == 20, counts)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("cover") / "cover.html"
    hostile = 'self.x <= self.y(lambda r: ("<script>document.title = 1</script>", "<b>"))'
    coverage = BloomCoverage(
        "store.py:Store",
        "Store",
        ("pytest", "<i>"),
        0,
        *(2, 3, 40),
        (_rule(10, 40), _rule(12, 0), _rule(20, 10, text=hostile), _rule(30, 0, invariant=True)),
        (CollectionCoverage("kept", "table", True, CollectionCounts(50, 9)),),
        records=(RecordLine(1.5, "a", 1, "Store.keep, line 10", "kept", "<=", ("'<b>'",), None),),
    )
    clew.write_report(coverage, made)
    return made


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_shows_every_rule_and_loads_nothing(browser: Page, page: Path, theme: str) -> None:
    browser.set_theme("dark" if theme == "dark" else "light")
    browser.open(page)
    assert (browser.requests(), browser.console_errors()) == ([], [])
    rows = "[...document.querySelectorAll('main section:first-child tbody tr')]"
    cells = rows + ".map(row => row.innerText.split(/\\s+/)[0])"
    assert browser.evaluate(cells) == ["40", "0", "10"]
    assert browser.evaluate("[...document.querySelectorAll('tr.dead .never')].map(e => e.innerText)") == [
        "never fired"
    ]
    widths = "[...document.querySelectorAll('.share rect')].map(r => r.getBoundingClientRect().width)"
    assert browser.evaluate(widths) == [100, 0, 25]
    # What never fired does not look like the rest.
    colours = "new Set([...document.querySelectorAll('tbody .count')].map(c => getComputedStyle(c).color)).size"
    assert browser.evaluate(colours) == 2
    headings = browser.evaluate("[...document.querySelectorAll('h2')].map(h => h.innerText)")
    assert headings == ["Rules", "Invariants", "Collections", "Trace"]


def test_what_comes_from_the_program_is_text(browser: Page, page: Path) -> None:
    browser.open(page)
    assert browser.evaluate("document.querySelectorAll('script, b, i').length") == 0
    assert "<script>document.title = 1</script>" in browser.evaluate("document.body.innerText")
    assert browser.evaluate("document.title") == "COUNTED: store.py:Store"


def test_what_is_wide_scrolls_and_the_page_does_not(browser: Page, page: Path) -> None:
    browser.resize(420, 800)
    browser.open(page)
    assert browser.evaluate("document.documentElement.scrollWidth") <= 420
