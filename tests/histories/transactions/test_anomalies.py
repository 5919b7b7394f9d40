"""Each anomaly by the smallest history that has it, in the words in which it is told."""

from __future__ import annotations

import pytest

from clew.errors import UsageError
from clew.histories import HistoryAnswer, Operation, Outcome, check_history, serializable
from clew.histories.transactions import cycles
from clew.histories.transactions.checking import Anomaly, check_transactions
from histories.made import history, op, txn

A, R = "append", "r"


def anomalies(*operations: Operation, model: str = "serializable") -> dict[str, Anomaly]:
    return {anomaly.name: anomaly for anomaly in check_transactions(operations, model).anomalies}


def whys(anomaly: Anomaly) -> list[str]:
    return [f"{why.source} {why.kind} {why.target}: {why.text}" for why in anomaly.cycle]


def test_g0_writes_are_interleaved() -> None:
    found = anomalies(
        txn(0, (A, "x", 1), (A, "y", 1), at=(0, 1)),
        txn(1, (A, "x", 2), (A, "y", 2), at=(2, 3)),
        txn(2, (R, "x", [1, 2]), (R, "y", [2, 1]), at=(4, 5)),
    )
    assert whys(found["G0"]) == [
        "T1 ww T2: T2 appended 2 to x right after what T1 had appended",
        "T2 ww T1: T1 appended 1 to y right after what T2 had appended",
    ]
    assert found["G0"].text == "T1 before T2 before T1: none can be first"


def test_g1a_an_aborted_read() -> None:
    found = anomalies(
        txn(0, (A, "x", 1), at=(0, 1), outcome=Outcome.FAIL),
        txn(1, (R, "x", [1]), at=(2, 3)),
    )
    assert {name: anomaly.text for name, anomaly in found.items()} == {
        "G1a": "T2 read x as [1]; T1, which appended 1, was aborted"
    }


def test_g1b_an_intermediate_read() -> None:
    found = anomalies(txn(0, (A, "x", 1), (A, "x", 2), at=(0, 1)), txn(1, (R, "x", [1]), at=(2, 3)))
    assert found["G1b"].text == "T2 read x as [1]; T1 appended 2 after that"


def test_g1c_information_flows_in_a_circle() -> None:
    found = anomalies(
        txn(0, (A, "x", 1), (R, "y", [1]), at=(0, 1)),
        txn(1, (A, "y", 1), (R, "x", [1]), at=(2, 3)),
    )
    assert list(found) == ["G1c"]
    assert whys(found["G1c"]) == [
        "T1 wr T2: T2 read x with 1 at its end, which T1 appended",
        "T2 wr T1: T1 read y with 1 at its end, which T2 appended",
    ]


def test_g_single_half_of_a_transaction_is_seen() -> None:
    found = anomalies(
        txn(0, (A, "x", 1), (A, "y", 1), at=(0, 1)),
        txn(1, (R, "x", [1]), (R, "y", []), at=(2, 3)),
        txn(2, (R, "y", [1]), at=(4, 5)),
    )
    assert list(found) == ["G-single"]
    assert whys(found["G-single"]) == [
        "T2 rw T1: T2 read y as [], without 1, which T1 appended",
        "T1 wr T2: T2 read x with 1 at its end, which T1 appended",
    ]


def test_g2_each_overlooks_the_other_also_where_nobody_read_what_they_wrote() -> None:
    found = anomalies(
        txn(0, (R, "x", []), (A, "y", 1), at=(0, 2)),
        txn(1, (R, "y", []), (A, "x", 1), at=(1, 3)),
    )
    assert list(found) == ["G2-item"]
    assert whys(found["G2-item"]) == [
        "T1 rw T2: T1 read x as [], without 1, which T2 appended",
        "T2 rw T1: T2 read y as [], without 1, which T1 appended",
    ]


def test_a_lost_update_and_the_chain_of_those_who_appended_what_nobody_read() -> None:
    found = anomalies(
        *(txn(k, (R, "x", []), (A, "x", k), at=(k, 10 + k)) for k in range(3)),
    )
    assert list(found) == ["lost-update", "G2-item"]
    assert found["lost-update"].text == "T1 and T2 both read x as [], and both appended to it"
    assert found["lost-update"].others == 1
    assert whys(found["G2-item"])[0] == "T1 rw T2: T1 read x as [], without 1, which T2 appended"


def test_one_who_appends_what_nobody_read_is_not_before_itself() -> None:
    assert anomalies(txn(0, (R, "x", []), (A, "x", 1), at=(0, 1))) == {}


