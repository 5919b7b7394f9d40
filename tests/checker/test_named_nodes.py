"""Nodes that somebody names: 1 and "1" are two, and what can be a node of the program decides which is meant."""

from __future__ import annotations

import pytest

from clew.checker.named_nodes import (
    WrittenFault,
    find_ambiguous_nodes,
    notice_idle_nodes,
    resolve_fault,
    resolve_node,
    resolve_nodes,
)
from clew.dedalus.loader import parse_program
from clew.errors import UsageError
from clew.faults import Crash, Delay, Fault, Loss, NodeName
from clew.node_lists import BareNumber, WrittenNode
from clew.program.checks import check_program
from clew.program.ir import Program

ONE, TWO = BareNumber("1"), BareNumber("2")


def program(text: str) -> Program:
    return check_program(parse_program(text)).program


#: The node is 1; "1" is what it stores.
NUMBER = program('p(1, "1"); p(X, Y)@next :- p(X, Y);')
#: The other way round.
STRING = program('p("1", 1); p(X, Y)@next :- p(X, Y);')
#: Two nodes that look the same.
BOTH = program('p("1", 1); p(X, Y)@next :- p(X, Y); m(Y)@async :- p(X, Y);')


@pytest.mark.parametrize(
    ("of", "written", "nodes"),
    [
        (NUMBER, [ONE], (1,)),
        (NUMBER, [1], (1,)),
        (STRING, [ONE], ("1",)),
        (STRING, ["1"], ("1",)),
        (BOTH, [1, "1"], (1, "1")),
        (BOTH, ["1"], ("1",)),
        (BOTH, [1], (1,)),
        # Nothing can happen at any of these, whatever they are: they are what the language reads.
        (NUMBER, [ONE, TWO, "a"], (1, 2, "a")),
        (NUMBER, [1, "2"], (1, "2")),
        # With the other one beside it, nobody mistook it.
        (NUMBER, [1, "1"], (1, "1")),
        (STRING, [1, "1"], (1, "1")),
        # Each once.
        (NUMBER, [ONE, 1, ONE], (1,)),
        (NUMBER, ["b", "a", "b"], ("b", "a")),
    ],
)
def test_what_is_meant(of: Program, written: list[WrittenNode], nodes: tuple[NodeName, ...]) -> None:
    assert resolve_nodes(of, written) == nodes


def test_a_bare_number_that_can_mean_two_nodes_is_refused() -> None:
    with pytest.raises(UsageError) as caught:
        resolve_nodes(BOTH, ["1", ONE])
    assert caught.value.message == "'1' can mean two nodes: the number 1, and the string \"1\""
    assert caught.value.remedy == 'write +1 for the number, "1" with its quotes for the string'


@pytest.mark.parametrize(
    ("of", "node", "message"),
    [
        (NUMBER, "1", 'the string "1" can be no node of the program, but the number 1 can'),
        (STRING, 1, 'the number 1 can be no node of the program, but the string "1" can'),
        (NUMBER, "01", 'the string "01" can be no node of the program, but the number 1 can'),
    ],
)
def test_a_node_that_is_surely_mistaken_for_another_is_refused(of: Program, node: NodeName, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        resolve_nodes(of, [node])
    assert caught.value.message == message
    assert "in quotes" in (caught.value.remedy or "")


def test_no_nodes_are_refused() -> None:
    with pytest.raises(UsageError, match="no nodes given"):
        resolve_nodes(NUMBER, [])


def test_a_number_of_many_digits_can_only_be_a_string() -> None:
    digits = "1" * 5000
    assert resolve_nodes(NUMBER, [ONE, digits]) == (1, digits)


def test_a_node_that_the_program_does_not_have_is_told() -> None:
    relay = program("link(ann, bob); m(Y)@async :- link(X, Y);")
    assert [(n.message, n.remedy) for n in notice_idle_nodes(relay, ("ann", "bob", "Bob", "zed", 7))] == [
        (
            "the program has no node 'Bob': no row and no message can be there",
            "did you mean 'bob'? Otherwise leave it out",
        ),
        ("the program has no node 'zed': no row and no message can be there", "check its name, or leave it out"),
        ("the program has no node '7': no row and no message can be there", "check its name, or leave it out"),
    ]


def test_of_many_nodes_that_the_program_does_not_have_some_are_told_and_the_rest_is_counted() -> None:
    relay = program("link(ann, bob); m(Y)@async :- link(X, Y);")
    told = [n.message for n in notice_idle_nodes(relay, ("ann", *(f"w{k}" for k in range(1000))))]
    assert len(told) == 6
    assert told[-1] == (
        "the program has no node 'w5', nor 994 more of the nodes that are named, either: "
        "no row and no message can be there"
    )


# Faults.


@pytest.mark.parametrize(
    ("fault", "known"),
    [
        (WrittenFault(Loss, (ONE, "a"), (3,)), Loss(1, "a", 3)),
        (WrittenFault(Crash, (TWO,), (3,)), Crash("2", 3)),
        (WrittenFault(Delay, ("2", 1), (3, 4)), Delay("2", 1, 3, 4)),
        (Loss(1, "2", 3), Loss(1, "2", 3)),
        (Crash("a", 3), Crash("a", 3)),
        (Delay("a", 1, 3, 4), Delay("a", 1, 3, 4)),
    ],
)
def test_faults_are_looked_up_among_the_nodes(fault: Fault | WrittenFault, known: Fault) -> None:
    assert resolve_fault(fault, (1, "2", "a")) == known


@pytest.mark.parametrize(
    ("written", "nodes", "message"),
    [
        ("z", (1, "a"), "unknown node 'z'"),
        ("1", (1, "a"), "unknown node '\"1\"'"),
        (2, (1, "a"), "unknown node '2'"),
        (TWO, (1, "a"), "unknown node '2'"),
    ],
)
def test_an_unknown_node_is_refused_with_those_there_are(
    written: WrittenNode, nodes: tuple[NodeName, ...], message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        resolve_node(written, nodes)
    assert (caught.value.message, caught.value.remedy) == (message, "the nodes are 1, a")


def test_a_fault_at_one_of_two_nodes_that_look_the_same_says_which() -> None:
    with pytest.raises(UsageError, match="can mean two nodes"):
        resolve_fault(WrittenFault(Crash, (ONE,), (3,)), (1, "1"))


# Writing.


@pytest.mark.parametrize(
    ("of", "nodes", "ambiguous"),
    [
        (NUMBER, (1, 2), set()),
        (BOTH, (1,), {1}),
        (BOTH, (1, "1"), {1}),
        (NUMBER, (1, "1"), {1}),
        (None, (1, "1", 2), {1}),
        (None, ("a", "1"), set()),
    ],
)
def test_numbers_that_need_a_plus(
    of: Program | None, nodes: tuple[NodeName, ...], ambiguous: set[NodeName]
) -> None:
    assert find_ambiguous_nodes(of, nodes) == ambiguous
