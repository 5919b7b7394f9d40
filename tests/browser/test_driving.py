"""The tools of the browser tests: each of them is shown to notice what it is there to notice."""

from __future__ import annotations

import base64
import socket
import struct
from pathlib import Path

import pytest
from selenium.common.exceptions import JavascriptException

from browser.driving import HEIGHT, WIDTH, Page


def _page(directory: Path, body: str, head: str = "", name: str = "page.html") -> Path:
    path = directory / name
    path.write_text(f"<!doctype html><meta charset=utf-8><title>page</title>{head}<body>{body}", encoding="utf-8")
    return path


# ---------------------------------------------------------------------- what a page asks for


def test_a_page_that_holds_everything_itself_asks_for_nothing(browser: Page, tmp_path: Path) -> None:
    pixel = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="
    path = _page(
        tmp_path,
        f"""<p id=top>text <img src="{pixel}"><img id=made>
        <script>made.src = URL.createObjectURL(new Blob(['<svg xmlns="http://www.w3.org/2000/svg"/>'],
                                               {{type: 'image/svg+xml'}}))</script>""",
        "<link rel=icon href='data:,'><style>p { color: green }</style><script>document.title = 'run'</script>",
    )
    browser.open(path)
    assert browser.evaluate("document.title") == "run"
    assert browser.requests() == []
    assert browser.console_errors() == []
    browser.open(path, fragment="top")
    assert browser.evaluate("location.hash") == "#top"
    assert browser.requests() == []


#: Ways to ask the network for something.  ``{}`` is part of what is asked for.
ASKING = [
    "<img src='http://127.0.0.1:9/{}.png'>",
    "<img src='http://127.0.0.1:8765/{}.png'>",
    "<img src='https://name.example/{}.png'>",
    "<img srcset='https://name.example/{}.png 1x'>",
    "<script src='https://name.example/{}.js'></script>",
    "<script type=module>import 'https://name.example/{}.js'</script>",
    "<style>@import 'https://name.example/{}.css';</style>",
    "<style>body {{ background: url(https://name.example/{}.png) }}</style>",
    "<style>@font-face {{ font-family: f; src: url(https://name.example/{}) }}</style><p style='font: 9px f'>hi",
    "<iframe src='https://name.example/{}'></iframe>",
    "<iframe srcdoc='<img src=https://name.example/{}.png>'></iframe>",
    "<iframe src='data:text/html,<img src=https://name.example/{}.png>'></iframe>",
    "<object data='https://name.example/{}.svg'></object>",
    "<svg><image href='https://name.example/{}.png'/></svg>",
    "<video src='https://name.example/{}.mp4'></video>",
    "<link rel=icon href='https://name.example/{}.png'>",
    "<link rel=prefetch href='https://name.example/{}.css'>",
    "<link rel=preconnect href='https://{}.example'>",
    "<link rel=dns-prefetch href='http://{}.example'>",
    "<script>fetch('https://name.example/{}').catch(() => 0)</script>",
    "<script>fetch('http://127.0.0.1:8765/{}').catch(() => 0)</script>",
    "<script>{{ const r = new XMLHttpRequest(); r.open('GET', 'https://name.example/{}'); r.send() }}</script>",
    "<script>navigator.sendBeacon('https://name.example/{}', '')</script>",
    "<script>new WebSocket('wss://name.example/{}')</script>",
    "<script>new EventSource('https://name.example/{}')</script>",
    "<script>setTimeout(() => fetch('https://name.example/{}').catch(() => 0))</script>",
]


def test_what_a_page_asks_of_the_network_is_seen(browser: Page, tmp_path: Path) -> None:
    """All of it on one page: to open one takes most of the time of a test."""
    names = [f"asked{number}" for number in range(10, 10 + len(ASKING))]
    browser.open(_page(tmp_path, "".join(body.format(name) for body, name in zip(ASKING, names, strict=True))))
    asked = {url.split("?")[0].rstrip("/") for url in browser.requests()}
    for body, name in zip(ASKING, names, strict=True):
        (url,) = (url for url in asked if name in url)
        assert url in body.format(name)
    assert len(asked) == len(ASKING)


def test_a_window_that_a_page_opens_is_seen(browser: Page, tmp_path: Path) -> None:
    browser.open(_page(tmp_path, "<script>open('https://name.example/x')</script>"))
    assert browser.requests() == ["https://name.example/x"]


