"""A page in a real browser, opened from disk: what it asks for, what it complains about, how it looks and answers.

Nothing leaves the machine, whatever a page tries: every request goes to a proxy that is not there, and no name is
resolved. That holds for the browser's own errands as well, which its flags only make fewer.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urldefrag, urlsplit

from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

from browser.presence import BROWSER, DRIVER

#: The size of the part of a page that is in view, unless a test resizes it.
WIDTH, HEIGHT = 1366, 900

_FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    f"--window-size={WIDTH},{HEIGHT}",
    "--lang=en-US",
    # No port that anybody could connect to, and a browser that ends with its driver.
    "--remote-debugging-pipe",
    # Nobody listens on the port for discarding; loopback is no exception.
    "--proxy-server=127.0.0.1:9",
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
]

#: Loaded without asking anybody: part of the page, or of the browser.
_OWN_SCHEMES = {"", "about", "blob", "chrome", "chrome-error", "data"}

#: What the browser does about these, and when, is its own affair and not in the log of the page.
_LEFT_TO_BROWSER = "link[rel~=icon i], link[rel~=preconnect i], link[rel~=dns-prefetch i]"

_KEYS = {
    "Tab": Keys.TAB,
    "Enter": Keys.ENTER,
    "Space": Keys.SPACE,
    "Escape": Keys.ESCAPE,
    "Backspace": Keys.BACKSPACE,
    "Delete": Keys.DELETE,
    "Home": Keys.HOME,
    "End": Keys.END,
    "PageUp": Keys.PAGE_UP,
    "PageDown": Keys.PAGE_DOWN,
    "ArrowUp": Keys.ARROW_UP,
    "ArrowDown": Keys.ARROW_DOWN,
    "ArrowLeft": Keys.ARROW_LEFT,
    "ArrowRight": Keys.ARROW_RIGHT,
}
_MODIFIERS = {"Shift": Keys.SHIFT, "Control": Keys.CONTROL, "Alt": Keys.ALT}

#: Two frames and the tasks behind them: what the page does on its own account has begun. A page that has opened
#: a window in front of itself draws no frames; hence the limit.
_SETTLED = """
if (document.readyState !== 'complete') await new Promise(done => addEventListener('load', done, {once: true}));
const frame = () => new Promise(done => requestAnimationFrame(done));
await Promise.race([frame().then(frame), new Promise(done => setTimeout(done, 500))]);
await new Promise(done => setTimeout(done));
"""

_FOCUSED = """
let node = document.activeElement;
while (node && node.shadowRoot && node.shadowRoot.activeElement) node = node.shadowRoot.activeElement;
if (!node || node === document.body || node === document.documentElement) return '';
const name = node.getAttribute('aria-label') || node.getAttribute('title') || node.textContent || node.value || '';
const classes = (node.getAttribute('class') || '').split(/\\s+/).filter(Boolean).map(c => '.' + c).join('');
const role = node.getAttribute('role');
return node.tagName.toLowerCase() + (node.id && '#' + node.id) + classes + (role ? `[role=${role}]` : '')
  + (name.trim() && ` "${name.trim().replace(/\\s+/g, ' ').slice(0, 60)}"`);
