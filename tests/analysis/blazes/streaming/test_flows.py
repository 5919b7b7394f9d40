"""Bytewax dataflows with annotations: what becomes of their steps, and which of them are refused."""

from __future__ import annotations

import functools
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest

pytest.importorskip("bytewax", reason="there is no Bytewax for Python 3.13")

import bytewax.operators as op
import bytewax.operators.windowing as windowing
from bytewax.dataflow import Dataflow, Stream, operator
from bytewax.operators import KeyedStream
from bytewax.testing import TestingSink, TestingSource, run_main

import clew
from clew.analysis.blazes.dataflow import Ordering
from clew.analysis.blazes.streaming.flows import read_flow
from clew.analysis.blazes.yaml.reading import parse_dataflow
from clew.analysis.blazes.yaml.writing import dataflow_yaml


@clew.annotate("CR", lineage=["batch"], attributes=["word", "batch"])
def split(tweet: str) -> list[str]:
    return tweet.split()


@clew.annotate("CR")
def same(item: Any) -> Any:
    return item


@clew.annotate("OW", ["word", "batch"])
def count(state: int | None, word: str) -> tuple[int, int]:
    return (state or 0) + 1, (state or 0) + 1


def unsaid(item: Any) -> Any:
    return item


def _source(**said: Any) -> TestingSource[Any]:
    return clew.annotate_source(**said)(TestingSource(["a b", "a"]))


def _sink() -> TestingSink[Any]:
    return clew.annotate("CW")(TestingSink([]))


def _begin(**said: Any) -> tuple[Dataflow, Stream[Any]]:
    flow = Dataflow("flow")
    return flow, op.input("tweets", flow, _source(**said))


def _word_count(**said: Any) -> Dataflow:
    flow, tweets = _begin(attributes=["batch", "text"], **said)
    words = op.key_on("keyed", op.flat_map("splitter", tweets, split), same)
    op.output("commit", op.stateful_map("count", words, count), _sink())
    return flow


_WORD_COUNT = """
splitter:
  annotation: {{ from: up, to: down, label: CR, lineage: [batch] }}
keyed:
  annotation: {{ from: up, to: down, label: CR }}
count:
  annotation: {{ from: up, to: down, label: OW, subscript: [word, batch] }}
commit:
  annotation: {{ from: up, to: written, label: CW }}
streams:
  - {{ name: tweets, to: splitter.up, attributes: [batch, text]{} }}
  - {{ name: splitter, from: splitter.down, to: keyed.up, attributes: [word, batch] }}
  - {{ name: keyed, from: keyed.down, to: count.up }}
  - {{ name: count, from: count.down, to: commit.up }}
  - {{ name: commit, from: commit.written }}
"""


@pytest.mark.parametrize(("said", "seal"), [({}, ""), ({"seal": "batch"}, ", seal: batch")])
def test_word_count(said: dict[str, str], seal: str) -> None:
    dataflow = read_flow(_word_count(**said))
    assert dataflow == parse_dataflow(_WORD_COUNT.format(seal))
    # What is written is read again as the same dataflow.
    assert parse_dataflow(dataflow_yaml(dataflow)) == dataflow
    label = clew.blazes(dataflow).verdict.worst
    assert str(label) == ("Async" if seal else "Run")


def test_the_annotated_dataflow_runs_as_before() -> None:
    counted: list[Any] = []
    flow, tweets = _begin()
    words = op.key_on("keyed", op.flat_map("splitter", tweets, split), same)
    op.output("commit", op.stateful_map("count", words, count), clew.annotate("CW")(TestingSink(counted)))
    assert str(clew.blazes(flow).verdict.worst) == "Run"
    run_main(flow)
    assert sorted(counted) == [("a", 1), ("a", 2), ("b", 1)]


# -- how steps are connected -------------------------------------------------------------------------------------


def _streams(flow: Dataflow) -> list[str]:
    return [f"{s.name}: {s.source or ''} → {s.target or ''}" for s in read_flow(flow).streams]


