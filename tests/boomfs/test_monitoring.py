"""The monitoring revision, for the NameNode: it dies of a broken invariant, and its rules can be traced."""

from __future__ import annotations

from collections import Counter

import pytest

from boomfs.namenode.ticking import TickingNameNode
from clew.bloom import InvariantError, trace
from clew.boomfs.namenode.node import NameNode


def test_a_namenode_dies_rather_than_leave_a_change_undecided() -> None:
    namenode = TickingNameNode()
    namenode.node.decree.insert((1, "s", 1, "no such command", "/", None, 0.0))
    with pytest.raises(InvariantError) as raised:
        namenode.run()
    (broken,) = raised.value.broken
    assert broken.block == "Namespace.stay_consistent"
    assert broken.rows[0][:4] == (1, "s", 1, "no such command")


def test_a_namenode_dies_rather_than_have_a_file_in_no_folder() -> None:
    namenode = TickingNameNode()
    namenode.node.made.insert((7, 12345, "x", False, 0.0))
    with pytest.raises(InvariantError) as raised:
        namenode.run()
    assert [broken.rows for broken in raised.value.broken] == [((7, 12345, "x", False, 0.0),)]


def test_traces_tell_what_goes_over_the_network() -> None:
    """One answer for each request, and a page for each 256 files of a folder."""
    with trace(NameNode, ["respond", "create"]) as traced:
        namenode = TickingNameNode()
        assert all(ok for ok, _ in namenode.ask_together([("create", f"/{k}", False) for k in range(300)]))
        namenode.repeat("s", 1, "ls", "/", None)
        namenode.run()
    sent = Counter((record.collection, record.row[1]) for record in traced.records if record.is_sent)
    assert sent == {("response", f"s{k:04}"): 1 for k in range(300)} | {("response", "s"): 2}
    assert {record.to for record in traced.records if record.is_sent} == {"client"}
    made = [record.row for record in traced.records if record.collection == "made"]
    assert sorted(row[2] for row in made) == sorted(str(k) for k in range(300))
