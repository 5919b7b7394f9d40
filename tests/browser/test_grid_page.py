"""The page of a grid in a real browser: in light and dark, on paper, and on a narrow screen."""

from __future__ import annotations

from pathlib import Path

import pytest

import clew
from browser.driving import Page
from command import ROOT

#: The contrast of each cell of a map between its text and what is painted below it, as WCAG computes it.
CONTRAST = """((cells) => {
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const channels = (colour) => {
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map(v => {
      const s = v / 255;
      return s <= 0.04045 ? s / 12.92 : Math.pow((s + 0.055) / 1.055, 2.4);
    });
  };
  const light = (colour) => channels(colour).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  return cells.map(cell => {
    const style = getComputedStyle(cell);
    const [a, b] = [light(style.color), light(style.backgroundColor)].sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05);
  });
})([...document.querySelectorAll('.map td')])"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("grid") / "grid.html"
    axes = {"eot": [2, 4], "eff": [0, 2], "crashes": [0, 1, 9]}
    clew.write_report(clew.check_grid(ROOT / "examples" / "simple-deliv.ded", axes), made)
    return made


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_can_be_read_in_either_theme(browser: Page, page: Path, theme: str) -> None:
    browser.set_theme("dark" if theme == "dark" else "light")
    browser.open(page)
    assert (browser.requests(), browser.console_errors()) == ([], [])
    contrasts = browser.evaluate(CONTRAST)
    assert len(contrasts) == 12
    assert min(contrasts) >= 4.5
    # The kinds of cells look different, and say it in words.
    colours = (
        "new Set([...document.querySelectorAll('.map td')].map(c => getComputedStyle(c).backgroundColor)).size"
    )
    assert browser.evaluate(colours) == 3
    words = browser.evaluate("[...document.querySelectorAll('.map td')].map(c => c.innerText.trim())")
    assert {word.split()[0] for word in words} == {"✗", "✓", "–"}


def test_what_is_wide_scrolls_and_the_page_does_not(browser: Page, page: Path) -> None:
    browser.resize(420, 800)
    browser.open(page)
    assert browser.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    browser.press("Tab")
    assert browser.focused().startswith("a")


def test_it_prints_all_of_it(browser: Page, page: Path) -> None:
    browser.set_print(True)
    browser.open(page)
    assert browser.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert len(browser.all("table.map")) == 2
    assert len(browser.all("section:nth-of-type(2) tbody tr")) == 12
