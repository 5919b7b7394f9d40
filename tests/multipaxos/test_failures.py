"""What single failures do to replicas: leaders that go and come, disks, links, clocks, and limits."""

from __future__ import annotations

from clew.bloom import table
from clew.bloom.ir.schema import Kind
from multipaxos.faulty_cluster import Cluster, program_of
from multipaxos.judging import judge
from multipaxos.ledger import Ledger
from multipaxos.quiet_cluster import (
    answers,
    call,
    leads,
    log,
    quiet_cluster,
    rows,
    sent,
    submit,
    tick,
)


class KeepsMuch(Ledger):
    """Has the decrees themselves for whoever was away."""

    keep = 1000
    remembered = 64


class OnePiece(Ledger):
    remembered = 64


class Narrow(Ledger):
    """One request a decree."""

    most_requests = 1
    remembered = 64
    window = 2


# -- who leads ---------------------------------------------------------------------------------------------------


def test_when_the_leader_goes_another_one_goes_on_and_it_stays_when_the_first_one_is_back() -> None:
    """Whatever their addresses are: neither the first nor the last one has a claim."""
    for leader, heir in (("a", "b"), ("c", "a"), ("b", "c")):
        cluster = quiet_cluster(Ledger, leader=leader)
        submit(cluster, leader, ("ann", 1))
        cluster.crash(leader)
        tick(cluster, 4, only=[heir])
        assert leads(cluster, heir)
        submit(cluster, heir, ("ann", 2))
        cluster.start(leader)
        tick(cluster, 12)
        assert [name for name in "abc" if leads(cluster, name)] == [heir]
        assert {tuple(log(cluster, name)) for name in "abc"} == {(("ann", 1), ("ann", 2))}


def test_as_long_as_a_leader_is_heard_nobody_else_begins_a_view() -> None:
    cluster = quiet_cluster(Ledger)
    view = rows(cluster, "a", "latest")
    tick(cluster, 20)
    assert [rows(cluster, name, "latest") for name in "abc"] == [view] * 3


def test_of_two_leaders_only_the_later_one_gets_anything_chosen() -> None:
    """The first one is cut off while the other one begins, and does not know."""
    cluster = quiet_cluster(KeepsMuch)
    cluster.cut = frozenset("a")
    call(cluster, "b")
    assert leads(cluster, "a")
    assert leads(cluster, "b")
    submit(cluster, "a", ("ann", 1))
    submit(cluster, "b", ("bob", 1))
    assert answers(cluster, "ann", 1) == []
    assert set(answers(cluster, "bob", 1)) == {1}
    cluster.cut = frozenset()
    tick(cluster, 3)
    assert [leads(cluster, name) for name in "ab"] == [False, True]
    assert {tuple(log(cluster, name)) for name in "abc"} == {(("bob", 1), ("ann", 1))}


def test_a_leader_that_is_cut_off_answers_nothing_new_and_so_nothing_old() -> None:
    """A read is a request like others: what has been written behind its back is before it in the log."""
    cluster = quiet_cluster(KeepsMuch)
    cluster.cut = frozenset("a")
    call(cluster, "b")
    submit(cluster, "b", ("bob", 1))
    submit(cluster, "a", ("reader", 1))
    tick(cluster, 3, only=["a"])
    assert answers(cluster, "reader", 1) == []
    cluster.cut = frozenset()
    tick(cluster, 3)
    assert set(answers(cluster, "reader", 1)) == {2}


def test_a_clock_that_jumps_costs_a_view_and_nothing_else() -> None:
    cluster = quiet_cluster(KeepsMuch)
    submit(cluster, "a", ("ann", 1))
    for _ in range(20):
        for timer in ("beat_timer", "retry", "sweep"):
            cluster.fire("b", timer)
    cluster.settle()
    submit(cluster, "c", ("ann", 2))
    tick(cluster, 3)
    assert {tuple(log(cluster, name)) for name in "abc"} == {(("ann", 1), ("ann", 2))}
    assert sum(leads(cluster, name) for name in "abc") == 1


# -- several updates under way -----------------------------------------------------------------------------------


def test_several_decrees_are_under_way_at_once_and_no_more_than_the_window() -> None:
    cluster = quiet_cluster(Narrow)
    cluster.cut = frozenset("a")
    submit(cluster, "a", *(("ann", number) for number in range(1, 6)))
    assert [instance for _, instance, _ in sorted(rows(cluster, "a", "proposed"))] == [1, 2]
    cluster.cut = frozenset()
    tick(cluster, 2)
    assert log(cluster, "c") == [("ann", number) for number in range(1, 6)]


