"""Commands to DataNodes follow from what is not as it should be: too few replicas, too many, and orphans."""

from __future__ import annotations

from boomfs.namenode.ticking import TickingNameNode
from clew.boomfs.settings import Policy


def _namenode(*addrs: str, replicas: int = 2) -> TickingNameNode:
    namenode = TickingNameNode(Policy(replicas=replicas, silence=5.0))
    namenode.beat(*addrs)
    return namenode


def _status(namenode: TickingNameNode) -> dict[str, int]:
    return dict(namenode.ask("status")[1][0])


def _go_on(namenode: TickingNameNode, seconds: float, *addrs: str) -> None:
    """Let time pass in which these DataNodes are heard, with what they were last known to have."""
    pages = {
        addr: [(row.page, row.digest) for row in namenode.node.known_page if row.addr == addr] for addr in addrs
    }
    for _ in range(round(seconds)):
        namenode.wait(1.0)
        for addr in sorted(addrs):
            namenode.beat(addr, pages=pages[addr])


def _report_all(namenode: TickingNameNode, addrs: str, *chunks: int, length: int = 100) -> None:
    for addr in addrs:
        namenode.beat(addr, pages=[(0, "digest")])
        namenode.report(addr, 0, [(chunk, length) for chunk in chunks])


def test_a_silent_datanode_is_given_up_and_its_chunks_are_copied() -> None:
    namenode = _namenode("a", "b", "c", "d")
    namenode.ask("create", "/x", False)
    chunk, places = namenode.write("/x")
    _report_all(namenode, "".join(places).lower(), chunk)
    dead, alive = (place.lower() for place in places)
    _go_on(namenode, 4.0, *({"a", "b", "c", "d"} - {dead}))
    assert namenode.take("copy_command") == []
    assert namenode.ask("locations", "/", chunk) == (True, frozenset(places))
    _go_on(namenode, 3.0, *({"a", "b", "c", "d"} - {dead}))
    assert namenode.ask("locations", "/", chunk) == (True, frozenset({alive.upper()}))
    ((partition, number, length, target),) = namenode.take("copy_command")
    assert (partition, number, length) == (0, chunk, 100)
    assert target not in places
    # It has not come: it is ordered again, after a while.
    _go_on(namenode, 6.0, *({"a", "b", "c", "d"} - {dead}))
    assert namenode.take("copy_command") == []
    _go_on(namenode, 6.0, *({"a", "b", "c", "d"} - {dead}))
    assert len(namenode.take("copy_command")) == 1
    _report_all(namenode, target.lower(), chunk)
    assert _status(namenode).get("thin", 0) == 0
    # The dead one comes back with its disk: one of three is dropped, at the node that has most.
    _report_all(namenode, dead, chunk)
    _go_on(namenode, 1.0, *"abcd")
    dropped = namenode.take("drop_command")
    assert len(dropped) == 1 and dropped[0] == (0, chunk)
    assert len(namenode.ask("locations", "/", chunk)[1]) == 2


def test_copies_are_ordered_two_ticks_after_the_silence() -> None:
    """The time to full replication is made of the silence, half a second, and the copying."""
    namenode = _namenode("a", "b", "c")
    namenode.ask("create", "/x", False)
    chunks = [namenode.write("/x") for _ in range(40)]
    for addr in "abc":
        _report_all(namenode, addr, *(chunk for chunk, places in chunks if addr.upper() in places))
    held = [chunk for chunk, places in chunks if "A" in places]
    last = namenode.now
    _go_on(namenode, 5.0, "b", "c")
    assert (namenode.now - last, namenode.take("copy_command")) == (5.0, [])
    namenode.wait(0.5)
    assert sorted(row[1] for row in namenode.take("copy_command")) == held


def test_all_replicas_lost_is_told() -> None:
    namenode = _namenode("a", "b", "c")
    namenode.ask_together([("create", "/x", False), ("mkdir", "/d", None), ("create", "/d/y", False)])
    chunk, places = namenode.write("/d/y")
    gone = {place.lower() for place in places}
    _go_on(namenode, 8.0, *({"a", "b", "c"} - gone))
    assert namenode.ask("locations", "/", chunk) == (False, "ENODATA")
    assert namenode.ask("lost") == (True, frozenset({("/d/y", chunk)}))
    assert _status(namenode)["lost"] == 1
    assert namenode.take("copy_command") == []
    # One comes back: nothing is lost any more.
    _report_all(namenode, places[0].lower(), chunk)
    assert namenode.ask("lost") == (True, frozenset())
    assert namenode.ask("locations", "/", chunk) == (True, frozenset({places[0]}))


def test_chunks_of_removed_files_are_dropped() -> None:
    namenode = _namenode("a", "b")
    namenode.ask("create", "/x", False)
    chunk, _ = namenode.write("/x")
    assert namenode.ask("create", "/y", False)[0]
    other, _ = namenode.write("/y")
    _report_all(namenode, "ab", chunk, other)
    namenode.ask("remove", "/x", False)
    namenode.wait(0.5)
    assert sorted(namenode.take("drop_command")) == [(0, chunk)] * 2
    # If the command is lost, the next report leads to another one.
    _report_all(namenode, "a", chunk, other)
    namenode.wait(0.5)
    assert namenode.take("drop_command") == [(0, chunk)]
    _report_all(namenode, "a", other)
    namenode.wait(0.5)
    assert namenode.take("drop_command") == []


