"""The page of a simulated run in a real browser: by mouse and keyboard, in light and dark, and on paper."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from browser.driving import Page
from clew.minimization.searching.stages import Stage
from clew.report.simulated.page import run_page
from clew.simulation.execution.steps import Size
from clew.simulation.execution.trace import Execution
from simulated import HOSTILE, crash, drawn, everything, hostile

RUNS: dict[str, Callable[[], Execution]] = {
    "everything": everything,
    "crash": crash,
    "hostile": hostile,
    "drawn": lambda: drawn(5, steps=400),
}
SHOWN = "[...document.querySelectorAll('.event-told')].filter(e => e.offsetParent !== null).map(e => e.id)"
OVERLAPPING = """((texts) => {
  const boxes = texts.map(t => [t.textContent, t.getBoundingClientRect()]);
  const found = [];
  for (let i = 0; i < boxes.length; i++) for (let j = i + 1; j < boxes.length; j++) {
    const [s, a] = boxes[i], [t, b] = boxes[j];
    const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (wide > 1 && high > 3) found.push([s, t, wide, high]);
  }
  return found;
})([...document.querySelectorAll('#diagram svg text')])"""

Pages = Callable[[str], Path]


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Pages:
    """The page of a run; made once."""
    made: dict[str, Path] = {}

    def page(name: str) -> Path:
        if name not in made:
            made[name] = tmp_path_factory.mktemp("page") / "page.html"
            stages = [Stage("provenance", Size(900, 40), 1, 0.04), Stage("TFB", Size(8, 11), 1234, 12.34)]
            made[name].write_text(run_page(name, RUNS[name](), stages=stages), encoding="utf-8")
        return made[name]

    return page


def selected(browser: Page) -> list[str]:
    """What is marked in the diagram, and what is told beside it."""
    marked = "[...document.querySelectorAll('#diagram .selected')].map(e => e.dataset.event)"
    return sorted({f"e{number}" for number in browser.evaluate(marked)} | set(browser.evaluate(SHOWN)))


@pytest.mark.parametrize("name", list(RUNS))
def test_it_opens_without_network_and_without_complaint(browser: Page, pages: Pages, name: str) -> None:
    browser.open(pages(name))
    assert browser.requests() == []
    assert browser.console_errors() == []
    assert browser.evaluate("document.querySelector('#diagram svg').getBoundingClientRect().width") > 100
    assert browser.evaluate("document.documentElement.scrollWidth") <= 1366


def test_it_opens_at_the_event_that_breaks(browser: Page, pages: Pages) -> None:
    browser.open(pages("everything"))
    assert selected(browser) == ["e21"]
    assert browser.text("#where") == "21 of 21"
    assert browser.text("#e21 .broken-text") == "one pong at a: a has pongs from b and c."
    assert [cell.text for cell in browser.all("#e21 .changed td")] == [
        "pongs",
        "{'b': 'x'}",
        "{'b': 'x', 'c': 'xx'}",
    ]
    assert browser.text("#e21 ins") == ", 'c': 'xx'"


def test_an_event_is_selected_by_its_pill_its_arrow_and_its_label(browser: Page, pages: Pages) -> None:
    browser.open(pages("everything"))
    browser.click("#diagram a[data-event='8']")
    assert selected(browser) == ["e8"]
    assert browser.evaluate("location.hash") == "#e8"
    browser.click("#diagram text[data-event='9']")
    assert selected(browser) == ["e9"]
    # In the middle of an arrow, where nothing else is.
    browser.evaluate(
        "document.querySelector('#diagram .arrow[data-event=\"13\"] .grip')"
        ".dispatchEvent(new MouseEvent('click', {bubbles: true}))"
    )
    assert selected(browser) == ["e13"]
    browser.click("#e13 a[href='#e21']")
    assert selected(browser) == ["e21"]


@pytest.mark.parametrize("number", [4, 6, 9, 11, 12, 17, 20, 21])
def test_whatever_is_selected_has_a_ring(browser: Page, pages: Pages, number: int) -> None:
    browser.open(pages("everything"), f"e{number}")
    ring = "getComputedStyle(document.querySelector('#diagram a.selected rect')).stroke"
    # Messages from outside are blue already.
    assert browser.evaluate(ring) == ("rgb(27, 31, 36)" if number == 4 else "rgb(37, 99, 235)")


def test_an_event_is_found_by_its_address(browser: Page, pages: Pages) -> None:
    browser.open(pages("everything"), "e8")
    assert selected(browser) == ["e8"]


def test_arrow_keys_go_from_event_to_event(browser: Page, pages: Pages) -> None:
    browser.open(pages("everything"))
    browser.press("ArrowLeft")
    assert selected(browser) == ["e20"]
    browser.press("ArrowLeft", "ArrowRight", "ArrowRight", "ArrowRight")
    assert selected(browser) == ["e21"]
    # Up and down scroll the page, unless the diagram has the focus.
    browser.press("ArrowUp")
    assert selected(browser) == ["e21"]
    browser.evaluate("document.getElementById('diagram').focus()")
    browser.press("Home", "ArrowDown")
    assert selected(browser) == ["e2"]
    browser.press("End", "ArrowUp")
    assert selected(browser) == ["e20"]


def test_of_all_pills_the_selected_one_is_in_the_tab_order(browser: Page, pages: Pages) -> None:
    browser.open(pages("everything"))
    browser.evaluate("document.getElementById('diagram').focus()")
    browser.press("Tab")
    assert browser.focused() == 'a.event.message.broken.selected.past "event 21: Pong"'
    browser.press("ArrowLeft")
    assert browser.focused() == 'a.event.stop.selected.past "event 20: stop"'
    browser.press("Tab")
    assert browser.focused() == 'button#previous "← Previous"'


def test_buttons_and_the_whole_list(browser: Page, pages: Pages) -> None:
    browser.open(pages("everything"))
    assert not browser.one("#next").is_enabled()
    browser.click("#previous")
    assert selected(browser) == ["e20"]
    browser.click("#next")
    browser.click("#all")
    assert browser.evaluate(SHOWN) == [f"e{k}" for k in range(1, 22)]
    browser.click("#all")
    assert browser.evaluate(SHOWN) == ["e21"]


def test_what_an_event_does_not_rest_on_fades(browser: Page, pages: Pages) -> None:
    browser.open(pages("everything"), "e13")
    browser.click("#fade")
    faded = browser.evaluate(
        "[...document.querySelectorAll('#diagram a.event')]"
        ".filter(e => getComputedStyle(e).opacity < 1).map(e => Number(e.dataset.event))"
    )
    # 13 is delivered to c, which started at 7, and was sent at 9 by a: that came after 5, 4 and 1 there.
    assert faded == [2, 6, 8, 11, 12, 14, 15, 16, 17, 18, 19, 20, 21]
    assert browser.evaluate("getComputedStyle(document.querySelector('#diagram .span')).opacity") < "1"


@pytest.mark.parametrize("name", ["everything", "crash", "drawn"])
def test_no_text_of_the_diagram_covers_another(browser: Page, pages: Pages, name: str) -> None:
    browser.open(pages(name))
    assert browser.evaluate(OVERLAPPING) == []


def test_without_its_script_it_is_a_list(browser: Page, pages: Pages, tmp_path: Path) -> None:
    page = pages("everything").read_text(encoding="utf-8")
    bare = tmp_path / "bare.html"
    bare.write_text(page[: page.rindex("<script>")] + "</body></html>", encoding="utf-8")
    browser.open(bare)
    assert browser.evaluate(SHOWN) == [f"e{k}" for k in range(1, 22)]
    assert not browser.one(".steps-bar").is_displayed()
    browser.click("#diagram a[data-event='8']")
    assert browser.evaluate("location.hash") == "#e8"


def test_light_dark_and_paper(browser: Page, pages: Pages, tmp_path: Path) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    browser.open(pages("everything"))
    assert browser.evaluate(background) == "rgb(255, 255, 255)"
    light = browser.screenshot(tmp_path / "light.png").read_bytes()
    browser.set_theme("dark")
    assert browser.evaluate(background) == "rgb(18, 22, 28)"
    assert browser.screenshot(tmp_path / "dark.png").read_bytes() != light
    browser.click("#fade")
    browser.set_print(True)
    assert browser.evaluate(background) == "rgb(255, 255, 255)"
    assert browser.evaluate(SHOWN) == [f"e{k}" for k in range(1, 22)]
    assert not browser.one(".steps-bar").is_displayed()
    opacity = "getComputedStyle(document.querySelector('#diagram a.event[data-event=\"2\"]')).opacity"
    assert browser.evaluate(opacity) == "1"


@pytest.mark.parametrize("width", [1920, 1366, 800, 420])
def test_it_fits_the_screen(browser: Page, pages: Pages, width: int) -> None:
    browser.resize(width, 900)
    browser.open(pages("everything"))
    assert browser.evaluate("document.documentElement.scrollWidth") <= width


def test_on_a_narrow_screen_the_event_stays_in_view(browser: Page, pages: Pages) -> None:
    browser.resize(800, 900)
    browser.open(pages("drawn"))
    browser.press(*["ArrowLeft"] * 40)
    pill = "document.querySelector('#diagram a.selected').getBoundingClientRect()"
    panel = "document.querySelector('.panel').getBoundingClientRect()"
    assert (
        0 < browser.evaluate(f"{pill}.top") < browser.evaluate(f"{pill}.bottom") < browser.evaluate(f"{panel}.top")
    )
    assert browser.evaluate(f"{panel}.bottom") <= 900


def test_hostile_names_are_shown_as_text(browser: Page, pages: Pages) -> None:
    browser.open(pages("hostile"))
    assert browser.evaluate("window.hit === undefined")
    assert browser.evaluate("document.scripts.length") == 1
    assert browser.evaluate("document.querySelectorAll('img').length") == 0
    assert browser.evaluate("document.body.innerText").count(HOSTILE[0]) > 2
    browser.press("Home", "ArrowLeft", "ArrowLeft")
    assert browser.text("#e6 h3") == f"6\n{HOSTILE[0]} ← outside: Markup"


def test_the_stages_of_a_minimization(browser: Page, pages: Pages) -> None:
    browser.open(pages("everything"))
    assert [cell.text for cell in browser.all("#stages tbody td")] == [
        "provenance", "900", "40", "1", "0.0", "TFB", "8", "11", "1234", "12.3",
    ]  # fmt: skip


def test_the_end_of_an_exception(browser: Page, pages: Pages) -> None:
    browser.open(pages("crash"))
    assert browser.text("#trace pre").endswith("AssertionError: three times x")
