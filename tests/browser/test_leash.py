"""Nothing of the browser is left, however a run ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from browser.driving import Page, started
from browser.presence import why_skipped
from command import ROOT

LEASH = ROOT / "tests" / "browser" / "leash.py"

needs_proc = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks for processes in /proc")


def _processes(directory: Path) -> list[str]:
    """The living processes whose home is this directory."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if f"HOME={directory}\0".encode() in (process / "environ").read_bytes():
                found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue  # it has ended, or is none of ours
    return found


def _gone(directory: Path) -> bool:
    deadline = time.monotonic() + 20
    while _processes(directory) or directory.exists():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def _home(page: Page) -> Path:
    return Path(page.driver.capabilities["chrome"]["userDataDir"]).parent


@contextmanager
def _run(*command: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, encoding="utf-8", start_new_session=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


STARTER = """
import subprocess, sys, time
subprocess.Popen([sys.executable, *sys.argv[1:]], stdin=subprocess.PIPE, env={"HOME": sys.argv[2]})
time.sleep(600)
"""


@needs_proc
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_command_ends_with_its_starter(tmp_path: Path, end: signal.Signals) -> None:
    directory = tmp_path / "home"
    directory.mkdir()
    (directory / "file").touch()
    sleep = "import time; time.sleep(600)"
    with _run(sys.executable, "-c", STARTER, str(LEASH), str(directory), sys.executable, "-c", sleep) as starter:
        deadline = time.monotonic() + 20
        while len(_processes(directory)) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert directory.exists()
        starter.send_signal(end)
        assert _gone(directory)


@needs_proc
def test_a_leash_ends_with_its_command(tmp_path: Path) -> None:
    directory = tmp_path / "home"
    directory.mkdir()
    command = [sys.executable, str(LEASH), str(directory), sys.executable, "-c", ""]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as leash:
        leash.wait(timeout=20)
    assert not directory.exists()


def _skip_without_a_browser() -> None:
    reason = why_skipped()
    if reason is not None:
        pytest.skip(reason)


@needs_proc
def test_nothing_is_left_of_a_browser() -> None:
    _skip_without_a_browser()
    before = dict(os.environ)
    with pytest.raises(ZeroDivisionError), started() as page:
        home = _home(page)
        assert {"leash.py", "chromedriver", "chromium"} <= {
            name for name in ("leash.py", "chromedriver", "chromium") for p in _processes(home) if name in p
        }
        raise ZeroDivisionError
    assert _gone(home)
    assert dict(os.environ) == before


@needs_proc
def test_nothing_is_left_of_a_browser_that_crashed() -> None:
    _skip_without_a_browser()
    with started() as page:
        home = _home(page)
        os.kill(page.driver.service.process.pid, signal.SIGTERM)
        assert _gone(home)


@needs_proc
@pytest.mark.parametrize(
    ("end", "workers"),
    [(signal.SIGINT, ["-n", "1"]), (signal.SIGKILL, [])],
    ids=["Ctrl-C, a worker", "killed, alone"],
)
def test_nothing_is_left_when_a_run_is_stopped(tmp_path: Path, end: signal.Signals, workers: list[str]) -> None:
    _skip_without_a_browser()
    (tmp_path / "conftest.py").write_text("from browser.conftest import browser, chromium\n", encoding="utf-8")
    (tmp_path / "test_long.py").write_text(
        f"""
import time
from pathlib import Path

def test_long(browser):
    browser.open(Path(__file__))
    Path({str(tmp_path / "home")!r}).write_text(browser.driver.capabilities["chrome"]["userDataDir"])
    time.sleep(600)
""",
        encoding="utf-8",
    )
    options = ["-p", "no:cacheprovider", "--import-mode=importlib", "-o", f"pythonpath={ROOT / 'tests'}", *workers]
    with _run(sys.executable, "-m", "pytest", f"--rootdir={tmp_path}", *options, str(tmp_path)) as run:
        deadline = time.monotonic() + 60
        while not (tmp_path / "home").exists() or not (tmp_path / "home").read_text(encoding="utf-8"):
            assert run.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        home = Path((tmp_path / "home").read_text(encoding="utf-8")).parent
        assert _processes(home)
        os.killpg(run.pid, end)  # as a terminal does: to all the processes of the run
        assert _gone(home)
