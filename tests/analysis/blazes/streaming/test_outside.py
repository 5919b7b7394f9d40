"""Bytewax dataflows whose steps depend on more than their input: nothing that is said makes them consistent."""

from __future__ import annotations

import datetime as dt
import functools
import itertools
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

import pytest

pytest.importorskip("bytewax", reason="there is no Bytewax for Python 3.13")

import bytewax.operators as op
import bytewax.operators.windowing as windowing
from bytewax.dataflow import Dataflow, Stream, operator
from bytewax.operators import StatefulBatchLogic, StatefulLogic
from bytewax.testing import TestingSink, TestingSource

import clew
from clew.analysis.blazes.streaming.flows import read_flow

SECOND = dt.timedelta(seconds=1)
SEEN: set[Any] = set()
COUNTS: Counter[Any] = Counter()
NUMBERS = itertools.count()
TABLE = {"a": 1}
LOOKED_UP = {"a": 1}
GENERATOR = Random(1)
_last: Any = None


@clew.annotate("CR")
def same(item: Any) -> Any:
    return item


def _flow(step: Callable[[Stream[Any]], Any], **said: Any) -> Dataflow:
    flow = Dataflow("flow")
    tweets = op.input("tweets", flow, clew.annotate_source(**said)(TestingSource(["a b", "a"])))
    op.output("commit", step(tweets), clew.annotate("CW")(TestingSink([])))
    return flow


def _keyed(up: Stream[Any]) -> Any:
    return op.key_on("keyed", up, same)


def _label(flow: Dataflow) -> str:
    return str(clew.blazes(flow).verdict.worst)


# -- code of the user --------------------------------------------------------------------------------------------


def draw(item: Any) -> Any:
    return item, random.random()


def draw_of_its_own(item: Any) -> Any:
    return item, GENERATOR.choice("ab")


def name_it(item: Any) -> Any:
    return item, uuid4()


def tell_the_time(item: Any) -> Any:
    return item, time.time()


def date(item: Any) -> Any:
    return item, dt.datetime.now(dt.UTC)


def by_hash(item: Any) -> str:
    return str(hash(item) % 2)


def by_process(item: Any) -> Any:
    return item, os.getpid()


def see_once(item: Any) -> Any:
    if item in SEEN:
        return None
    SEEN.add(item)
    return item


def count_outside(item: Any) -> Any:
    COUNTS[item] += 1
    return item, COUNTS[item]


def number(item: Any) -> Any:
    return next(NUMBERS), item


def remember(item: Any) -> Any:
    global _last
    before, _last = _last, item
    return before


def indirectly(item: Any) -> Any:
    return [draw(each) for each in item]


@functools.cache
def cached(item: Any) -> Any:
    return draw(item)


def _closure() -> Callable[[Any], Any]:
    last = None

    def pair(item: Any) -> Any:
        nonlocal last
        before, last = last, item
        return before, item

    return pair


def _captured() -> Callable[[Any], Any]:
    return lambda item: draw(item)


class Drawing:
    def __call__(self, item: Any) -> Any:
        return draw(item)


_OUTSIDE: list[tuple[Callable[[Any], Any], str]] = [
    (draw, "m-chance"),
    (draw_of_its_own, "m-chance"),
    (name_it, "m-chance"),
    (tell_the_time, "m-clock"),
    (date, "m-clock"),
    (by_hash, "m-process"),
    (by_process, "m-process"),
    (see_once, "m-state"),
    (count_outside, "m-state"),
    (number, "m-state"),
    (remember, "m-state"),
    (indirectly, "m-chance"),
    (cached, "m-chance"),
    (functools.partial(draw), "m-chance"),
    (_closure(), "m-state"),
    (_captured(), "m-chance"),
    (Drawing(), "m-chance"),
]


@pytest.mark.parametrize(("code", "source"), _OUTSIDE, ids=map(str, range(len(_OUTSIDE))))
@pytest.mark.parametrize("said", [{}, {"seal": "batch"}])
def test_code_that_gives_something_else_the_next_time(
    code: Callable[[Any], Any], source: str, said: dict[str, str]
) -> None:
    @clew.annotate("CR")
    @operator
    def step(step_id: str, up: Stream[Any]) -> Stream[Any]:
        return op.map("inside", up, code)

    flow = _flow(lambda up: step("m", up), **said)
    assert _label(flow) == "Run"
    assert [s.name for s in read_flow(flow).sources] == ["tweets", source]