def test_what_merges_redistributes_and_drops_keys_only_connects() -> None:
    flow, tweets = _begin()
    more = op.input("more", flow, _source(seal="batch"))
    both = op.merge("both", op.redistribute("spread", tweets), op.map("mapped", more, same))
    op.output("commit", op.key_rm("bare", op.key_on("keyed", both, same)), _sink())
    assert _streams(flow) == [
        "more:  → mapped.up",
        "tweets:  → keyed.up",
        "mapped: mapped.down → keyed.up",
        "keyed: keyed.down → commit.up",
        "commit: commit.written → ",
    ]
    assert [s.seals for s in read_flow(flow).streams[:2]] == [(frozenset({"batch"}),), ()]


def test_branches_that_nobody_reads_are_sinks_and_readers_share_streams() -> None:
    flow, tweets = _begin()
    branches = op.branch("long", tweets, clew.annotate("CR")(lambda tweet: len(tweet) > 1))
    op.output("first", branches.trues, _sink())
    op.output("second", branches.trues, _sink())
    assert _streams(flow) == [
        "tweets:  → long.up",
        "long-trues-long-trues-first-up: long.trues → first.up",
        "long-trues-long-trues-second-up: long.trues → second.up",
        "long-falses: long.falses → ",
        "first: first.written → ",
        "second: second.written → ",
    ]


def test_names_that_a_file_cannot_have() -> None:
    flow, tweets = _begin()
    for name in ("streams", "a b", "a-b", "7 é", "a,b: }"):
        op.output(name, op.map(f"{name} first", tweets, same), _sink())
    dataflow = read_flow(flow)
    assert [component.name for component in dataflow.components][1::2] == [
        "streams-2",
        "a-b",
        "a-b-2",
        "_7--",
        "a-b---",
    ]
    assert parse_dataflow(dataflow_yaml(dataflow)) == dataflow


def test_windows_are_steps_of_bytewax_and_what_comes_late_is_a_sink() -> None:
    flow, tweets = _begin(seal="batch")
    words = op.key_on("keyed", tweets, same)
    counted = windowing.fold_window(
        "counted",
        words,
        windowing.SystemClock(),
        windowing.TumblingWindower(timedelta(seconds=1), datetime(2015, 1, 1, tzinfo=UTC)),
        int,
        clew.annotate("OW", "batch")(lambda count, word: count + 1),
        int.__add__,
    )
    op.output("commit", counted.down, _sink())
    assert [f"{c.name} {p.target} {p.annotation}" for c in read_flow(flow).components for p in c.paths] == [
        "keyed down CR",
        "counted down OW[batch]",
        "counted late OW[batch]",
        "counted meta OW[batch]",
        "counted down CR",
        "counted late CR",
        "counted meta CR",
        "commit written CW",
    ]
    # A seal is of no use to windows that close by the clock.
    assert [str(sink.label) for sink in clew.blazes(flow).verdict.sinks] == ["Run", "Run", "Run"]
    assert [s.name for s in read_flow(flow).sinks] == ["counted-late", "counted-meta", "commit"]


# -- operators of the user ---------------------------------------------------------------------------------------


def test_an_operator_that_is_annotated_is_one_component() -> None:
    @clew.annotate("OR", "word")
    @operator
    def twice(step_id: str, up: Stream[Any]) -> Stream[Any]:
        return op.map("second", op.map("first", up, unsaid), same)

    flow, tweets = _begin()
    op.output("commit", twice("both", tweets), _sink())
    assert [c.name for c in read_flow(flow).components] == ["both", "commit"]


def test_an_operator_that_is_not_is_the_steps_in_it() -> None:
    @operator
    def twice(step_id: str, up: Stream[Any]) -> Stream[Any]:
        return op.map("second", op.map("first", up, same), same)

    flow, tweets = _begin()
    op.output("commit", twice("both", tweets), _sink())
    assert _streams(flow) == [
        "tweets:  → both-first.up",
        "both-first: both-first.down → both-second.up",
        "both-second: both-second.down → commit.up",
        "commit: commit.written → ",
    ]


