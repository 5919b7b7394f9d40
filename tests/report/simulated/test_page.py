"""The page of a simulated run: what it says, that it holds nothing that runs, and that its size is bounded."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest

from clew.minimization.searching.stages import Stage
from clew.report.simulated import page as simulated_page
from clew.report.simulated.page import run_page
from clew.simulation import Start
from clew.simulation.execution.steps import Size
from clew.simulation.execution.trace import execute
from simulated import HOSTILE, crash, drawn, everything, hostile, scenario

STAGES = [Stage("provenance", Size(900, 40), 1, 0.04), Stage("<b>TFB</b>", Size(8, 13), 1234, 12.34)]


class Reader(HTMLParser):
    """The elements of a page, each with its attributes, and the texts of those that have an id."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, str] = {}
        self._open: list[tuple[str, str]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.elements.append((tag, attributes))
        if tag not in ("meta", "link", "input"):
            self._open.append((tag, attributes.get("id") or ""))

    def handle_endtag(self, tag: str) -> None:
        assert self._open[-1][0] == tag, f"</{tag}> closes {self._open[-1]}"
        if tag in ("td", "th"):
            self.handle_data(" ")
        self._open.pop()

    def handle_data(self, data: str) -> None:
        for _, name in self._open:
            if name:
                self.texts[name] = self.texts.get(name, "") + data

    def text(self, name: str) -> str:
        return " ".join(self.texts[name].split())

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))


def test_every_event_is_told_with_its_state_before_and_after() -> None:
    page = Reader(run_page("everything", everything()))
    numbers = [
        attributes["id"] for tag, attributes in page.elements if attributes.get("class", "") and tag == "li"
    ]
    assert [n for n in numbers if n] == [f"e{k}" for k in range(1, 22)]
    assert page.text("e8") == (
        "8 b ← a: Ping Ping(hops=1) b before after pings [] [1] lives 1 pongs {} It says pinged by a"
        " It sends Pong(text='x') to a, arrives at 18 It rests on 2 start b 4 a ← outside: Go"
    )
    assert page.text("e21") == (
        "21 a ← c: Pong Pong(text='xx') one pong at a: a has pongs from b and c. a before after"
        " pongs {'b': 'x'} {'b': 'x', 'c': 'xx'} lives 1 pings []"
        " It rests on 13 c ← a: Ping 18 a ← b: Pong"
    )
    assert page.text("e20") == "20 stop b It rests on 19 b ← a: Ping"
    assert "c, which is down" in page.text("e4")
    assert "to b, lost at 11" in page.text("e9")
    assert "to a, never delivered" in page.text("e19")


def test_only_what_differs_is_marked() -> None:
    page = run_page("everything", everything())
    assert re.findall(r"<(?:ins|del)>[^<]*", page.partition('id="e21"')[2]) == ["<ins>, &#39;c&#39;: &#39;xx&#39;"]
    assert re.findall(r"<(?:ins|del)>[^<]*", page.partition('id="e17"')[2].partition('id="e18"')[0]) == [
        "<del>1", "<ins>2", "<del>2",
    ]  # fmt: skip


def test_the_top_of_the_page() -> None:
    page = run_page(
        "file.py:name", everything(), replay="clew replay x.json", stages=STAGES, facts=[("seed", "7")],
        cautions=["Stopped early."],
    )  # fmt: skip
    read = Reader(page)
    assert (
        '<h1 class="verdict"><span class="answer">VIOLATED</span> <span class="name">file.py:name</span></h1>'
        in page
    )
    assert '<p class="summary">one pong at a: a has pongs from b and c.</p>' in page
    facts = re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", page)
    assert facts == [
        ("nodes", "a, b, c"),
        ("deliveries", "8"),
        ("events from outside", "13"),  # with a loss and a copy, which the table of stages counts, too
        ("messages under way at the end", "1"),
        ("seed", "7"),
    ]
    assert '<p class="caution">Stopped early.</p>' in page
    assert "Replay: <code>clew replay x.json</code>" in page
    assert read.text("stages").endswith(
        "stage deliveries from outside schedules tried seconds provenance 900 40 1 0.0 <b>TFB</b> 8 13 1234 12.3"
    )


def test_a_run_that_holds_and_one_that_raises() -> None:
    good = run_page("good", execute(scenario(), 0, [Start("a")]))
    assert "HOLDS" in good and "Every invariant holds throughout this run." in good
    assert 'id="trace"' not in good and 'id="stages"' not in good
    assert Reader(run_page("crash", crash())).text("trace").endswith("AssertionError: three times x")


def test_an_empty_run_is_a_page() -> None:
    assert Reader(run_page("empty", execute(scenario(), 0, []))).text("run").startswith("The run, event by event")


def test_nothing_of_the_run_becomes_markup() -> None:
    page = run_page(HOSTILE[0], hostile(), replay=HOSTILE[1], facts=[(HOSTILE[0], HOSTILE[1])], cautions=HOSTILE)
    page.encode("utf-8")  # no half of a surrogate pair is left
    read = Reader(page)
    assert sum(tag == "script" for tag, _ in read.elements) == 1
    assert not any(tag == "img" for tag, _ in read.elements)
    assert not any(name.startswith("on") for _, attributes in read.elements for name in attributes)
    links = {attributes.get("href") for tag, attributes in read.elements if tag == "a"}
    assert all(link is not None and link.startswith("#") for link in links)
    assert "\x1b" not in page


def test_the_policy_admits_the_script_of_the_page_and_nothing_else() -> None:
    page = run_page("everything", everything())
    script = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert len(script) == 1
    digest = base64.b64encode(hashlib.sha256(script[0].encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}';" in page
    assert not re.search(r"https?://", page)


def test_of_a_long_run_the_end_is_on_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulated_page, "MOST_EVENTS", 4)
    page = run_page("everything", everything())
    assert "Only the last 4 of 21 events are on this page." in page
    assert re.findall(r'<li class="event-told(?: broken)?" id="e(\d+)"', page) == ["18", "19", "20", "21"]
    assert Reader(page).text("e18").endswith("It rests on 8 (left out) 9 (left out)")


def test_when_room_runs_out_the_end_keeps_its_state(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulated_page, "MOST_CHARACTERS", 200)
    read = Reader(run_page("everything", everything()))
    assert "lives 1 pings []" in read.text("e21")
    assert "pings [] [1] Left out: 2 attributes that did not change." in read.text("e8")


def test_thousands_of_events_make_a_page_of_bounded_size() -> None:
    execution = drawn(1, steps=3000)
    assert len(execution.moments) > simulated_page.MOST_EVENTS
    assert len(run_page("long", execution)) < 8_000_000