def test_what_a_transaction_knows_of_itself() -> None:
    found = anomalies(txn(0, (R, "x", [1]), (A, "x", 2), (R, "x", [1]), at=(2, 3)), txn(1, (A, "x", 1), at=(0, 1)))
    assert found["internal"].text == "T1 read x as [1] after reading [1] and appending [2] itself"
    found = anomalies(txn(0, (R, "x", [2]), (A, "x", 2), at=(0, 1)))
    assert found["internal"].text == "T1 read x as [2] before it appended 2 itself"


def test_lists_that_contradict_each_other() -> None:
    writes = [txn(k, (A, "x", k), at=(2 * k, 2 * k + 1)) for k in (1, 2)]
    found = anomalies(*writes, txn(3, (R, "x", [1, 2]), at=(8, 9)), txn(4, (R, "x", [2]), at=(10, 11)))
    assert found["incompatible-order"].text == "T4 read x as [2], which is no beginning of [1, 2], which T3 read"
    found = anomalies(*writes, txn(3, (R, "x", [1, 1]), at=(8, 9)))
    assert found["duplicate-elements"].text == "T3 read x as [1, 1], with 1 twice"
    found = anomalies(*writes, txn(3, (R, "x", [7]), at=(8, 9)))
    assert found["phantom"].text == "T3 read x as [7]; nobody appended 7"


def test_the_order_of_clients_and_of_time_count_where_they_are_asked_for() -> None:
    stale = [
        txn("ann", (A, "x", 1), at=(0, 1)),
        txn("bob", (R, "x", []), at=(2, 3)),
        txn("cat", (R, "x", [1]), at=(4, 5)),
    ]
    assert anomalies(*stale) == anomalies(*stale, model="session-serializable") == {}
    found = anomalies(*stale, model="strict-serializable")
    assert whys(found["G-single-realtime"]) == [
        "T2 rw T1: T2 read x as [], without 1, which T1 appended",
        "T1 realtime T2: T1 ended before T2 began",
    ]
    own = [stale[0], stale[1]._replace(process="ann"), stale[2]]
    assert anomalies(*own) == {}
    assert list(anomalies(*own, model="session-serializable")) == ["G-single-process"]


def test_a_client_that_gave_up_may_be_behind_itself() -> None:
    """What nobody knows the end of may happen after what its client did next."""
    assert (
        anomalies(
            txn(0, (A, "y", 2), at=(0, None)),
            txn(0, (R, "y", []), at=(2, 3)),
            txn(1, (R, "y", [2]), at=(4, 5)),
            model="session-serializable",
        )
        == {}
    )


def test_what_may_have_happened_did_if_somebody_saw_it() -> None:
    lost = txn(0, (A, "x", 1), (A, "y", 1), at=(0, None))
    assert anomalies(lost, txn(1, (R, "x", []), at=(2, 3))) == {}
    assert list(anomalies(lost, txn(1, (R, "x", [1]), (R, "y", []), at=(2, 3)))) == ["G-single"]


def test_where_nothing_was_read_nothing_is_known() -> None:
    found = check_history(history(txn(0, (A, "x", 1), at=(0, 1))), "serializable")
    assert (found.answer, found.exit_code) == (HistoryAnswer.UNKNOWN, 3)
    assert found.reason == "no transaction read anything, so nothing is known of their order"
    assert serializable(history(txn(0, (A, "x", 1), at=(0, 1)))) is None


def test_too_many_cycles_are_not_compared_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cycles, "_EFFORT", 1)
    rounds = [
        (
            txn(0, (A, k, 1), (R, -k, [1]), at=(4 * k, 4 * k + 1)),
            txn(1, (A, -k, 1), (R, k, [1]), at=(4 * k + 2, 4 * k + 3)),
        )
        for k in range(1, 4)
    ]
    found = check_history(history(*(t for pair in rounds for t in pair)), "serializable")
    assert found.answer is HistoryAnswer.VIOLATED
    assert [str(n.message) for n in found.notices] == [
        "there are too many cycles to compare them all: shorter ones may exist, and other kinds"
    ]


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (op(0, "read", None, 1, at=(0, 1)), "expected 'txn' as 'f', found 'read'"),
        (op(0, "txn", None, 1, at=(0, 1)), "expected a list of appends and reads, found 1"),
        (
            op(0, "txn", None, (("r", "x"),), at=(0, 1)),
            'expected ["append", key, value] or ["r", key, list], found',
        ),
        (op(0, "txn", None, (("w", "x", 1),), at=(0, 1)), "expected append or r, found w"),
        (op(0, "txn", None, (("r", "x", 1),), at=(0, 1)), "expected the list that was read, found 1"),
        (txn(0, (A, "x", 1), (A, "x", 1), at=(0, 1)), "1 is appended to x twice"),
    ],
)
def test_what_is_no_transaction(operation: Operation, message: str) -> None:
    with pytest.raises(UsageError) as refused:
        check_history(history(operation), "serializable")
    assert refused.value.message.startswith(message)