@clew.annotate("CW", source="log")
@clew.annotate("OR", "key", source="asked", replicated=True, order="dynamic")
@operator
def answer(step_id: str, log: Stream[Any], asked: Stream[Any]) -> Stream[Any]:
    return op.merge("all", op.map("log", log, unsaid), op.map("asked", asked, unsaid))


def test_ports_are_annotated_apart() -> None:
    flow, tweets = _begin()
    op.output("commit", answer("answers", tweets, op.input("requests", flow, _source())), _sink())
    component = read_flow(flow).components[0]
    assert [(p.source, str(p.annotation)) for p in component.paths] == [("log", "CW"), ("asked", "OR[key]")]
    assert (component.replicated, component.ordering) == (True, Ordering.DYNAMIC)
    assert str(clew.blazes(flow).verdict.worst) == "Run"


def test_one_of_several_streams_of_a_port() -> None:
    @clew.annotate("CR", source="ups_0")
    @clew.annotate("CW", source="ups_1")
    @operator
    def joined(step_id: str, *ups: Stream[Any]) -> Stream[Any]:
        return op.merge("all", *ups)

    flow, tweets = _begin()
    op.output("commit", joined("joined", tweets, op.input("more", flow, _source())), _sink())
    (component, _) = read_flow(flow).components
    assert [(p.source, str(p.annotation)) for p in component.paths] == [("ups_0", "CR"), ("ups_1", "CW")]


def test_an_operator_that_hands_on_its_stream_writes() -> None:
    @clew.annotate("CW")
    @operator
    def logged(step_id: str, up: Stream[Any]) -> Stream[Any]:
        op.output("log", up, TestingSink([]))
        return up

    flow, tweets = _begin()
    op.output("commit", logged("logged", tweets), _sink())
    assert _streams(flow) == [
        "tweets-logged-up:  → logged.up",
        "tweets-commit-up:  → commit.up",
        "logged: logged.written → ",
        "commit: commit.written → ",
    ]


def test_what_an_operator_writes_inside_is_a_sink_beside_its_stream() -> None:
    @clew.annotate("OW*")
    @operator
    def logged(step_id: str, up: Stream[Any]) -> Stream[Any]:
        op.output("log", up, TestingSink([]))
        return op.map("mapped", up, unsaid)

    flow, tweets = _begin()
    op.output("commit", logged("logged", tweets), _sink())
    verdict = clew.blazes(flow).verdict
    assert [(s.stream.name, str(s.label)) for s in verdict.sinks] == [("logged-written", "Run"), ("commit", "Run")]


# -- what is refused ---------------------------------------------------------------------------------------------


def _with(step: Callable[[Stream[Any]], Any]) -> Dataflow:
    flow, tweets = _begin()
    step(tweets)
    return flow


def _keyed(up: Stream[Any]) -> KeyedStream[Any]:
    return op.key_on("keyed", up, same)


@clew.annotate("CR")
@clew.annotate("CW")
def _annotated_twice(item: Any) -> Any:
    return item


@clew.annotate("CR", source="side")
def _for_another_port(item: Any) -> Any:
    return item


@clew.annotate("CR", target="trues")
def _for_one_branch(item: Any) -> bool:
    return bool(item)


@clew.annotate_source()
class _Annotated(TestingSource[Any]):
    """A source of which something was said."""


class _Derived(_Annotated):
    """Another one, of which nothing was."""


@clew.annotate("CR", order="dynamic", source="log")
@clew.annotate("CR", order="sequence", source="asked")
@operator
def _ordered_twice(step_id: str, log: Stream[Any], asked: Stream[Any]) -> Stream[Any]:
    return op.merge("all", log, asked)


@clew.annotate("CW")
@operator
def _joined_with_its_own(step_id: str, up: Stream[Any]) -> Stream[Any]:
    return op.merge("all", up, op.input("more", up.flow(), TestingSource([1])))


