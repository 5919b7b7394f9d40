"""Faults of code on a command line, and back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.errors import UsageError
from clew.injection.faults import (
    CODE_KINDS,
    CodeFault,
    MessageCopy,
    MessageLoss,
    MessageName,
    NetworkPartition,
    NodeCrash,
    NodeRestart,
)
from clew.injection.written import read_code_fault, write_code_fault
from clew.simulation import Node, Scenario

KINDS = {kind.name: kind for kind in CODE_KINDS}
#: Names that a command line, a list or a time could take for something else.
NAMES = ["a", "b", "7", "node 1", "x,y", "u:v", "'", 'q"q', "été", "-f", "0x1", "a:1,2"]


def cluster(*names: str) -> Scenario:
    return Scenario(nodes=dict.fromkeys(names, Node))


@st.composite
def faults(draw: st.DrawFn) -> CodeFault:
    name = st.sampled_from(NAMES)
    small, ticks = st.integers(0, 12), st.integers(0, 10**13)
    message = MessageName(draw(name), draw(name), draw(name), draw(small) + 1)
    first, last = sorted((draw(ticks), draw(ticks)))
    group = draw(st.lists(name, min_size=1, max_size=3, unique=True))
    kinds: list[CodeFault] = [
        MessageLoss(message),
        MessageCopy(message),
        NodeCrash(draw(name), draw(small)),
        NodeRestart(draw(name), draw(small), draw(ticks)),
        NetworkPartition(tuple(group), first, last + 1),
    ]
    return draw(st.sampled_from(kinds))


@given(faults())
def test_what_is_written_is_read_back(fault: CodeFault) -> None:
    assert read_code_fault(type(fault), write_code_fault(fault), cluster(*NAMES)) == fault


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("loss", "a,b,Ping,1", MessageLoss(MessageName("a", "b", "Ping", 1))),
        ("duplicate", "a,b,Ping,3", MessageCopy(MessageName("a", "b", "Ping", 3))),
        ("crash", "a,0", NodeCrash("a", 0)),
        ("restart", "b,2,0.25", NodeRestart("b", 2, 250_000)),
        ("partition", "a,b:1,2.5", NetworkPartition(("a", "b"), 1_000_000, 2_500_000)),
    ],
)
def test_faults_are_read_as_people_write_them(name: str, text: str, fault: CodeFault) -> None:
    assert read_code_fault(KINDS[name], text, cluster("a", "b", "c")) == fault


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("loss", "a,b,Ping"),
        ("loss", "a,b,Ping,0"),
        ("loss", "a,b,Ping,one"),
        ("loss", "a,b,,1"),
        ("crash", "a"),
        ("crash", "a,-1"),
        ("crash", "a,1.5"),
        ("restart", "a,1,nan"),
        ("restart", "a,1,-2"),
        ("restart", "a,1,1e300"),
        ("partition", "a,b"),
        ("partition", ":1,2"),
        ("partition", "a:2,1"),
        ("partition", "a:1,1"),
        ("partition", "a:1"),
    ],
)
def test_what_is_no_fault_is_refused_with_how_to_write_it(name: str, text: str) -> None:
    kind: Any = KINDS[name]
    with pytest.raises(UsageError) as caught:
        read_code_fault(kind, text, cluster("a", "b"))
    assert f"{kind.kind.flag} {text} is not understood" in str(caught.value)
    assert kind.kind.metavar in str(caught.value)


def test_unknown_nodes_are_refused_with_those_there_are() -> None:
    with pytest.raises(UsageError, match=r"(?s)unknown node 'leadr'.*did you mean 'leader'"):
        read_code_fault(NodeCrash, "leadr,1", cluster("leader", "b"))
    with pytest.raises(UsageError, match=r"(?s)unknown node 'zzz'.*the nodes are leader, b"):
        read_code_fault(NetworkPartition, "zzz:1,2", cluster("leader", "b"))
