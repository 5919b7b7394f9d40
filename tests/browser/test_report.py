"""The report in a real browser: opened from disk, clicked through, read in light and dark."""

from __future__ import annotations

from pathlib import Path

import pytest
from selenium.webdriver.common.keys import Keys

from browser.conftest import Reports
from browser.driving import Page
from browser.graph import check_edges_meet_boxes
from clew import Program
from clew.budgets.deadline import Deadline
from clew.checker.api import check
from clew.dedalus.loader import parse_program
from clew.explain.explainer import Explainer
from clew.program.ir import Const, Fact, Premise, Rule, Timing, Var
from clew.report.verdict.page import verdict_page
from command import ROOT

KAFKA = ("check", "examples/kafka.ded")
CLASSIC = ("check", "examples/classic-deliv.ded", "--all")
CERTIFIED = ("check", "examples/ack-deliv.ded")
LINEAGE = ("check", "examples/ack-deliv.ded", "--strategy", "lineage")
RUN = ("run", "examples/3pc.ded", "--lose", "C,a,6", "--lose", "C,b,6", "--crash", "d,4")
FLUX = ("check", "examples/flux.ded")


@pytest.mark.parametrize("words", [KAFKA, CLASSIC, CERTIFIED, LINEAGE, RUN, FLUX], ids=" ".join)
def test_it_opens_from_disk_without_network_and_without_complaint(
    browser: Page, reports: Reports, words: tuple[str, ...]
) -> None:
    browser.open(reports(*words))
    assert browser.requests() == []
    assert browser.console_errors() == []
    assert browser.evaluate("document.querySelector('#right svg').getBoundingClientRect().width") > 100


def test_the_verdict_comes_first_in_words_for_newcomers(browser: Page, reports: Reports) -> None:
    browser.open(reports(*KAFKA))
    assert browser.text(".answer") == "COUNTEREXAMPLE"
    assert browser.text(".summary") == (
        "This can be broken by 3 faults within the bounds: at the end pre(C, w1) holds, but post(C, w1) does not. "
        "No combination of fewer faults does that."
    )
    assert [item.text.splitlines() for item in browser.all("#faults li")] == [
        ["1", "the message from b to Z at time 1 is lost", "O(b,Z,1)"],
        ["2", "the message from c to Z at time 1 is lost", "O(c,Z,1)"],
        ["3", "a crashes at time 4", "C(a,4)"],
    ]
    assert browser.text("#replay").endswith("--lose b,Z,1 --lose c,Z,1 --crash a,4")


def test_losses_that_amount_to_something_simple_are_summed_up(browser: Page, reports: Reports) -> None:
    browser.open(reports("check", "examples/chain.ded", "--all"))
    assert browser.text("#together") == "together: t is cut off at times 2 to 4"
    browser.all(".choice")[1].click()
    assert browser.text("#together") == "5 of these together: t is cut off at times 3 to 5"
    browser.open(reports(*KAFKA))
    assert not browser.one("#together").is_displayed()


def test_both_runs_stand_side_by_side_with_a_legend(browser: Page, reports: Reports) -> None:
    browser.open(reports(*KAFKA))
    left, right = (browser.one(f"#{side}").rect for side in ("left", "right"))
    assert left["y"] == right["y"] and left["x"] + left["width"] <= right["x"]
    assert len(browser.all("#right .arrow.lost")) == 2
    assert len(browser.all("#right g.crash:not(.badge)")) == 1
    assert len(browser.all("#left .arrow.lost")) == 0
    # in the failure-free run: the two reports that will be lost, and what a will no longer send
    assert len(browser.all("#left .arrow.hit")) >= 2
    legend = browser.text("#lamport-legend")
    assert all(word in legend for word in ("delivered", "lost", "CRASHED", "number of the fault"))
    report = browser.evaluate("document.querySelector('#right .arrow.lost title').textContent")
    assert "report(Z, b)" in report


@pytest.mark.parametrize("words", [KAFKA, ("check", "examples/3pc.ded"), RUN, CERTIFIED], ids=" ".join)
def test_no_label_of_a_diagram_covers_another(browser: Page, reports: Reports, words: tuple[str, ...]) -> None:
    browser.open(reports(*words))
    for side in ("left", "right"):
        overlapping = browser.evaluate(
            """((texts) => {
              const boxes = texts.map(t => [t.textContent, t.getBoundingClientRect()]);
              const found = [];
              for (let i = 0; i < boxes.length; i++) for (let j = i + 1; j < boxes.length; j++) {
                const [s, a] = boxes[i], [t, b] = boxes[j];
                const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
                const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
                if (wide > 1 && high > 2) found.push([s, t, wide, high]);
              }
              return found;
            })([...document.querySelectorAll(arguments[0])])""",
            f"#{side} svg text",
        )
        assert overlapping == []


