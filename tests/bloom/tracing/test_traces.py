"""``trace``: records of chosen rules, of the nodes that start meanwhile, and of no others."""

from __future__ import annotations

import itertools
import logging
from pathlib import Path
from typing import Any

import pytest

from bloom.network.network_programs import until
from clew.bloom import Bloom, TraceRecord, bloom, channel, imported, interface, table, trace
from clew.bloom.simulated import bloom_scenario, insert
from clew.errors import UsageError
from clew.simulation.fuzzing.fuzz import fuzz

# mypy: disable-error-code="comparison-overlap, operator"


class Store(Bloom):
    put = interface.input("key", "value")
    copy = channel("@to", "key", "value")
    copies = table("to")
    kept = table("key", val=["value"])

    @bloom
    def keep(self) -> None:
        self.kept <= self.put
        self.kept <= self.copy.payloads()

    @bloom
    def send(self) -> None:
        self.copy <~ (self.copies * self.put).pairs(lambda c, p: (c.to, p.key, p.value))


class Careful(Store):
    @bloom
    def check(self) -> None:
        self.die <= self.kept.filter(lambda k: k.value == "bad")


def _line(rule: str) -> int:
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.strip().startswith(rule))


def test_records_say_what_was_derived_when_by_which_rule_and_where_it_goes() -> None:
    clock = itertools.count(100)
    with trace(Store, ["send", "kept"], clock=lambda: next(clock)) as traced:
        store = Store(address="a")
        store.copies.insert(("b",), ("a",))
        store.put.insert(("k", 1))
        store.tick()
        store.tick()
        store.put.insert(("l", 2), ("k", 1))
        store.tick()
    keep = f"Store.keep, line {_line('self.kept <= self.put')}"
    send = f"Store.send, line {_line('self.copy <~')}"
    assert traced.records == [
        TraceRecord(keep, "kept", "<=", ("k", 1), "a", 1, 100),
        TraceRecord(send, "copy", "<~", ("a", "k", 1), "a", 1, 100),
        TraceRecord(send, "copy", "<~", ("b", "k", 1), "a", 1, 100, "b"),
        TraceRecord(keep, "kept", "<=", ("l", 2), "a", 3, 101),
        *(
            TraceRecord(send, "copy", "<~", (to, *row), "a", 3, 101, None if to == "a" else to)
            for to in ("a", "b")
            for row in (("k", 1), ("l", 2))
        ),
    ]
    assert [record.is_sent for record in traced.records[:3]] == [False, False, True]
    assert str(traced.records[2]) == f"a step 1: copy <~ ('b', 'k', 1), to b ({send})"


@pytest.mark.parametrize(
    ("words", "collections"),
    [
        ([], {"kept", "copy"}),
        (["kept"], {"kept"}),
        (["Store.send"], {"copy"}),
        (["send"], {"copy"}),
        ([str(_line("self.kept <= self.copy.payloads()"))], set()),
        ([f"test_traces.py:{_line('self.kept <= self.put')}"], {"kept"}),
        (["send", "kept"], {"kept", "copy"}),
    ],
)
def test_rules_are_chosen_by_words(words: list[str], collections: set[str]) -> None:
    with trace(Store, words) as traced:
        store = Store()
        store.copies.insert(("b",))
        store.put.insert(("k", 1))
        store.tick()
    assert {record.collection for record in traced.records} == collections


def test_only_nodes_that_start_meanwhile_are_traced_as_long_as_they_live() -> None:
    before = Store()
    before.put.insert(("k", 1))
    with trace(Store, ["kept"]) as traced:
        meanwhile, derived, one = Store(), Careful(address="derived"), Store(address="one")
        for node in (before, meanwhile, derived):
            node.put.insert(("k", 1))
            node.tick()
        with trace(one) as of_one:
            for node in (meanwhile, one, derived):
                node.put.insert(("l", 2))
                node.tick()
    after = Store(address="after")
    for node in (after, one, derived):
        node.put.insert(("m", 3))
        node.tick()
    found = [(record.node, record.row[0]) for record in traced.records]
    assert found == [
        *(("node", "k"), ("derived", "k"), ("node", "l"), ("one", "l"), ("derived", "l")),
        *(("one", "m"), ("derived", "m")),
    ]
    assert [(record.node, record.row[0]) for record in of_one.records] == [("one", "l"), ("one", "m")]


def test_mistakes_are_refused() -> None:
    with trace(Store, ["kepd"]), pytest.raises(UsageError, match="'kepd' names no rule of Store") as caught:
        Store().tick()
    assert caught.value.remedy == "give a collection that it derives, a line, or a block: Store.keep, Store.send"
    with pytest.raises(UsageError, match="'rules' is the text 'kept'"), trace(Store, "kept"):
        pass
    begun = Store()
    begun.tick()
    with pytest.raises(UsageError, match="the Store that is to be traced has begun"), trace(begun):
        pass


def test_a_function_that_takes_records_may_fail(caplog: pytest.LogCaptureFixture) -> None:
    def fail(record: TraceRecord) -> None:
        raise ValueError(record.collection)

    with trace(Store, ["kept"], to=fail) as traced, caplog.at_level(logging.ERROR, logger="clew.bloom"):
        store = Store()
        store.put.insert(("k", 1))
        store.tick()
    assert list(store.kept) == [("k", 1)]
    assert traced.records == []
    assert "a function for traces failed" in caplog.text


class Pair(Bloom):
    left = imported(Store)
    right = imported(Store)


def test_imported_modules_have_rules_of_their_own() -> None:
    with trace(Pair, ["right.kept"]) as traced:
        pair = Pair()
        pair.left.put.insert(("k", 1))
        pair.right.put.insert(("l", 1))
        pair.tick()
    assert [(record.collection, record.row) for record in traced.records] == [("right.kept", ("l", 1))]


def test_nodes_on_the_network_are_traced() -> None:
    with trace(Store) as traced, Store() as first, Store() as second:
        first.copies.insert((second.ip_port,))
        first.put.insert(("k", 1))
        until(lambda: ("k", 1) in second.kept)
        until(lambda: any(record.node == second.ip_port for record in traced.records))
    sent = [record for record in traced.records if record.is_sent]
    assert [(record.node, record.to, record.row) for record in sent] == [
        (first.ip_port, second.ip_port, (second.ip_port, "k", 1))
    ]
    (arrived,) = (record for record in traced.records if record.node == second.ip_port)
    assert (arrived.row, arrived.collection) == (("k", 1), "kept")
    assert arrived.time >= sent[0].time


def test_executions_are_what_they_were() -> None:
    scenario = bloom_scenario(
        {"a": Careful, "b": Careful},
        given={"a": {"copies": [("b",)]}},
        before=[insert("a", "put", ("k", "good")), insert("a", "put", ("l", "bad"))],
    )
    plain = fuzz(scenario, runs=3, seed=1)
    with trace(Store, ["kept", "check"]) as traced:
        found: Any = fuzz(scenario, runs=3, seed=1)
    assert found == plain
    assert found.recording is not None
    # What a node dies of is derived, and so it is recorded.
    assert {record.collection for record in traced.records} == {"kept", "die"}
