"""Nodes in a text: what is written is read back, and what could mean several things is no name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.faults import NodeName
from clew.node_lists import BareNumber, NodeListError, WrittenNode, read_nodes, read_parts, write_nodes


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("", []),
        (" ", []),
        (",", []),
        ("a", ["a"]),
        ("a,b,C", ["a", "b", "C"]),
        (" a , b ", ["a", "b"]),
        ("a b,c", ["a b", "c"]),
        ("a,,b,", ["a", "b"]),
        ("1,-2", [BareNumber("1"), BareNumber("-2")]),
        ("01,-0", [BareNumber("01"), BareNumber("-0")]),
        ("+1,+-2", [1, -2]),
        ('"1","-2","+1"', ["1", "-2", "+1"]),
        ('"a, b","",a', ["a, b", "", "a"]),
        ('"a""b",""""', ['a"b', '"']),
        (' " a " ,b', [" a ", "b"]),
        ("-,+,--1,+a", ["-", "+", "--1", "+a"]),
        ("1.5,1a,²", ["1.5", "1a", "²"]),
        # Numbers of the language have 32 bits.
        ("2147483647,2147483648", [BareNumber("2147483647"), "2147483648"]),
        ("+-2147483648", [-2147483648]),
        ("9" * 5000, ["9" * 5000]),
        ("it's,a'b'", ["it's", "a'b'"]),
    ],
)
def test_what_is_read(text: str, nodes: list[WrittenNode]) -> None:
    assert read_nodes(text) == nodes


def test_what_is_missing_between_commas_is_not_forgotten() -> None:
    assert read_parts(",a,,1") == [None, "a", None, BareNumber("1")]


def test_a_bare_number_has_two_readings() -> None:
    assert BareNumber("-1").readings == (-1, "-1")
    assert BareNumber("01").readings == (1, "01")


@pytest.mark.parametrize(
    ("text", "message", "offset"),
    [
        ('a,"b', 'a name is not closed: its last " is missing', 2),
        ('"', 'a name is not closed: its last " is missing', 0),
        ('a,"b"c', 'a " stands in the middle of a name', 2),
        ('a"b"', 'a " stands in the middle of a name', 0),
        ("'a',b", "'a' is in single quotes", 0),
        ("a,+99999999999", "the number +99999999999 is too large", 2),
        ("+" + "9" * 5000, "the number +" + "9" * 39 + " is too large", 0),
    ],
)
def test_what_is_refused(text: str, message: str, offset: int) -> None:
    with pytest.raises(NodeListError) as caught:
        read_nodes(text)
    assert (caught.value.message, caught.value.offset) == (message, offset)
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("node", "text"),
    [
        ("a", "a"),
        ("a.b_c?", "a.b_c?"),
        ("é", "é"),
        (1, "1"),
        (2, "+2"),
        (-2, "+-2"),
        ("1", '"1"'),
        ("+1", '"+1"'),
        ("a b", '"a b"'),
        ("a,b", '"a,b"'),
        ("", '""'),
        ('a"b', '"a""b"'),
        ("'a'", "\"'a'\""),
        ("9" * 12, "9" * 12),
    ],
)
def test_what_is_written(node: NodeName, text: str) -> None:
    assert write_nodes([node], {2, -2}) == text


_NODES = st.one_of(st.integers(-(2**31), 2**31 - 1), st.text(" ,\"'1-a+\\", max_size=6), st.text(max_size=6))


@given(st.lists(_NODES, max_size=4))
def test_what_is_written_is_read_back(nodes: list[NodeName]) -> None:
    everything = [node for node in nodes if isinstance(node, int)]
    assert read_nodes(write_nodes(nodes, everything)) == nodes
    assert [
        node.number if isinstance(node, BareNumber) else node for node in read_nodes(write_nodes(nodes, ()))
    ] == nodes