def test_another_counterexample_is_selected(browser: Page, reports: Reports) -> None:
    browser.open(reports(*CLASSIC))
    choices = browser.all(".choice")
    labels = [choice.text for choice in choices]
    assert [label.partition(": ")[2] for label in labels] == [
        "O(a,b,1) O(a,c,1)",
        "O(a,b,1) O(c,a,2) O(c,b,2)",
        "O(a,c,1) O(b,a,2) O(b,c,2)",
    ]
    assert [c.get_attribute("aria-pressed") for c in choices] == ["true", "false", "false"]
    assert len(browser.all("#right .arrow.lost")) == 2
    cut = browser.evaluate("[...document.querySelectorAll('.firing.cut')].map(f => f.textContent)")
    choices[1].click()
    assert [c.get_attribute("aria-pressed") for c in choices] == ["false", "true", "false"]
    assert [code.text for code in browser.all("#faults code")] == ["O(a,b,1)", "O(c,a,2)", "O(c,b,2)"]
    assert len(browser.all("#right .arrow.lost")) == 3
    assert browser.evaluate("[...document.querySelectorAll('.firing.cut')].map(f => f.textContent)") != cut
    assert browser.text("#tables-lead").startswith("The failure-free run beside: Failing run 2.")


def test_every_support_is_listed_with_its_falsifier(browser: Page, reports: Reports) -> None:
    browser.open(reports(*KAFKA))
    rows = browser.all("#supports tr")
    assert len(rows) == 9
    assert all(len(row.find_elements("css selector", ".falsifier .happened")) >= 1 for row in rows)
    assert rows[0].text.replace("\n", " ") == (
        "write C→a@1 a never crashes O(C,a,1) ∨ C(C,1) ∨ C(a,1)…C(a,3) ∨ C(a,4) ∨ C(a,5)"
    )
    assert [d.text for d in rows[0].find_elements("css selector", "del")] == ["a never crashes"]


def test_what_each_fault_does_is_told(browser: Page, reports: Reports) -> None:
    browser.open(reports(*KAFKA))
    lines = [item.text.replace("\n", " ") for item in browser.all("#without li")]
    assert len(lines) == 3
    assert lines[0] == (
        "without O(b,Z,1): report b→Z@1 arrives, isr(b) Z→a@2, awaited(a, w1)@3, no acked a→C@3: "
        "pre(C, w1) does not hold"
    )
    assert lines[2] == "without C(a,4): a stays up: post(C, w1) holds"
    assert [row.text.replace("\n", " ") for row in browser.all("#arose tr")] == [
        "1 report b→Z is lost: O(b,Z,1); report c→Z is lost: O(c,Z,1)",
        "3 acked a→C",
        "4 a crashes: C(a,4)",
        "6 pre(C, w1) holds, post(C, w1) does not",
    ]


def test_what_was_only_lost_did_not_arise(browser: Page, reports: Reports) -> None:
    browser.open(reports(*CLASSIC))
    assert len(browser.all("#without li")) == 2
    assert browser.evaluate("document.getElementById('arose-part').hidden") is True


def test_a_chain_opens_and_closes(browser: Page, reports: Reports) -> None:
    browser.open(reports("check", "examples/simple-deliv.ded"))
    height = "Number(document.querySelector('#graph svg').getAttribute('height'))"
    closed = browser.evaluate(height)
    chain = browser.all(".goal.chain")[0]
    assert chain.get_attribute("aria-expanded") == "false"
    assert "@2–4" in chain.text
    chain.click()
    assert chain.get_attribute("aria-expanded") == "true"
    assert "@3 as before" in chain.text
    assert browser.evaluate(height) > closed
    check_edges_meet_boxes(browser)
    chain.click()
    assert chain.get_attribute("aria-expanded") == "false"
    assert browser.evaluate(height) == closed
    check_edges_meet_boxes(browser)


def test_lineage_is_reached_by_keyboard_and_folds(browser: Page, reports: Reports) -> None:
    browser.open(reports(*KAFKA))
    browser.evaluate("document.getElementById('graph').focus()")
    browser.press("Tab")
    assert browser.focused().startswith("g.goal.outcome")
    shown = "[...document.querySelectorAll('#graph .goal')].filter(g => !g.classList.contains('away')).length"
    everything = browser.evaluate(shown)
    browser.press("Enter")
    assert browser.one(".goal.outcome").get_attribute("aria-expanded") == "false"
    assert browser.evaluate(shown) == 1
    browser.press(" ")
    assert browser.evaluate(shown) == everything