def test_other_files_are_seen(browser: Page, tmp_path: Path) -> None:
    for name in ("style.css", "data.json", "code.js", "other.html"):
        (tmp_path / name).write_text("", encoding="utf-8")
    browser.open(
        _page(
            tmp_path,
            "<iframe src=other.html></iframe><script>fetch('data.json').catch(() => 0)</script>",
            "<link rel=stylesheet href=style.css><script src=code.js></script><link rel=icon href=gone>",
        )
    )
    names = ["code.js", "data.json", "gone", "other.html", "style.css"]
    assert sorted(browser.requests()) == [(tmp_path / name).as_uri() for name in names]


@pytest.mark.parametrize("script", ["URL.createObjectURL(new Blob(['0']))", "'data:text/javascript,0'"])
def test_a_worker_is_seen_as_what_it_loads_is_not(browser: Page, tmp_path: Path, script: str) -> None:
    browser.open(_page(tmp_path, f"<script>new Worker({script})</script>"))
    (worker,) = browser.requests()
    assert worker.startswith(("worker blob:", "worker data:"))


def test_what_a_click_makes_a_page_ask_for_is_seen(browser: Page, tmp_path: Path) -> None:
    browser.open(_page(tmp_path, "<button onclick=\"new Image().src = 'https://name.example/late'\">go</button>"))
    assert browser.requests() == []
    browser.click("button")
    assert browser.requests() == ["https://name.example/late"]