def test_a_replica_that_restarts_in_the_middle_of_a_decree_goes_on_in_the_middle() -> None:
    class LongDecrees(KeepsMuch):
        most_requests = 8

    cluster = quiet_cluster(LongDecrees)
    requests = [("ann", number) for number in range(1, 7)]
    cluster.up["a"].machine.insert("submit", [(c, n, (c, n)) for c, n in requests])
    while len(log(cluster, "b")) < 3:
        cluster.advance()
    (position,) = cluster.disks["b"].rows("reached")[-1:]
    assert position[1] > 0
    cluster.crash("b")
    cluster.start("b")
    cluster.settle()
    tick(cluster, 3)
    assert [log(cluster, name) for name in "abc"] == [requests] * 3


# -- sessions ----------------------------------------------------------------------------------------------------


def test_a_request_that_is_asked_of_two_leaders_is_done_once() -> None:
    """Both propose it: it is in the log twice, and done when it is read first."""
    cluster = quiet_cluster(KeepsMuch)
    cluster.cut = frozenset("a")
    submit(cluster, "a", ("ann", 1))
    call(cluster, "b")
    submit(cluster, "b", ("ann", 1))
    cluster.cut = frozenset()
    tick(cluster, 4)
    assert {tuple(log(cluster, name)) for name in "abc"} == {(("ann", 1),)}
    assert set(answers(cluster, "ann", 1)) == {1}


def test_a_request_is_answered_again_by_a_replica_that_restarted() -> None:
    cluster = quiet_cluster(KeepsMuch)
    submit(cluster, "a", ("ann", 1))
    cluster.crash("b")
    cluster.start("b")
    submit(cluster, "b", ("ann", 1))
    assert answers(cluster, "ann", 1)[-1] == 1
    assert {tuple(log(cluster, name)) for name in "abc"} == {(("ann", 1),)}


def test_what_is_too_old_or_too_large_is_refused() -> None:
    cluster = quiet_cluster(Ledger)
    for number in range(1, 6):
        submit(cluster, "a", ("ann", number))
    tick(cluster)
    replica = cluster.up["a"].machine
    replica.insert("submit", [("ann", 2, "again"), ("bob", 1, "x" * 300_000)])
    replica.step()
    assert sorted(replica.rows("refused")) == [("ann", 2, "outdated"), ("bob", 1, "too large")]


# -- replicas that were away -------------------------------------------------------------------------------------


def test_a_replica_that_was_away_gets_the_decrees_it_has_missed_and_nothing_else() -> None:
    cluster = quiet_cluster(KeepsMuch)
    cluster.crash("c")
    for number in range(1, 8):
        submit(cluster, "a", ("ann", number))
    cluster.start("c")
    sent(cluster)
    tick(cluster)
    counted = sent(cluster)
    # Who is told that there is more before it has what was sent asks for that again.
    assert 7 <= counted["learn"] <= 2 * 7
    assert "piece" not in counted
    assert log(cluster, "c") == log(cluster, "a")


def test_what_was_read_is_dropped_and_a_replica_that_missed_it_gets_the_state() -> None:
    cluster = quiet_cluster(OnePiece)
    cluster.crash("c")
    for number in range(1, 21):
        submit(cluster, "a", ("ann", number))
        tick(cluster)
    assert len(cluster.disks["a"].rows("chosen")) <= OnePiece.keep + 1
    cluster.start("c")
    sent(cluster)
    tick(cluster, 2)
    assert sent(cluster)["piece"] > 1
    assert log(cluster, "c") == log(cluster, "a")
    # The sessions came with it.
    submit(cluster, "c", ("ann", 20))
    assert answers(cluster, "ann", 20)[-1] == 20


def test_nothing_is_larger_after_60_decrees_than_after_20() -> None:
    """Neither on the disk nor in memory, but what the application keeps."""
    cluster = quiet_cluster(Ledger)
    sizes = []
    for number in range(1, 61):
        submit(cluster, "a", ("ann", number))
        if number % 10 == 0:
            tick(cluster)
            sizes.append({name: _rows_of_tables(cluster, name) for name in "abc"})
    assert sizes[1] == sizes[-1]
    assert sum(len(cluster.disks["b"].rows(name)) for name in ("chosen", "voted", "reached", "done")) < 12


def _rows_of_tables(cluster: Cluster, address: str) -> dict[str, int]:
    tables = [c.name for c in program_of(Ledger, address)[0].collections if c.kind is Kind.TABLE]
    return {name: len(rows(cluster, address, name)) for name in tables if name != "trace"}