def test_the_cut_is_struck_through_and_the_rest_is_not(browser: Page, reports: Reports) -> None:
    browser.open(reports(*KAFKA))
    cut = browser.evaluate(
        "[...document.querySelectorAll('#graph .firing.cut')].map(f => f.querySelector('text').textContent)"
    )
    assert sorted(set(cut)) == ["a → b @4", "a → c @4", "b → Z @1", "c → Z @1"]
    visible = browser.evaluate(
        "[...document.querySelectorAll('#graph .strike[data-joint]')]"
        ".filter(s => getComputedStyle(s).display !== 'none').length"
    )
    assert visible == len(cut)
    outcome = browser.one(".goal.outcome").get_attribute("class") or ""
    assert "gone" in outcome.split()
    assert len(browser.all("#graph .edge.message")) > len(cut)


def test_tables_are_filtered(browser: Page, reports: Reports) -> None:
    browser.open(reports(*KAFKA))
    everything = int(browser.text("#count").split()[0])
    browser.type_into("#filter", "stored")
    assert 0 < int(browser.text("#count").split()[0]) < everything
    assert {row.text for row in browser.all("#rows td:first-child")} == {"stored"}
    browser.type_into("#filter", "log(b")
    assert browser.text("#count") == "1 row"
    assert browser.text("#rows tr").replace("\n", " ") == "log b b, w1 never failure-free: 4–6"
    browser.type_into("#filter", "")
    browser.click("#only-different")
    differing = browser.all("#rows tr")
    assert 0 < len(differing) < everything
    assert all("different" in (row.get_attribute("class") or "") for row in differing)
    browser.click("#only-different")
    browser.one("#by-node").send_keys("Z")
    assert {row.text for row in browser.all("#rows td:nth-child(2)")} == {"Z"}
    browser.one("#by-time").send_keys("1")
    assert {row.text for row in browser.all("#rows td:first-child")} == {"prefers", "subscriber"}


def test_tables_are_filtered_by_one_of_two_nodes_that_look_the_same(browser: Page, tmp_path: Path) -> None:
    program = parse_program('n(1, "1"); n("1", 1); n(X, Y)@next :- n(X, Y); m(Y, X)@async :- n(X, Y);')
    verdict = check(program, eot=3, eff=2)
    page = verdict_page(verdict, ["p.ded"], Explainer(program, verdict.spec, Deadline(60)), lambda stage: None)
    (tmp_path / "p.html").write_text(page, encoding="utf-8")
    browser.open(tmp_path / "p.html")
    assert [option.text for option in browser.all("#by-node option")] == ["all", "1", '"1"']
    browser.one("#by-node").send_keys('"')
    assert [row.text for row in browser.all("#rows td:nth-child(3)")] == ['"1", 1', '"1", 1']
    assert {row.text for row in browser.all("#rows td:nth-child(2)")} == {'"1"'}
    browser.one("#by-node").send_keys(Keys.ARROW_UP)
    assert [row.text for row in browser.all("#rows td:nth-child(3)")] == ['1, "1"', '1, "1"']


def test_executions_of_a_lineage_search_open(browser: Page, reports: Reports) -> None:
    browser.open(reports(*LINEAGE))
    buttons = browser.all("#executions .open")
    assert len(buttons) == 29
    assert buttons[3].get_attribute("aria-label") == "Open execution 4"
    faults = browser.all("#executions tbody tr")[3].find_elements("css selector", "td")[1].text
    buttons[3].click()
    assert browser.text("#right-title") == "Execution 4"
    assert " ".join(code.text for code in browser.all("#faults code")) == faults
    assert browser.focused().startswith("div#right")


def test_a_certificate_says_what_it_covers(browser: Page, reports: Reports) -> None:
    browser.open(reports(*CERTIFIED))
    assert browser.text(".answer") == "CERTIFIED"
    assert "3.08e13 failure combinations" in browser.text(".facts")
    lines = [line.find_elements("css selector", "td") for line in browser.all("#margins tbody tr")]
    assert [cell.text for cell in lines[0][:4]] == ["any row", "", "", "1"]
    assert [cell.text for cell in lines[1][:4]] == ["pre(a, data)", "10", "4", "1"]
    assert all(line[4].text.startswith("EFF 8: ") for line in lines)
    assert "all runs within EOT 8" in browser.text("#margins")
    samples = browser.all(".choice")
    assert [s.text.split(":")[0] for s in samples] == ["Sample 1", "Sample 2", "Sample 3", "The failure-free run"]
    for sample in samples[:3]:
        sample.click()
        assert len(browser.all("#right g.crash:not(.badge)")) == 1
        assert browser.text("#violated") == "Everything in 'pre' is in 'post' at the end: the promise is kept."


