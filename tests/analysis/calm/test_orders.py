"""Labels against behaviour: where they say consistent all orders end alike; where they say D, two do not."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, cast

import pytest

from analysis.calm.analysis import of_class
from analysis.calm.example_workloads import WORKLOADS
from clew.analysis.calm.analysis import Analysis, Label
from clew.analysis.calm.trying import orders as trying_orders
from clew.analysis.calm.trying.orders import Difference, consistent_state, try_analysis, try_orders
from clew.analysis.calm.trying.runs import Delivery, EndlessError, Firing, Given, Message, Step, run
from clew.analysis.calm.trying.workloads import Input, Workload, workload, workload_of
from clew.bloom import Bloom, agg, bloom, channel, checked, interface, periodic, rows, table
from clew.bloom.language.module import Module
from clew.bloom.runtime.node import Node
from clew.errors import UsageError

ORDERS, THOROUGH_ORDERS = 15, 200
#: Two orders that differ are looked for among so many.
MOST_ORDERS = 200
EXAMPLES = Path(__file__).parents[3] / "examples" / "bloom"


@pytest.fixture
def orders(thorough: bool) -> int:
    return THOROUGH_ORDERS if thorough else ORDERS


def _given_to(kind: Any) -> Workload:
    """The workload of an example; its rules are read once for each node, not for each run."""
    found = WORKLOADS[kind]
    return replace(found, nodes={address: _made_once(make(address)) for address, make in found.nodes.items()})


def _made_once(node: Node) -> Callable[[str], Node]:
    def again(address: str) -> Node:
        node._machine = None
        return node

    return again


@cache
def _analysed(kind: Any) -> Analysis:
    return of_class(kind)


def _labelled(kind: Any, *labels: Label) -> list[str]:
    return [o.name for o in _analysed(kind).outputs if o.label in labels]


CONSISTENT = [kind for kind in WORKLOADS if _labelled(kind, Label.MONOTONE, Label.ASYNCHRONOUS)]
STEPPED = [kind for kind in WORKLOADS if _labelled(kind, Label.NONMONOTONE)]
DIVERGENT = [kind for kind in WORKLOADS if _labelled(kind, Label.DIVERGES)]


def _named(kind: Any) -> str:
    return str(kind.__name__)


# -- the examples ------------------------------------------------------------------------------------------------


def test_every_example_that_can_run_has_a_workload() -> None:
    """The others have no output, or only outputs that depend on an interface that nobody fills."""
    found = set()
    for file in sorted(EXAMPLES.glob("*.py")):
        module = importlib.import_module(file.stem)
        for kind in vars(module).values():
            written = isinstance(kind, type) and issubclass(kind, Module) and kind.__module__ == file.stem
            if written and any(o.label is not Label.UNKNOWN for o in _analysed(cast(Any, kind)).outputs):
                found.add(kind)
    assert found == set(WORKLOADS)


@pytest.mark.parametrize("kind", CONSISTENT, ids=_named)
def test_what_is_labelled_consistent_ends_alike_in_all_orders(kind: Any, orders: int) -> None:
    """The outputs that are, and all tables that they depend on."""
    tried = try_orders(_given_to(kind), consistent_state(_analysed(kind)), orders=orders)
    assert (tried.orders, tried.pair) == (orders, None)


@pytest.mark.parametrize("kind", STEPPED, ids=_named)
def test_what_steps_decide_is_the_same_in_the_same_steps(kind: Any, orders: int) -> None:
    names = _labelled(kind, Label.NONMONOTONE)
    tried = try_orders(_given_to(kind), names, orders=orders, steps_given=True)
    assert (tried.orders, tried.pair) == (orders, None)


@pytest.mark.parametrize("kind", DIVERGENT, ids=_named)
def test_what_is_labelled_divergent_ends_differently_in_two_orders(
    kind: Any, thorough: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not thorough:
        # To make pairs small takes ten times as long as to find them; that it is right is tested below.
        monkeypatch.setattr(trying_orders, "_shorten", lambda found, *_, **__: found)
    names = _labelled(kind, Label.DIVERGES)
    pair = try_orders(_given_to(kind), names, orders=MOST_ORDERS).pair
    assert pair is not None
    assert pair.difference.collection in names
    assert pair.difference.only_first or pair.difference.only_second
    assert pair.late


# -- what is found is small --------------------------------------------------------------------------------------


class Race(Bloom):
    """The last word wins."""

    setting = checked(
        nodes=["a", "b"],
        given={"b": {"say": [("a", "x")], 2: {"say": [("a", "y")]}, 3: {"say": [("a", "z")]}}},
    )
    say = interface.input("dst", "word")
    word = channel("@dst", "word")
    last = table(val=["word"])
    heard = table("word")

    @bloom
    def rules(self) -> None:
        self.word <~ self.say
        self.last <+ self.word(lambda w: (w.word,))
        self.last <- (self.last * self.word).lefts()
        self.heard <= self.word(lambda w: (w.word,))


def test_nodes_that_are_numbers_have_no_address() -> None:
    """What is sent to 1 would not come to the address "1": nothing would be under way, in whatever order."""
    numbered = type("Numbered", (Race,), {"setting": checked(nodes=[1, "b"])})
    with pytest.raises(UsageError) as refused:
        workload_of(numbered)
    assert refused.value.message == "the node 1 is a number, and nodes that run have addresses, which are strings"
    assert "'1' in the setting" in (refused.value.remedy or "")


def test_a_pair_is_as_small_as_possible() -> None:
    """One of two words is two rounds late; with one round, both would come in one step."""
    pair = try_orders(workload_of(Race), ["last"]).pair
    assert pair is not None
    assert pair.workload.inputs == (Input("b", "say", ("a", "y"), 2), Input("b", "say", ("a", "z"), 3))
    assert pair.late == {Message("b", "word", ("a", "y"), 1): 2}
    in_time, late = (
        [(d.node, d.step, d.channel, d.row) for d in one.deliveries] for one in (pair.prompt_run, pair.late_run)
    )
    assert in_time == [("a", 3, "word", ("a", "y")), ("a", 4, "word", ("a", "z"))]
    assert late == [("a", 4, "word", ("a", "z")), ("a", 5, "word", ("a", "y"))]
    assert pair.difference == Difference("a", "last", (("z",),), (("y",),))


def test_orders_in_which_keys_clash_are_left_out_and_replaced() -> None:
    tried = try_orders(workload_of(Race), ["heard"], orders=50)
    assert (tried.orders, tried.pair) == (50, None)
    assert tried.left_out > 0


def test_the_same_seed_is_the_same_result() -> None:
    first, second = (try_orders(workload_of(Race), ["last"], seed=7).pair for _ in range(2))
    assert first is not None
    assert second is not None
    assert (first.late, first.late_run, first.seed) == (second.late, second.late_run, second.seed)


def test_outputs_are_tried_by_label() -> None:
    trials = try_analysis(of_class(Race), workload_of(Race), orders=20)
    assert [([o.name for o in t.outputs], t.tried.pair is None, t.contradicts) for t in trials] == [
        (["heard"], True, False),
        (["last"], False, False),
    ]


class Stepping(Bloom):
    """How many rows a step gets is a matter of batching, and nothing else."""

    given = interface.input("x")
    shown = interface.output("n")

    @bloom
    def rules(self) -> None:
        self.shown <= self.given.group([], n=agg.count())


def test_what_steps_decide_is_tried_with_the_same_steps_and_with_others() -> None:
    given = workload({"a": Stepping}, {"a": {"given": [(1,)]}}, later={"a": {2: {"given": [(2,)]}}})
    trials = try_analysis(of_class(Stepping), given, orders=20)
    assert [(t.steps_given, t.tried.pair is None, t.contradicts) for t in trials] == [
        (True, True, False),
        (False, False, False),
    ]
    pair = trials[1].tried.pair
    assert pair is not None
    assert pair.late == {Given("a", "given", (1,), 1): 1}  # so that both come in the second step
    assert pair.difference == Difference("a", "shown", ((1,),), ((2,),))


def test_a_contradiction_is_one() -> None:
    """A label that promises too much, made by hand."""
    analysis = of_class(Stepping)
    outputs = tuple(replace(output, label=Label.MONOTONE) for output in analysis.outputs)
    given = workload({"a": Stepping}, {"a": {"given": [(1,), (2,)]}})
    (trial,) = try_analysis(replace(analysis, outputs=outputs), given, orders=20)
    assert trial.contradicts


class Alternating(Bloom):
    """Changes by itself: an empty step more, and the other row is stored."""

    held = table("x")

    @bloom
    def rules(self) -> None:
        self.held <+ rows([(1,)]).rename("x").notin(self.held)
        self.held <- self.held


def test_empty_steps_are_tried_and_steps_are_compared_one_by_one() -> None:
    given = workload({"a": Alternating}, {})
    assert try_orders(given, ["held"], steps_given=True, orders=20).pair is None


# -- one run -----------------------------------------------------------------------------------------------------


class Ticking(Bloom):
    timer = periodic(1)
    beat = channel("@dst", "number")
    beats = table("number")
    asked = interface.input("x")
    shown = interface.output("x")

    @bloom
    def rules(self) -> None:
        self.beat <~ self.timer(lambda t: ("b", t.key))
        self.beats <= self.beat(lambda b: (b.number,))
        self.shown <= self.asked


def _events_late(late: dict[Any, int]) -> Any:
    return lambda event: late.get(event, 0)


def test_messages_steps_and_timers_can_be_late() -> None:
    given = workload({"a": Ticking, "b": lambda name: Bloom(name)}, {}, ticks=1)
    late = {Firing("a", "timer", 1): 2, Step("a", 2): 3}
    assert run(given, _events_late({}), []).deliveries == (
        Delivery("a", 1, "timer", (1, 1)),
        Delivery("a", 2, "timer", (2, 2)),
    )
    late_run = run(given, _events_late(late), [])
    assert late_run.deliveries == (Delivery("a", 3, "timer", (1, 1)), Delivery("a", 4, "timer", (2, 2)))
    assert late_run.rounds == 8


def test_all_that_was_shown_counts_and_what_is_stored_at_the_end() -> None:
    given = workload({"b": Ticking}, {"b": {"asked": [(1,)]}}, later={"b": {3: {"asked": [(2,)]}}}, ticks=1)
    shown = run(given, _events_late({}), ["shown", "beats", "beat"]).shown
    assert [(one.collection, one.rows) for one in shown] == [
        ("shown", ((1,), (2,))),
        ("beats", ((1,), (2,))),
        ("beat", (("b", 1), ("b", 2))),
    ]


class Echo(Bloom):
    begin = interface.input("dst")
    echo = channel("@dst")

    @bloom
    def rules(self) -> None:
        self.echo <~ self.begin
        self.echo <~ self.echo


def test_a_run_without_an_end_is_given_up() -> None:
    with pytest.raises(EndlessError, match="not over after 30 rounds"):
        run(workload({"a": Echo}, {"a": {"begin": [("a",)]}}), _events_late({}), [], most_rounds=30)


def test_rows_for_nobody_are_refused() -> None:
    with pytest.raises(UsageError, match="rows are given to 'z', which is no node"):
        run(workload({"a": Echo}, {"z": {"begin": [("a",)]}}), _events_late({}), [])


def test_inputs_that_clash_are_refused() -> None:
    given = workload({"a": Race}, {"a": {"last": [("x",), ("y",)]}})
    with pytest.raises(UsageError, match="has the same key"):
        try_orders(given, ["last"])


def test_a_class_without_a_setting_does_not_say_what_it_runs_with() -> None:
    with pytest.raises(UsageError, match="Echo does not say what it runs with"):
        workload_of(Echo)
