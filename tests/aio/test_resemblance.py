"""What stands in for functions of Python is still known by analyses that run in the same process."""

from __future__ import annotations

import datetime
import os
import random
import time
from collections.abc import Callable
from typing import Any

import pytest

import clew
from clew.aio.patching.installing import install_patches
from clew.bloom import Bloom, bloom, channel, interface, table


class ByClock(Bloom):
    given = interface.input("n")
    found = interface.output("n")
    message = channel("@to", "n")
    kept = table("n")

    @bloom
    def rules(self) -> None:
        self.message <~ self.given(lambda g: ("a", g.n))
        self.kept <= self.message(lambda m: (time.time(),))
        self.found <= self.kept


class ByDate(ByClock):
    @bloom
    def rules(self) -> None:
        self.message <~ self.given(lambda g: ("a", g.n))
        self.kept <= self.message(lambda m: (datetime.datetime.now().isoformat(),))
        self.found <= self.kept


class ByChance(ByClock):
    @bloom
    def rules(self) -> None:
        self.message <~ self.given(lambda g: ("a", g.n))
        self.kept <= self.message(lambda m: (random.random(),))
        self.found <= self.kept


class ByProcess(ByClock):
    @bloom
    def rules(self) -> None:
        self.message <~ self.given(lambda g: ("a", g.n))
        self.kept <= self.message(lambda m: (os.getpid(),))
        self.found <= self.kept


@pytest.mark.parametrize(
    ("program", "touched"),
    [
        (ByClock, "time.time"),
        (ByDate, "datetime.datetime.now"),
        (ByChance, "random.random"),
        (ByProcess, "os.getpid"),
    ],
)
def test_rules_that_ask_what_is_replaced_are_seen_to_depend_on_it(program: type[Bloom], touched: str) -> None:
    install_patches()
    assert f"a function touches {touched}" in str(clew.calm(program))


@pytest.mark.parametrize("function", [time.time, time.sleep, random.random, random.randint, os.getpid, os.urandom])
def test_stand_ins_are_called_what_they_stand_for(function: Callable[..., Any]) -> None:
    install_patches()
    module = {"sleep": time, "time": time, "getpid": os, "urandom": os}.get(function.__name__, random)
    found = getattr(module, function.__name__)
    assert (found.__name__, found.__qualname__) == (function.__name__, function.__qualname__)
    assert found.__module__ == (function.__module__ or module.__name__)