def test_nothing_is_reached(browser: Page, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"
        browser.open(_page(tmp_path, f"<img src='{url}x.png'><script>new Worker(`data:,fetch('{url}')`)</script>"))
        assert browser.requests()[0] == f"{url}x.png"
        server.settimeout(0.5)
        with pytest.raises(TimeoutError):
            server.accept()


def test_reports_are_about_the_file_opened_last(browser: Page, tmp_path: Path) -> None:
    browser.open(_page(tmp_path, "<img src='https://name.example/x.png'><script>console.error('first')</script>"))
    browser.open(_page(tmp_path, "<p>quiet", name="quiet.html"))
    assert (browser.requests(), browser.console_errors()) == ([], [])


# ---------------------------------------------------------------------- what it complains about


COMPLAINING = {
    "<script>throw new Error('thrown at once')</script>": "Uncaught Error: thrown at once",
    "<script>setTimeout(() => { throw new Error('thrown later') })</script>": "Uncaught Error: thrown later",
    "<script>Promise.reject(new Error('rejected'))</script>": "Error: rejected",
    "<script>this is no program</script>": "SyntaxError",
    "<script>console.error('said aloud')</script>": "said aloud",
    "<script>console.warn('said softly')</script>": "WARNING console-api",
    "<button id=b onclick='nobody()'>go</button><script>b.click()</script>": "nobody is not defined",
    "<img src='gone.png'>": "ERR_FILE_NOT_FOUND",
}


def test_complaints_are_seen(browser: Page, tmp_path: Path) -> None:
    browser.open(_page(tmp_path, "".join(COMPLAINING)))
    complaints = browser.console_errors()
    for words in COMPLAINING.values():
        assert len([complaint for complaint in complaints if words in complaint]) == 1, words
    assert len(complaints) == len(COMPLAINING)


def test_what_is_only_said_is_no_complaint(browser: Page, tmp_path: Path) -> None:
    browser.open(_page(tmp_path, "<script>console.log('l'); console.info('i'); console.debug('d')</script>"))
    assert browser.console_errors() == []


@pytest.mark.parametrize(
    "body",
    [
        "<script>document.title = 'run'</script>",
        "<p style='color: red'>text",
        "<img src='https://name.example/x.png'>",
        "<p onclick='0'>text",
    ],
)
def test_what_a_security_policy_stops_is_seen(browser: Page, tmp_path: Path, body: str) -> None:
    policy = "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'\">"
    browser.open(_page(tmp_path, body, policy))
    complaints = browser.console_errors()
    assert complaints
    assert all("Content Security Policy" in complaint for complaint in complaints)


def test_the_tools_need_no_leave_of_a_security_policy(browser: Page, tmp_path: Path) -> None:
    policy = "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'\">"
    browser.open(_page(tmp_path, "<p>text<button>b</button>", policy))
    assert browser.evaluate("document.title") == "page"
    assert browser.evaluate_async("return await 3") == 3
    assert browser.timed("document.body.append('x')") >= 0
    assert browser.first_paint_ms() > 0
    browser.press("Tab")
    assert browser.focused() == 'button "b"'
    browser.screenshot(tmp_path / "shot.png")
    assert (browser.requests(), browser.console_errors()) == ([], [])


# ---------------------------------------------------------------------- how it is shown


def test_themes_and_print(browser: Page, tmp_path: Path) -> None:
    path = _page(
        tmp_path,
        "<p>text",
        "<style>p { color: rgb(1, 0, 0) } @media (prefers-color-scheme: dark) { p { color: rgb(2, 0, 0) } }"
        "@media print { p { font-size: 33px } }</style>",
    )

    def look() -> tuple[str, bool]:
        style = browser.evaluate(
            "(({color, fontSize}) => [color, fontSize])(getComputedStyle(document.querySelector('p')))"
        )
        return style[0], style[1] == "33px"

    browser.open(path)
    assert look() == ("rgb(1, 0, 0)", False)
    browser.set_theme("dark")
    assert look() == ("rgb(2, 0, 0)", False)
    browser.set_print(True)
    assert look() == ("rgb(2, 0, 0)", True)
    browser.open(path)
    assert look() == ("rgb(2, 0, 0)", True), "it holds for later pages"
    browser.set_theme("light")
    assert look() == ("rgb(1, 0, 0)", True)
    browser.set_print(False)
    assert look() == ("rgb(1, 0, 0)", False)


def _size(png: Path) -> tuple[int, int]:
    data = png.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", data[16:24])
    return width, height


def _colour(browser: Page, png: Path, x: int, y: int) -> list[int]:
    """The colour of a place in a picture, as the browser reads it."""
    return list(
        browser.evaluate_async(
            """const image = new Image();
            image.src = 'data:image/png;base64,' + arguments[0];
            await image.decode();
            const context = document.createElement('canvas').getContext('2d');
            context.drawImage(image, -arguments[1], -arguments[2]);
            return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3)""",
            base64.b64encode(png.read_bytes()).decode(),
            x,
            y,
        )
    )


def test_screenshots_show_the_whole_page(browser: Page, tmp_path: Path) -> None:
    browser.open(
        _page(
            tmp_path,
            "<div style='height: 2900px'></div><div style='height: 100px; background: rgb(0, 0, 255)'></div>",
            "<style>* { margin: 0 } body { background: rgb(255, 0, 0) }</style>",
        )
    )
    for width, height in ((WIDTH, HEIGHT), (400, 700)):
        browser.resize(width, height)
        assert browser.evaluate("[innerWidth, innerHeight]") == [width, height]
        shot = browser.screenshot(tmp_path / "shot.png")
        wide, high = _size(shot)
        assert width - 20 <= wide <= width, "a scroll bar may take some of it"
        assert high == 3000
        assert [_colour(browser, shot, 5, y) for y in (5, 2890, 2995)] == [[255, 0, 0], [255, 0, 0], [0, 0, 255]]
        assert browser.evaluate("[innerWidth, innerHeight]") == [width, height], "taking it changes nothing"


def test_screenshots_show_the_theme(browser: Page, tmp_path: Path) -> None:
    dark = "@media (prefers-color-scheme: dark) { body { background: rgb(0, 0, 9) } }"
    browser.open(_page(tmp_path, "", f"<style>body {{ background: rgb(9, 0, 0) }} {dark}</style>"))
    assert _colour(browser, browser.screenshot(tmp_path / "light.png"), 5, 5) == [9, 0, 0]
    browser.set_theme("dark")
    shot = browser.screenshot(tmp_path / "dark.png")
    assert _colour(browser, shot, 5, 5) == [0, 0, 9]
    assert _size(shot) == (WIDTH, HEIGHT)


# ---------------------------------------------------------------------- how fast it is


def test_the_first_paint_comes_after_the_work_before_it(browser: Page, tmp_path: Path) -> None:
    busy = "<script>for (const start = performance.now(); performance.now() - start < 300;);</script>"
    browser.open(_page(tmp_path, "<p>text", busy))
    assert browser.first_paint_ms() >= 300


def test_a_page_that_shows_nothing_has_no_first_paint(browser: Page, tmp_path: Path) -> None:
    browser.open(_page(tmp_path, ""))
    with pytest.raises(AssertionError, match="did not hold within"):
        browser.first_paint_ms(seconds=0.3)


def test_work_is_timed(browser: Page, tmp_path: Path) -> None:
    browser.open(_page(tmp_path, "<div id=here></div>"))
    assert browser.timed("for (const s = performance.now(); performance.now() - s < arguments[0];);", 50) >= 50


def test_the_layout_that_work_makes_necessary_is_timed(browser: Page, tmp_path: Path) -> None:
    browser.open(_page(tmp_path, "<table><tr><td>some text<td>some text</table>" * 4_000))
    assert browser.timed("document.body.style.width = '50%'") > 2, "setting it takes no time, the layout does"


# ---------------------------------------------------------------------- its inside, and what its reader does


def test_values_come_out_of_the_page(browser: Page, tmp_path: Path) -> None:
    browser.open(_page(tmp_path, "<p class=a>one</p><p class=a>two</p><b>three</b>"))
    assert browser.evaluate("({n: arguments[0] + 1, l: [null, true, 'x']})", 1) == {"n": 2, "l": [None, True, "x"]}
    assert browser.evaluate_async("return await new Promise(d => setTimeout(() => d(arguments[0]), 10))", 5) == 5
    with pytest.raises(JavascriptException, match="wrong"):
        browser.evaluate_async("throw new Error('wrong')")
    with pytest.raises(JavascriptException, match="nobody"):
        browser.evaluate("nobody")
    assert browser.text("b") == "three"
    assert [p.text for p in browser.all(".a")] == ["one", "two"]
    with pytest.raises(AssertionError, match="2 elements match"):
        browser.one(".a")
    with pytest.raises(AssertionError, match="0 elements match"):
        browser.one(".c")


def test_waiting_for_a_page(browser: Page, tmp_path: Path) -> None:
    browser.open(_page(tmp_path, "<script>setTimeout(() => { document.title = 'later' }, 200)</script>"))
    browser.until("document.title === 'later'")
    with pytest.raises(AssertionError, match="did not hold"):
        browser.until("document.title === 'never'", seconds=0.1)


def test_a_keyboard_is_all_it_takes(browser: Page, tmp_path: Path) -> None:
    browser.open(
        _page(
            tmp_path,
            """<button id=first class="big red" onclick="out.value += 'clicked '">First   button</button>
            <a href="#x" role=tab aria-label="named">shown</a>
            <input id=field oninput="out.value = this.value"> <input type=checkbox id=box>
            <select id=choice><option>a<option>b<option>c</select><output id=out></output>""",
        )
    )
    assert browser.focused() == ""
    browser.press("Tab")
    assert browser.focused() == 'button#first.big.red "First button"'
    browser.press("Enter", "Space")
    assert browser.text("#out") == "clicked clicked"
    browser.press("Tab")
    assert browser.focused() == 'a[role=tab] "named"'
    browser.press("Enter")
    assert browser.evaluate("location.hash") == "#x"
    browser.type_into("#field", "a+b ü")
    assert browser.text("#out") == "a+b ü"
    browser.press("ArrowLeft", "+", "Home", "X")
    assert browser.text("#out") == "Xa+b +ü"
    browser.type_into("#field", "new")
    assert browser.text("#out") == "new"
    browser.type_into("#field", "")
    assert browser.evaluate("field.value") == ""
    browser.press("Tab", "Space", "Tab", "ArrowDown", "ArrowDown", "ArrowUp")
    assert browser.evaluate("[box.checked, choice.value]") == [True, "b"]
    browser.press("Shift+Tab")
    assert browser.focused() == 'input#box "on"'
    with pytest.raises(AssertionError, match="unknown key"):
        browser.press("Hyper")


def test_each_test_begins_anew(chromium: Page, tmp_path: Path) -> None:
    path = _page(tmp_path, "<p>text")
    chromium.reset()
    chromium.open(path)
    chromium.evaluate("localStorage.setItem('kept', 'yes')")
    chromium.evaluate("open('about:blank')")
    chromium.set_theme("dark")
    chromium.set_print(True)
    chromium.resize(300, 300)
    chromium.open(path)
    assert chromium.evaluate("localStorage.getItem('kept')") == "yes"
    chromium.reset()
    assert len(chromium.driver.window_handles) == 1
    chromium.open(path)
    assert chromium.evaluate("[localStorage.getItem('kept'), innerWidth, innerHeight]") == [None, WIDTH, HEIGHT]
    assert not chromium.evaluate("matchMedia('print').matches")
    assert not chromium.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
