"""A few lines of each kind, and then a count."""

from __future__ import annotations

import logging
from collections.abc import Callable

import pytest

from clew.bloom.network.limits import PERIOD, LimitedLog


def test_a_few_lines_of_each_kind_and_a_count(caplog: pytest.LogCaptureFixture) -> None:
    later: list[tuple[float, Callable[[], None]]] = []
    log = LimitedLog(logging.getLogger("test"), 2, lambda seconds, tell: later.append((seconds, tell)))
    for number in range(5):
        log.write("bad", "number %d is bad", number)
    log.write("worse", "%s", "x" * 10_000)
    assert [seconds for seconds, _ in later] == [PERIOD]
    later.pop()[1]()
    log.write("bad", "number %d is bad", 9)
    log.tell()
    lines = [record.getMessage() for record in caplog.records]
    assert lines[:2] == ["number 0 is bad", "number 1 is bad"]
    assert lines[2] == "x" * 500 + "... (10000 characters)"
    assert lines[3:] == ["bad: 3 more like that within 10 seconds", "number 9 is bad"]


def test_an_exception_is_an_error_with_its_trace(caplog: pytest.LogCaptureFixture) -> None:
    log = LimitedLog(logging.getLogger("test"), 2, lambda seconds, tell: None)
    try:
        raise ZeroDivisionError("x")
    except ZeroDivisionError:
        log.write("failed", "%s failed", "it", exc_info=True)
    assert caplog.records[0].levelno == logging.ERROR
    assert "ZeroDivisionError" in caplog.text