_UNSAID = "the step 'm' (map) has no annotation"
_REFUSED: list[tuple[Callable[[Stream[Any]], Any], str, str]] = [
    (lambda s: op.map("m", s, unsaid), _UNSAID, 'write @clew.annotate("CR") above unsaid'),
    (lambda s: op.map("m", s, lambda x: x), _UNSAID, "above the lambda, as a function"),
    (lambda s: op.map("m", s, str.split), _UNSAID, "above what the step is given"),
    (
        lambda s: op.map("m", s, functools.partial(unsaid)),
        _UNSAID,
        "above unsaid",
    ),
    (lambda s: op.output("o", s, TestingSink([])), "the step 'o' (output) has no annotation", "@clew.annotate"),
    (lambda s: op.inspect("i", s), "the step 'i' (inspect) has no annotation", "@clew.annotate"),
    (
        lambda s: op.join("j", _keyed(s)),
        "the step 'j' (join) has no annotation",
        "make an operator of your own around it",
    ),
    (
        lambda s: op.input("more", s.flow(), TestingSource([1])),
        "the step 'more' (input) has no annotation",
        "@clew.annotate_source(seal=[...])",
    ),
    (
        lambda s: op.input("more", s.flow(), _Derived([1])),
        "the step 'more' (input) has no annotation",
        "@clew.annotate_source(seal=[...])",
    ),
    (
        lambda s: op.input("more", s.flow(), clew.annotate("CR")(TestingSource([1]))),
        "the step 'more' is a source, and annotated as a step",
        "@clew.annotate_source(...)",
    ),
    (
        lambda s: op.map("m", s, clew.annotate_source()(lambda x: x)),
        "the step 'm' is no source, and annotated as one",
        '@clew.annotate("CR")',
    ),
    (
        lambda s: op.map("m", s, _annotated_twice),
        "the step 'm' is annotated twice for its path up → down",
        "annotate it once",
    ),
    (lambda s: op.map("m", s, _for_another_port), "the step 'm' has no port 'side'", "there are up"),
    (
        lambda s: op.branch("b", s, _for_one_branch),
        "the step 'b' has no annotation for its path up → falses",
        'add @clew.annotate("CR", source="up", target="falses")',
    ),
    (
        lambda s: op.stateful_map("s", _keyed(s), clew.annotate("OR", "word")(lambda state, x: (state, x))),
        "the step 's' keeps state (stateful_map), and is annotated OR[word], which stores nothing",
        "write CW if the order",
    ),
    (
        lambda s: op.count_final("n", s, same),
        "the step 'n' keeps state (count_final), and is annotated CR, which stores nothing",
        "write CW if the order",
    ),
    (lambda s: _joined_with_its_own("o", s), "the step 'o' begins a stream of its own", "begin it outside"),
    (lambda s: _ordered_twice("o", s, s), "the step 'o' is ordered in two ways", "leave one out"),
]


@pytest.mark.parametrize(("step", "message", "remedy"), _REFUSED, ids=[message for _, message, _ in _REFUSED])
def test_what_is_refused(step: Callable[[Stream[Any]], Any], message: str, remedy: str) -> None:
    with pytest.raises(clew.ProgramError) as raised:
        clew.blazes(_with(step))
    assert raised.value.message == message
    assert remedy in str(raised.value.remedy)


def test_the_place_of_a_function_without_annotation() -> None:
    with pytest.raises(clew.ProgramError) as raised:
        read_flow(_with(lambda s: op.map("m", s, unsaid)))
    position = raised.value.position
    assert position is not None
    assert (position.file, position.line) == (__file__, unsaid.__code__.co_firstlineno)


def test_operators_of_bytewax_are_not_annotated() -> None:
    with pytest.raises(clew.ProgramError, match="merge is an operator of Bytewax, which all its users share"):
        clew.annotate("CR")(op.merge)


def test_a_dataflow_without_steps() -> None:
    with pytest.raises(clew.ProgramError, match="no stream leaves the dataflow"):
        clew.blazes(Dataflow("empty"))


def test_a_dataflow_of_its_own_is_not_taken_for_one_of_bytewax() -> None:
    with pytest.raises(clew.UsageError, match="is neither a program nor a dataflow"):
        clew.blazes(cast(Any, 1))