def test_the_place_where_it_depends_on_more() -> None:
    flow = _flow(lambda up: op.map("m", up, clew.annotate("CR")(lambda item: draw(item))))
    (chance,) = [s for s in read_flow(flow).sources if s.name == "m-chance"]
    assert chance.position is not None
    assert (chance.position.file, chance.position.line) == (__file__, draw.__code__.co_firstlineno + 1)


def test_the_author_may_say_that_it_makes_no_difference() -> None:
    @clew.annotate("CR", repeatable=True)
    def logged(item: Any) -> Any:
        SEEN.add(time.time())
        return item

    assert _label(_flow(lambda up: op.map("m", up, logged))) == "Async"


def test_code_that_depends_on_its_input_alone() -> None:
    """What is looked up, what a call makes for itself, and drawing from a seed of the input."""

    @clew.annotate("CR")
    def pure(item: Any) -> Any:
        found: list[Any] = []
        counts: dict[Any, int] = {}
        found.append(LOOKED_UP.get(item))
        counts[item] = len(found)
        TABLE = {item: 1}  # noqa: N806  # its own, of the same name as one outside
        TABLE[item] = 2
        when = dt.datetime(2015, 1, 1, tzinfo=dt.UTC) + SECOND
        return sorted(counts), when, _add(1, 2)

    assert _label(_flow(lambda up: op.map("m", up, pure))) == "Async"


def _add(one: int, other: int) -> int:
    return one + other


def test_both_functions_of_a_step_count() -> None:
    added = clew.annotate("CW")(lambda total, _: total + 1)
    flow = _flow(lambda up: op.fold_final("f", _keyed(up), random.random, added))
    assert _label(flow) == "Run"
    flow = _flow(lambda up: op.fold_final("f", _keyed(up), int, added))
    assert _label(flow) == "Async"
    flow = _flow(lambda up: op.fold_final("f", _keyed(up), lambda: draw(0)[1], added))
    assert _label(flow) == "Run"


# -- operators that the clock drives -----------------------------------------------------------------------------


@clew.annotate("CW")
def add(count: int, _: Any) -> int:
    return count + 1


def _window(up: Stream[Any], clock: windowing.Clock[Any, Any], folder: Callable[[int, Any], int]) -> Any:
    begin = dt.datetime(2015, 1, 1, tzinfo=dt.UTC)
    windower = windowing.TumblingWindower(SECOND, begin)
    return windowing.fold_window("w", _keyed(up), clock, windower, int, folder, int.__add__).down


def _event_clock() -> windowing.Clock[Any, Any]:
    return windowing.EventClock(lambda item: dt.datetime(2015, 1, 1, tzinfo=dt.UTC), SECOND)


@clew.annotate("CW")
@operator
def collected(step_id: str, up: Stream[Any]) -> Stream[Any]:
    return op.collect("c", _keyed(up), SECOND, 10)


@clew.annotate("OW", "batch", order="sequence")
@operator
def collected_in_order(step_id: str, up: Stream[Any]) -> Stream[Any]:
    return op.collect("c", _keyed(up), SECOND, 10)


@clew.annotate("OW", "batch")
class Window(StatefulLogic[Any, int, int]):
    def __init__(self, state: int | None) -> None:
        self.count = state or 0

    def on_item(self, value: Any) -> tuple[list[int], bool]:
        self.count += 1
        return [], False

    def on_notify(self) -> tuple[list[int], bool]:
        return [self.count], True

    def notify_at(self) -> dt.datetime | None:
        return dt.datetime.max.replace(tzinfo=dt.UTC)

    def snapshot(self) -> int:
        return self.count


class Derived(Window):
    """Closes by the clock, too."""


@clew.annotate("OW", "batch")
class Batches(StatefulBatchLogic[Any, int, int]):
    """Is never woken up."""

    def __init__(self, state: int | None) -> None:
        self.count = state or 0

    def on_batch(self, values: list[Any]) -> tuple[list[int], bool]:
        self.count += len(values)
        return [], False

    def snapshot(self) -> int:
        return self.count


