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
    """

    item: pytest.Item
    checks: int = 0
    passed: list[tuple[str, str]] = field(default_factory=list)
    properties: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    generates: bool = False


#: The innermost last: a test may run pytest itself.
_running: list[RunningTest] = []


def enter_test(item: pytest.Item) -> RunningTest:
    """Remember which test runs now."""
    _running.append(RunningTest(item))
    return _running[-1]


def leave_test() -> None:
    """Forget the test that was entered last."""
    _running.pop()


def current_test() -> RunningTest | None:
    """Return the test that runs now; None outside of tests, and without the plugin."""
    return _running[-1] if _running else None
