"""The lineage graph in a real browser, in a window of 1,280 pixels: nothing leaves the page, and boxes open."""

from __future__ import annotations

import pytest

from browser.conftest import Reports
from browser.driving import Page
from browser.graph import check_edges_meet_boxes, edges_behind_boxes, outside_the_page, overlapping, sideways
from long_mode import first_of

CHAIN = ("check", "examples/chain.ded")
COMMIT_LATE = ("check", "examples/3pc.ded", "--delays", "1")
#: The first are looked at in the suite, the others in the long mode.
PAGES = [
    CHAIN,
    COMMIT_LATE,
    ("check", "examples/kafka.ded", "--delays", "1"),
    ("check", "examples/reservation.ded"),
    (*CHAIN, "--delays", "1"),
    ("check", "examples/kafka.ded"),
    ("check", "examples/3pc.ded"),
    ("check", "examples/2pc-timeout.ded", "--delays", "1"),
    ("check", "examples/bully-le-lossy.ded"),
    ("check", "examples/paxos-synod.ded", "--delays", "1"),
    ("check", "examples/ack-deliv.ded", "--delays", "1", "--eot", "6", "--eff", "5"),
]


def open_page(browser: Page, reports: Reports, words: tuple[str, ...], whole: bool) -> None:
    browser.resize(1280, 900)
    browser.open(reports(*words))
    if whole:
        show_whole(browser)


def show_whole(browser: Page) -> None:
    browser.evaluate("document.getElementById('whole').click()")


@pytest.mark.parametrize("words", first_of(PAGES, 4), ids=lambda words: " ".join(words[1:]))
def test_nothing_leaves_the_page(browser: Page, reports: Reports, words: tuple[str, ...]) -> None:
    open_page(browser, reports, words, whole=False)
    check_nothing_leaves(browser)
    show_whole(browser)
    check_nothing_leaves(browser)
    assert browser.console_errors() == []


def check_nothing_leaves(browser: Page) -> None:
    """Check a graph that is closed, opened, and closed again."""
    assert sideways(browser, "#graph") == 0, "what is closed needs no scrolling to the side"
    for step in ("closed", "opened", "closed again"):
        if step != "closed":
            browser.click("#open-all" if step == "opened" else "#close-all")
        assert sideways(browser, "html") == 0
        assert outside_the_page(browser) == []
        check_edges_meet_boxes(browser)
        assert edges_behind_boxes(browser) == []
        assert overlapping(browser, "#graph svg text") == []
        assert overlapping(browser, "#graph svg [data-layer] > rect") == []
    assert sideways(browser, "#graph") == 0


def words_in(browser: Page, css: str) -> list[str]:
    found = browser.evaluate(
        "[...document.querySelectorAll(arguments[0])].map(e => e.querySelector('text').textContent)", css
    )
    assert isinstance(found, list)
    return found


def test_absences_are_one_box_that_opens_and_closes(browser: Page, reports: Reports) -> None:
    open_page(browser, reports, CHAIN, whole=True)
    css = "#graph .absences:not(.gone)"
    assert words_in(browser, css) == ["no bypassed(h, m) ▾@4–7"]
    box = browser.one(css)
    label = box.find_element("css selector", "text")
    assert box.get_attribute("aria-expanded") == "false"
    inside = f"document.querySelector('{css} .inside').getBoundingClientRect().height"
    assert browser.evaluate(inside) == 0
    closed = browser.one("#graph svg").rect["height"]
    label.click()
    assert box.get_attribute("aria-expanded") == "true"
    assert browser.evaluate(inside) > 500
    assert len(words_in(browser, f"{css} .inside [data-goal]")) == 32
    assert browser.one("#graph svg").rect["height"] > closed + 500
    # a click on what it shows is not meant for the box; one on its label closes it
    box.find_element("css selector", ".inside .firing").click()
    assert box.get_attribute("aria-expanded") == "true"
    label.click()
    assert box.get_attribute("aria-expanded") == "false"
    assert (browser.evaluate(inside), browser.one("#graph svg").rect["height"]) == (0, closed)


def test_the_number_of_absences_stands_below_their_box(browser: Page, reports: Reports) -> None:
    open_page(browser, reports, COMMIT_LATE, whole=False)
    assert words_in(browser, "#graph .bundle") == ["no conflict(a, t1) ▾@9"]
    assert words_in(browser, "#graph .through") == ["51 absences"]
    title = browser.evaluate("document.querySelector('#graph .through title').textContent")
    assert "no decision(b, t1, abort) @5–9" in title.splitlines()


def test_a_box_of_absences_is_opened_by_keyboard(browser: Page, reports: Reports) -> None:
    open_page(browser, reports, COMMIT_LATE, whole=False)
    browser.evaluate("document.getElementById('graph').focus()")
    browser.press("Tab", "Tab")
    assert browser.focused().startswith("g.goal.absent.bundle.absences")
    browser.press("Enter")
    assert browser.one("#graph .bundle").get_attribute("aria-expanded") == "true"
    browser.press(" ")
    assert browser.one("#graph .bundle").get_attribute("aria-expanded") == "false"


def test_boxes_show_what_the_faults_do_to_what_is_in_them(browser: Page, reports: Reports) -> None:
    open_page(browser, reports, CHAIN, whole=True)
    assert words_in(browser, "#graph .bundle.gone") == ["succ(m, t) ▾@6–8", "no bypassed(m, t) ▾@5–7"]
    assert words_in(browser, "#graph .bundle:not(.gone)") == ["succ(h, m) ▾@5–8", "no bypassed(h, m) ▾@4–7"]
    assert words_in(browser, "#graph .through.touched") == ["32 absences", "26 absences"]
    gone = words_in(browser, ".bundle.absences.gone .inside [data-goal].gone")
    assert "no bypassed(m, t) @5" in gone and "no silent(m, t, 3) @5" in gone
    assert "no bypassed(m, t) @6" not in gone, "given up once, and at 5"
    assert words_in(browser, ".bundle.absences.gone .inside .elsewhere.gone")


def test_a_late_message_is_struck_through_below_the_box_it_belongs_to(browser: Page, reports: Reports) -> None:
    late = ("run", "examples/3pc.ded", "--eot", "9", "--delay", "C,b,1,1")
    open_page(browser, reports, late, whole=False)
    cut = words_in(browser, "#graph .firing.cut[data-joint]")
    assert cut == ["not late: C → b @1", "C → b @1"], "it is late, and it supports something, too"
    visible = browser.evaluate(
        "[...document.querySelectorAll('#graph .strike[data-joint]')]"
        ".filter(s => getComputedStyle(s).display !== 'none').length"
    )
    assert visible == 2
    assert words_in(browser, "#graph .bundle.gone") == []
    assert words_in(browser, "#graph .through.touched") == ["51 absences"]
    browser.click("#open-all")
    assert words_in(browser, "#graph .inside .firing.cut") == ["not late: C → b @1"]


def test_folding_goes_past_boxes_of_absences(browser: Page, reports: Reports) -> None:
    open_page(browser, reports, CHAIN, whole=True)
    shown = (
        "[...document.querySelectorAll('#graph [data-layer]')].filter(b => !b.classList.contains('away')).length"
    )
    everything = browser.evaluate(shown)
    outcome = browser.one("#graph .outcome")
    outcome.click()
    assert browser.evaluate(shown) == 1
    outcome.click()
    assert browser.evaluate(shown) == everything