def test_a_state_that_comes_from_two_replicas_is_not_mixed() -> None:
    """Half of the pieces of one, then all of another one further on, then the rest."""
    cluster = quiet_cluster(OnePiece)
    cluster.crash("c")
    for number in range(1, 11):
        submit(cluster, "a", ("ann", number))
        tick(cluster)
    cluster.start("c")
    cluster.insert("a", "want", ("a", "c", 1))
    early = [row for _, target, channel, row in cluster.messages if (target, channel) == ("c", "piece")]
    assert len(early) > 2
    cluster.messages.clear()
    for row in early[::2]:
        cluster.insert("c", "piece", row)
    cluster.crash("c")
    submit(cluster, "a", ("ann", 11))
    cluster.start("c")
    for row in early[::2]:
        cluster.insert("c", "piece", row)
    cluster.insert("b", "want", ("b", "c", 1))
    late = [row for _, target, channel, row in cluster.messages if (target, channel) == ("c", "piece")]
    for row in [*late[:1], *early[1::2], *late[1:], *early]:
        cluster.insert("c", "piece", row)
    cluster.messages.clear()
    cluster.settle()
    tick(cluster, 2)
    assert log(cluster, "c") == log(cluster, "a") == [("ann", number) for number in range(1, 12)]
    assert judge(cluster) == []


def test_a_replica_catches_up_while_the_others_go_on() -> None:
    cluster = quiet_cluster(OnePiece)
    cluster.crash("c")
    for number in range(1, 11):
        submit(cluster, "a", ("ann", number))
        tick(cluster)
    cluster.start("c")
    for number in range(11, 21):
        cluster.up["a"].machine.insert("submit", [("ann", number, ("ann", number))])
        cluster.told.submitted["ann", number] = cluster.time
        cluster.fire("a", "beat_timer")
        cluster.fire("a", "sweep")
        for _ in range(15):
            cluster.advance()
    tick(cluster, 4)
    assert judge(cluster) == []
    assert log(cluster, "c") == [("ann", number) for number in range(1, 21)]


# -- disks -------------------------------------------------------------------------------------------------------


class InMemory(Ledger):
    """Nothing of the protocol is on disk: what examples/bloom/paxos.py is."""

    promised = table("view")
    voted = table("instance", "view", val=["decree"])
    chosen = table("instance", val=["decree"])
    reached = table("instance", "place")
    done = table("client", "number", val=["answer"])
    trace = table("place", val=["token"])


def test_what_is_acknowledged_outlives_all_replicas_if_it_is_on_disk() -> None:
    for kind, kept in ((KeepsMuch, [("ann", 1)]), (InMemory, [])):
        cluster = quiet_cluster(kind)
        submit(cluster, "a", ("ann", 1))
        assert set(answers(cluster, "ann", 1)) == {1}
        for name in "abc":
            cluster.crash(name)
        for name in "abc":
            cluster.start(name)
        tick(cluster, 6)
        logs = [[token for _, token in rows(cluster, name, "trace")] for name in "abc"]
        assert logs == [kept] * 3


def test_a_node_without_its_disk_does_not_vote_until_the_others_have_told_it_what_it_may_have_said() -> None:
    cluster = quiet_cluster(KeepsMuch)
    submit(cluster, "a", ("ann", 1))
    cluster.crash("c")
    cluster.start_without_disk("c")
    cluster.settle()
    submit(cluster, "a", ("ann", 2))
    assert cluster.disks["c"].rows("voted") == []
    tick(cluster, 4)
    assert cluster.disks["c"].rows("lost") == []
    assert {tuple(log(cluster, name)) for name in "abc"} == {(("ann", 1), ("ann", 2))}
    # It counts again.
    cluster.crash("a")
    tick(cluster, 4)
    submit(cluster, "b", ("ann", 3))
    assert set(answers(cluster, "ann", 3)) == {3}


def test_a_node_without_its_disk_waits_for_more_than_half_of_the_others_also_after_a_restart() -> None:
    cluster = quiet_cluster(KeepsMuch)
    submit(cluster, "a", ("ann", 1))
    cluster.crash("b")
    cluster.crash("c")
    cluster.start_without_disk("c")
    tick(cluster, 6)
    cluster.crash("c")
    cluster.start("c")
    tick(cluster, 6)
    submit(cluster, "a", ("ann", 2))
    assert cluster.disks["c"].rows("lost") != []
    assert answers(cluster, "ann", 2) == []
    cluster.start("b")
    tick(cluster, 6)
    assert cluster.disks["c"].rows("lost") == []
    assert {tuple(log(cluster, name)) for name in "abc"} == {(("ann", 1), ("ann", 2))}