"""


class Page:
    """The one tab of a browser. What it reports is about the file opened last."""

    def __init__(self, driver: Chrome) -> None:
        self.driver = driver
        self._requests: list[str] = []
        self._complaints: list[str] = []
        self._url = "about:blank"
        self._theme: Literal["light", "dark"] = "light"
        self._print = False

    # ------------------------------------------------------------------ opening

    def open(self, path: Path, fragment: str = "") -> None:
        """Load a file from disk, and wait until it has loaded and drawn itself."""
        self._leave()
        self._url = path.resolve().as_uri()
        self.driver.get(f"{self._url}#{fragment}" if fragment else self._url)
        self.settle()

    def reset(self) -> None:
        """As if just started: one empty tab, light, on a screen, of the usual size, nothing stored."""
        first, *others = self.driver.window_handles
        for handle in others:
            self.driver.switch_to.window(handle)
            self.driver.close()
        self.driver.switch_to.window(first)
        self._leave()
        self._cdp("Storage.clearDataForOrigin", origin="file://", storageTypes="all")
        self.resize(WIDTH, HEIGHT)
        self._print = False
        self.set_theme("light")

    def settle(self) -> None:
        """Wait until the page has loaded and drawn two frames."""
        self.evaluate_async(_SETTLED)

    def until(self, expression: str, seconds: float = 10) -> None:
        """Wait until an expression holds in the page."""
        deadline = time.monotonic() + seconds
        while not self.evaluate(expression):
            if time.monotonic() > deadline:
                raise AssertionError(f"did not hold within {seconds} s: {expression}")
            time.sleep(0.02)

    def _leave(self) -> None:
        self.driver.get("about:blank")
        self._read_logs()
        self._requests, self._complaints, self._url = [], [], "about:blank"

    # ------------------------------------------------------------------ what it asks for and complains about

    def requests(self) -> list[str]:
        """What the page has tried to load besides itself, ``data:`` and ``blob:``; each URL once, in order.

        Windows it opened, connections it announced and its icon count. So does a worker (``worker blob:...``):
        what a worker loads cannot be seen from here.
        """
        self.settle()
        self._read_logs()
        hints = self.evaluate("[...document.querySelectorAll(arguments[0])].map(l => l.href)", _LEFT_TO_BROWSER)
        return list(dict.fromkeys([*self._requests, *(url for url in hints if not _own(url))]))

    def console_errors(self) -> list[str]:
        """Warnings and errors in the console, exceptions nobody caught, and what a security policy stopped."""
        self.settle()
        self._read_logs()
        return list(self._complaints)

    def _read_logs(self) -> None:
        for entry in self._log("performance"):
            event = json.loads(entry["message"])["message"]
            url = _asked_for(event["method"], event["params"])
            if url is not None and urldefrag(url).url != self._url:
                self._requests.append(url)
        for entry in self._log("browser"):
            if entry["level"] in ("SEVERE", "WARNING"):
                self._complaints.append(f"{entry['level']} {entry['source']}: {entry['message']}")

    def _log(self, kind: str) -> list[dict[str, Any]]:
        return list(self.driver.execute("getLog", {"type": kind})["value"])

    # ------------------------------------------------------------------ how it is shown

    def set_theme(self, theme: Literal["light", "dark"]) -> None:
        """What the reader's system prefers; holds for later pages too."""
        self._theme = theme
        self._emulate_media()

    def set_print(self, on: bool) -> None:
        """Show the page as it would be printed."""
        self._print = on
        self._emulate_media()

    def _emulate_media(self) -> None:
        self._cdp(
            "Emulation.setEmulatedMedia",
            media="print" if self._print else "",
            features=[{"name": "prefers-color-scheme", "value": self._theme}],
        )

    def resize(self, width: int, height: int) -> None:
        """Change the size of the part in view, in CSS pixels."""
        self._cdp(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
        )

    def screenshot(self, path: Path) -> Path:
        """A PNG of the whole page, also of what is not in view."""
        self.settle()
        size = self._cdp("Page.getLayoutMetrics")["cssContentSize"]
        shot = self._cdp(
            "Page.captureScreenshot",
            format="png",
            captureBeyondViewport=True,
            clip={"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1},
        )
        path.write_bytes(base64.b64decode(shot["data"]))
        return path

    # ------------------------------------------------------------------ how fast it is

    def first_paint_ms(self, seconds: float = 10) -> float:
        """From the start of loading to the first text or image on the screen."""
        entry = "performance.getEntriesByName('first-contentful-paint')[0]"
        self.until(f"{entry} !== undefined", seconds)
        return float(self.evaluate(f"{entry}.startTime"))

    def timed(self, body: str, *arguments: object) -> float:
        """Milliseconds that a function body takes, with the layout that it makes necessary."""
        return float(
            self.driver.execute_script(
                "const laid = () => document.documentElement.getBoundingClientRect();"
                f"const work = function () {{ {body}\n }};"
                "laid(); const start = performance.now(); work.apply(null, arguments); laid();"
                "return performance.now() - start;",
                *arguments,
            )
        )

    # ------------------------------------------------------------------ its inside

    def evaluate(self, expression: str, *arguments: object) -> Any:
        """The value of a JavaScript expression; ``arguments[0]`` and so on are the arguments."""
        return self.driver.execute_script(f"return (\n{expression}\n);", *arguments)

    def evaluate_async(self, body: str, *arguments: object) -> Any:
        """What the body of an async function returns once it is done; it may ``await``."""
        return self.driver.execute_script(
            f"return (async function () {{\n{body}\n}}).apply(null, arguments);", *arguments
        )

    def all(self, css: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, css)

    def one(self, css: str) -> WebElement:
        """The only element that matches."""
        found = self.all(css)
        assert len(found) == 1, f"{len(found)} elements match {css}"
        return found[0]

    def text(self, css: str) -> str:
        """The visible text of the only element that matches."""
        return self.one(css).text

    # ------------------------------------------------------------------ what its reader does

    def click(self, css: str) -> None:
        self.one(css).click()

    def type_into(self, css: str, text: str) -> None:
        """Replace what a field holds, key by key; no text empties it."""
        self.click(css)
        self.press("Control+a", *text or ["Delete"])

    def press(self, *keys: str) -> None:
        """Press keys where the focus is: a character, ``Tab``, ``ArrowDown``, ``Shift+Tab``, ``Control+a``."""
        actions = ActionChains(self.driver, duration=0)
        for combination in keys:
            held, key = _keys(combination)
            for modifier in held:
                actions.key_down(modifier)
            actions.send_keys(key)
            for modifier in reversed(held):
                actions.key_up(modifier)
        actions.perform()

    def focused(self) -> str:
        """Where the focus is, such as ``button#next.step "Next step"``; empty if nowhere."""
        return str(self.driver.execute_script(_FOCUSED))

    def _cdp(self, command: str, **parameters: object) -> Any:
        return self.driver.execute_cdp_cmd(command, parameters)


def _own(url: str) -> bool:
    return urlsplit(url).scheme in _OWN_SCHEMES


def _asked_for(method: str, parameters: dict[str, Any]) -> str | None:
    """The URL that an event of the performance log shows the page to want."""
    if method == "Network.requestWillBeSent":
        url = str(parameters["request"]["url"])
        if not _own(url):
            return url
        if parameters.get("type") == "Script" and parameters.get("documentURL") == url:
            return f"worker {url}"
        return None
    if method in ("Network.webSocketCreated", "Network.webTransportCreated", "Page.windowOpen"):
        return str(parameters["url"])
    return None


def _keys(combination: str) -> tuple[list[str], str]:
    if len(combination) == 1:
        return [], combination
    *held, key = combination.split("+")
    assert all(name in _MODIFIERS for name in held), f"unknown key: {combination}"
    assert key in _KEYS or len(key) == 1, f"unknown key: {combination}"
    return [_MODIFIERS[name] for name in held], _KEYS.get(key, key)


# ---------------------------------------------------------------------- starting and stopping


class _Leashed(Service):
    """The driver as a child of leash.py, which ends it, and with it the browser, when this process ends."""

    def __init__(self, driver: str, directory: Path) -> None:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("XDG_")}
        environment.update(HOME=str(directory), TMPDIR=str(directory))
        super().__init__(
            executable_path=sys.executable,
            env=environment,
            driver_path_env_key="NO_OTHER_DRIVER",
            popen_kw={"start_new_session": True},  # Ctrl-C is for us; we then stop the browser in our own time
        )
        self._command = [str(Path(__file__).with_name("leash.py")), str(directory), driver]

    def command_line_args(self) -> list[str]:
        return [*self._command, *super().command_line_args()]

    def stop(self) -> None:
        """Let go of the leash, and wait until the driver and the directory are gone."""
        process: subprocess.Popen[bytes] | None = getattr(self, "process", None)
        if process is not None and process.stdin is not None:
            process.stdin.close()
            process.wait(timeout=30)


