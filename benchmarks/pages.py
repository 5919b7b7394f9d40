"""The report in a real browser: how large it is, when it first shows something, how long a filter takes."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.cases import EXAMPLES

sys.path.insert(0, str(EXAMPLES.parent / "tests"))  # the tests know how to drive a browser

from browser.presence import why_skipped

#: Many rows: each of so many nodes counts up for so many steps.
_NODES, _STEPS = 50, 101

_FILTERS = ("log", "s, p", "no such row", "")


@dataclass(frozen=True)
class Opened:
    """``rows``: rows by time in all runs together that the page can show; times in milliseconds."""

    name: str
    bytes: int
    rows: int
    first_paint: float
    filter: float


def measure(times: int) -> list[Opened] | str:
    """The pages of kafka, flux and a program with thousands of rows, or why they could not be opened."""
    missing = why_skipped()
    if missing is not None:
        return missing
    from browser.driving import started

    with tempfile.TemporaryDirectory() as directory, started() as browser:
        opened = []
        for name, path in _pages(Path(directory)):
            paints, filters = [], []
            for _ in range(times):
                browser.open(path)
                paints.append(browser.first_paint_ms())
                filters += [
                    browser.timed(
                        "const box = document.getElementById('filter'); box.value = arguments[0];"
                        "box.dispatchEvent(new Event('input'));",
                        text,
                    )
                    for text in _FILTERS
                ]
            rows = browser.evaluate("JSON.parse(document.getElementById('data').textContent).rows.length")
            opened.append(Opened(name, path.stat().st_size, rows, median(paints), max(filters)))
        return opened


def _pages(directory: Path) -> Iterator[tuple[str, Path]]:
    for name in ("kafka", "flux"):
        yield name, _report(EXAMPLES / f"{name}.ded", directory / f"{name}.html")
    many = directory / "many.ded"
    many.write_text(_counting(), encoding="utf-8")
    yield f"{_NODES * _STEPS} rows", _report(many, directory / "many.html")


def _report(program: Path, page: Path) -> Path:
    command = [sys.executable, "-m", "clew", "check", str(program), "--report", str(page)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if not page.exists():
        raise RuntimeError(f"{program.name}: {done.stderr.strip()}")  # on a busy machine, its time may be over
    return page


def _counting() -> str:
    nodes = [f"n{i}" for i in range(_NODES)]
    facts = "".join(f'count("{n}", 0)@1; peer("n0", "{n}")@1;\n' for n in nodes)
    return f"""//! nodes={",".join(nodes)} eot={_STEPS} eff=2 crashes=0
{facts}
count(N, C + 1)@next :- count(N, C);
hello(P)@async :- peer(N, P);
heard(P) :- hello(P);
heard(P)@next :- heard(P);
pre(N) :- count(N, _);
post(N) :- count(N, _), heard("n1");
"""