@pytest.mark.parametrize(
    ("step", "source"),
    [
        (lambda up: _window(up, windowing.SystemClock(), add), "w-clock"),
        (lambda up: _window(up, _event_clock(), add), "w-clock"),
        (lambda up: _window(up, windowing.SystemClock(), clew.annotate("OW", "batch")(lambda a, b: a)), "w-clock"),
        (lambda up: op.enrich_cached("e", up, dict, clew.annotate("CR")(lambda cache, item: item)), "e-clock"),
        (lambda up: collected("c", up), "c-clock"),
        (lambda up: collected_in_order("c", up), "c-clock"),
        (lambda up: op.stateful("s", _keyed(up), Window), "s-clock"),
        (lambda up: op.stateful("s", _keyed(up), clew.annotate("OW", "batch")(Derived)), "s-clock"),
        (
            lambda up: op.stateful("s", _keyed(up), clew.annotate("OW", "batch")(lambda state: Window(state))),
            "s-clock",
        ),
    ],
)
def test_no_seal_and_no_order_helps_what_the_clock_drives(step: Callable[[Any], Any], source: str) -> None:
    flow = _flow(step, seal="batch")
    assert source in [s.name for s in read_flow(flow).sources]
    assert _label(flow) == "Run"


def test_logic_that_is_not_woken_up_waits_for_seals() -> None:
    assert _label(_flow(lambda up: op.stateful_batch("s", _keyed(up), Batches), seal="batch")) == "Async"


def test_a_step_that_is_not_repeatable_anyway_is_told_so_first() -> None:
    """Without seals, what helps against the order is said; with them, that the clock is left."""
    flow = _flow(lambda up: op.stateful("s", _keyed(up), Window), attributes=["batch"])
    assert [s.name for s in read_flow(flow).sources] == ["tweets"]
    (sink,) = clew.blazes(flow).verdict.sinks
    assert (str(sink.label), [blame.components for blame in sink.blame]) == ("Run", [("s",)])


def test_instances_that_ought_to_agree_have_clocks_of_their_own() -> None:
    told = clew.annotate("CR", replicated=True)(lambda item: tell_the_time(item))
    assert _label(_flow(lambda up: op.map("m", up, told))) == "Split"


# -- joins -------------------------------------------------------------------------------------------------------


def _joined(mode: Any, *annotation: Any, **said: Any) -> Dataflow:
    @clew.annotate(*annotation, **said)
    @operator
    def joined(step_id: str, up: Stream[Any]) -> Stream[Any]:
        return op.join("j", _keyed(up), op.key_on("other", up, same), emit_mode=mode)

    return _flow(lambda up: joined("j", up), seal="batch")


@pytest.mark.parametrize("mode", ["complete", "running"])
def test_a_join_that_hands_on_what_has_come_waits_for_no_seal(mode: str) -> None:
    with pytest.raises(clew.ProgramError, match="joins rows as they come, and waits for no seal") as raised:
        clew.blazes(_joined(mode, "OW", "batch"))
    assert "OW without attributes" in str(raised.value.remedy)
    assert _label(_joined(mode, "OW")) == "Run"
    assert _label(_joined(mode, "OW", "batch", order="sequence")) == "Async"
    assert _label(_joined("final", "OW", "batch")) == "Async"


def test_a_running_join_is_not_confluent() -> None:
    with pytest.raises(clew.ProgramError, match="hands on what has come so far"):
        clew.blazes(_joined("running", "CW"))
    assert _label(_joined("complete", "CW")) == "Async"


# -- what really happens -----------------------------------------------------------------------------------------

_REALLY = """
import sys
from test_outside import by_hash
print([by_hash(word) for word in "the quick brown fox jumps over the lazy dog again and again".split()])
"""


def test_hashes_of_texts_do_differ_between_processes() -> None:
    """The reason why a key by ``hash`` is not repeatable: workers send the same word to different places."""
    seen = {
        subprocess.run(
            [sys.executable, "-c", _REALLY],
            cwd=Path(__file__).parent,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(seen) == 2