@contextmanager
def _talking_directly() -> Iterator[None]:
    """Selenium asks the environment for a proxy even to talk to the driver next to it."""
    before = {name: os.environ.get(name) for name in ("no_proxy", "NO_PROXY")}
    os.environ.update(dict.fromkeys(before, "localhost,127.0.0.1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def started() -> Iterator[Page]:
    """A browser with a profile of its own; no process and no file of it is left afterwards."""
    browser, driver = shutil.which(BROWSER), shutil.which(DRIVER)
    assert browser is not None, f"{BROWSER} is not on PATH"
    assert driver is not None, f"{DRIVER} is not on PATH"
    # A short path: the sockets that the browser makes below it must fit into a hundred characters.
    directory = Path(tempfile.mkdtemp(prefix="clew-browser-"))
    options = ChromeOptions()
    options.binary_location = browser
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    for flag in [*_FLAGS, f"--user-data-dir={directory / 'profile'}"]:
        options.add_argument(flag)
    service = _Leashed(driver, directory)
    try:
        with _talking_directly():
            chrome = Chrome(options=options, service=service)
        try:
            chrome.set_page_load_timeout(60)
            chrome.set_script_timeout(60)
            yield Page(chrome)
        finally:
            chrome.quit()
    finally:
        service.stop()
