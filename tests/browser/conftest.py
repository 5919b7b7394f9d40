"""The browser of the tests in this directory: one a worker, put back to its first state before each test.

And the reports that they open, each made once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from browser.driving import Page, started
from browser.presence import why_skipped
from command import clew

Reports = Callable[..., Path]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Page]:
    reason = why_skipped()
    if reason is not None:
        pytest.skip(reason)
    # A browser that is there and does not start is an error, not a reason to skip.
    with started() as page:
        yield page


@pytest.fixture
def browser(chromium: Page) -> Page:
    """A page in a real browser, as if just started."""
    chromium.reset()
    return chromium


@pytest.fixture(scope="session")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Reports:
    """The report that a command writes; made once."""
    made: dict[tuple[str, ...], Path] = {}

    def report(*words: str) -> Path:
        if words not in made:
            made[words] = tmp_path_factory.mktemp("report") / "report.html"
            done = clew(*words, "--report", str(made[words]))
            assert done.returncode in (0, 1, 3), done.stderr
        return made[words]

    return report
