"""Which test is running: what its checks need to know of it, and what they leave behind for its report."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


@dataclass
class RunningTest:
    """A test while it runs.

    ``checks``: how many checks it has made so far; ``passed``: the answers of those that it passed, with what they
    cover; ``notes``: what its report should say beside.  ``generates``: whether Hypothesis draws its inputs.
    ``refused``: the mistake for which a check was not made.
    """

    item: pytest.Item
    checks: int = 0
    passed: list[tuple[str, str]] = field(default_factory=list)
    properties: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    generates: bool = False
    refused: Exception | None = None


#: The innermost last: a test may run pytest itself.
_running: list[RunningTest] = []


def enter_test(item: pytest.Item) -> RunningTest:
    """Remember which test runs now."""
    _running.append(RunningTest(item))
    return _running[-1]


def begin_anew() -> None:
    """Forget what the test has done so far: other plugins run a test again that has failed."""
    _running[-1] = RunningTest(_running[-1].item)


def leave_test() -> None:
    """Forget the test that was entered last."""
    _running.pop()


def current_test() -> RunningTest | None:
    """Return the test that runs now; None outside of tests, and without the plugin."""
    return _running[-1] if _running else None