def test_light_dark_and_paper(browser: Page, reports: Reports, tmp_path: Path) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    browser.open(reports(*KAFKA))
    light = browser.screenshot(tmp_path / "light.png").read_bytes()
    assert browser.evaluate(background) == "rgb(255, 255, 255)"
    browser.set_theme("dark")
    dark = browser.screenshot(tmp_path / "dark.png").read_bytes()
    assert browser.evaluate(background) != "rgb(255, 255, 255)"
    assert light.startswith(b"\x89PNG") and dark.startswith(b"\x89PNG") and light != dark
    browser.set_print(True)
    assert browser.evaluate(background) == "rgb(255, 255, 255)"
    assert browser.evaluate("getComputedStyle(document.querySelector('nav')).display") == "none"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_text_has_enough_contrast(browser: Page, reports: Reports, theme: str) -> None:
    browser.set_theme("dark" if theme == "dark" else "light")
    browser.open(reports(*KAFKA))
    ratios = browser.evaluate(
        """(() => {
          const value = (name) => getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
          const light = (hex) => {
            const parts = [1, 3, 5].map(k => parseInt(hex.slice(k, k + 2), 16) / 255)
              .map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
            return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
          };
          const paper = light(value('paper'));
          return Object.fromEntries(['ink', 'soft', 'cut', 'message', 'good'].map(name => {
            const l = light(value(name));
            return [name, (Math.max(l, paper) + 0.05) / (Math.min(l, paper) + 0.05)];
          }));
        })()"""
    )
    assert {name for name, ratio in ratios.items() if ratio < 4.5} == set()


@pytest.mark.parametrize("width", [1920, 1366, 800])
def test_it_fits_the_screen(browser: Page, reports: Reports, width: int) -> None:
    browser.resize(width, 900)
    browser.open(reports(*KAFKA))
    assert browser.evaluate("document.documentElement.scrollWidth") <= width


LONG = "n" * 200
HOSTILE = ["<script>window.hit = 1</script>", "\"><img src=x onerror='window.hit = 1'>", "'; -->]]>&amp;", LONG]


def hostile_program() -> Program:
    """Nodes and payloads that look like markup; Dedalus cannot even write the quotes."""
    rules = [
        Rule(
            "log", (Var("Y"), Var("P")), Timing.ASYNC,
            (Premise("cast", (Var("X"), Var("P"))), Premise("knows", (Var("X"), Var("Y")))),
        ),
        Rule("log", (Var("X"), Var("P")), Timing.NEXT, (Premise("log", (Var("X"), Var("P"))),)),
        Rule("pre", (Var("X"), Var("P")), Timing.SAME, (Premise("log", (Var("X"), Var("P"))),)),
        Rule("post", (Var("X"), Var("P")), Timing.SAME,
             (Premise("log", (Var("X"), Var("P"))), Premise("log", (Const(HOSTILE[1]), Var("P"))))),
    ]  # fmt: skip
    facts = [Fact("cast", (HOSTILE[0], text)) for text in HOSTILE]
    facts += [Fact("knows", (HOSTILE[0], node)) for node in HOSTILE[1:]]
    return Program((*facts, *rules))


def test_hostile_names_are_shown_as_text(browser: Page, tmp_path: Path) -> None:
    program = hostile_program()
    verdict = check(program, nodes=HOSTILE, eot=4, eff=2, crashes=1)
    assert verdict.counterexamples
    name = "<script>window.hit = 1</script>.ded"
    page = verdict_page(verdict, [name], Explainer(program, verdict.spec, Deadline(60)), lambda stage: None)
    file = tmp_path / "hostile.html"
    file.write_text(page, encoding="utf-8")
    browser.open(file)
    assert browser.evaluate("window.hit === undefined")
    assert browser.requests() == []
    assert browser.console_errors() == []
    assert browser.evaluate("document.scripts.length") == 2
    assert browser.text(".verdict .name") == name
    told = browser.evaluate("document.body.innerText")
    assert "<script>window.hit = 1</script>" in told
    assert LONG in told
    assert browser.evaluate("document.querySelectorAll('img').length") == 0
    browser.type_into("#filter", "<script>")
    assert int(browser.text("#count").split()[0]) > 0
    assert browser.evaluate("document.documentElement.scrollWidth") <= 1366


def test_the_report_of_flux_has_thousands_of_rows_and_filters_them(browser: Page, reports: Reports) -> None:
    """About 5,000 rows in 22 steps; how fast it is, the benchmarks measure."""
    path = reports(*FLUX)
    browser.open(path)
    rows = browser.evaluate(
        "JSON.parse(document.getElementById('data').textContent).rows.reduce((n, row) => n +"
        " row[3].split(',').reduce((m, r) => m + (r ? (r.split('-')[1] || r) - r.split('-')[0] + 1 : 0), 0), 0)"
    )
    assert rows > 1000
    browser.type_into("#filter", "heartbeat")
    assert int(browser.text("#count").split()[0]) < 400


def test_sizes(reports: Reports) -> None:
    assert reports(*KAFKA).stat().st_size <= 2_000_000
    assert (ROOT / "examples" / "kafka.ded").exists()
