"""The browser of the tests in this directory: one a worker, put back to its first state before each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from browser.driving import Page, started
from browser.presence import why_skipped


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