def test_chunks_of_numbers_to_come_are_left_alone() -> None:
    """A NameNode that lags behind must not have dropped what it has not heard of yet."""
    namenode = _namenode("a")
    _report_all(namenode, "a", 77)
    namenode.wait(5.0)
    assert namenode.take("drop_command") == []


def test_a_replica_of_another_length_is_none() -> None:
    namenode = _namenode("a", "b", "c")
    namenode.ask("create", "/x", False)
    chunk, places = namenode.write("/x", 100)
    _report_all(namenode, places[0].lower(), chunk)
    _report_all(namenode, places[1].lower(), chunk, length=60)
    assert namenode.ask("locations", "/", chunk) == (True, frozenset({places[0]}))
    namenode.wait(0.5)
    assert namenode.take("drop_command") == [(0, chunk)]
    assert len(namenode.take("copy_command")) == 1


def test_pages_are_asked_for_once_they_differ() -> None:
    namenode = _namenode()
    namenode.beat("a", pages=[(0, "one"), (3, "two")])
    assert sorted(namenode.take("ask_page")) == [("nn", 0, 0), ("nn", 0, 3)]
    namenode.report("a", 0, [(1, 10)], "one")
    namenode.report("a", 3, [(800, 10)], "two")
    namenode.beat("a", pages=[(0, "one"), (3, "two")])
    assert namenode.take("ask_page") == []
    namenode.beat("a", pages=[(0, "other")])
    assert sorted(namenode.take("ask_page")) == [("nn", 0, 0), ("nn", 0, 3)]
    namenode.report("a", 3, [], "")
    namenode.report("a", 0, [(2, 10)], "other")
    assert [tuple(row) for row in namenode.node.hb_chunk] == [("a", 2, 10)]


def test_what_a_client_says_of_a_datanode_is_not_believed_for_long() -> None:
    """The replica was dropped before any heartbeat told of it, or after one, and is copied in either case."""
    namenode = _namenode("a", "b", "c")
    namenode.ask("create", "/x", False)
    chunk, places = namenode.write("/x")
    holder, other = (place.lower() for place in places)
    namenode.beat(holder, pages=[])
    assert namenode.take("ask_page") == [("nn", 0, 0)]
    namenode.report(holder, 0, [], "")
    assert namenode.ask("locations", "/", chunk) == (True, frozenset({other.upper()}))
    # With another chunk in the page that is known already.
    _report_all(namenode, holder, 1000)
    namenode.beat(holder, pages=[(0, "digest")])
    namenode.take("ask_page")
    _, places = namenode.write("/x")
    namenode.beat(holder, pages=[(0, "digest")])
    assert namenode.take("ask_page") == ([("nn", 0, 0)] if holder.upper() in places else [])


def test_full_datanodes_get_no_chunks() -> None:
    namenode = _namenode("a", "b")
    namenode.beat("b", free=1000)
    namenode.ask("create", "/x", False)
    assert namenode.add_chunk("/x")[1][1] == ("A",)
    assert namenode.add_chunk("/x", ("A",))[1][1] == ()


def test_what_a_dead_client_began_is_given_up() -> None:
    namenode = TickingNameNode(Policy(replicas=2, silence=5.0, lease=60.0))
    namenode.beat("a")
    namenode.ask("create", "/x", False)
    (_, (unfinished, _)) = namenode.add_chunk("/x")
    finished, _ = namenode.write("/x")
    _report_all(namenode, "a", unfinished, finished)
    _go_on(namenode, 59.0, "a")
    assert sorted(row.chunk for row in namenode.node.fchunk) == [unfinished, finished]
    _go_on(namenode, 3.0, "a")
    assert [row.chunk for row in namenode.node.fchunk] == [finished]


def test_nonsense_of_datanodes_is_left_out() -> None:
    namenode = _namenode("a")
    deliver = namenode.node.machine.deliver
    beats: list[tuple[object, ...]] = [
        ("nn", "b", 1, "B", 10, ((0, "x"),)),
        ("nn", "b", 1, "B", 10, frozenset({1})),
        ("nn", "b", "1", "B", 10, frozenset()),
        ("nn", 7, 1, "B", 10, frozenset()),
    ]
    for row in beats:
        deliver("heartbeat", row)
    for report in (
        ("nn", "a", 0, "d", frozenset({("1", 2)})),
        ("nn", "a", 0, "d", frozenset({(300, 2)})),
        ("nn", "stranger", 0, "d", frozenset({(1, 2)})),
        ("nn", "a", 0, "d", 5),
    ):
        deliver("page_report", report)
    namenode.run()
    assert [row.addr for row in namenode.node.datanode] == ["a"]
    assert list(namenode.node.hb_chunk) == []
