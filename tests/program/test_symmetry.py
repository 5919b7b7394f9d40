"""Renamings of nodes that change nothing."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.dedalus.loader import parse_program
from clew.faults import NodeName
from clew.program.ir import Fact, Program
from clew.program.symmetry import MOST_RENAMINGS, automorphisms

NODES: tuple[NodeName, ...] = ("a", "b", "c")


def renamings(text: str, nodes: tuple[NodeName, ...] = NODES) -> list[dict[NodeName, NodeName]]:
    return [dict(renaming) for renaming in automorphisms(parse_program(text), nodes)]


def test_a_star_can_trade_its_leaves() -> None:
    assert renamings('n("a", "b"); n("a", "c");') == [{"b": "c", "c": "b"}]


def test_a_ring_can_be_turned() -> None:
    found = renamings('n("a", "b"); n("b", "c"); n("c", "a");')
    assert found == [{"a": "b", "b": "c", "c": "a"}, {"a": "c", "b": "a", "c": "b"}]


def test_a_complete_graph_has_every_renaming_but_the_identity() -> None:
    text = "".join(f'n("{x}", "{y}");' for x in "abc" for y in "abc")
    assert len(renamings(text)) == 5


def test_a_line_has_none() -> None:
    assert renamings('n("a", "b"); n("b", "c");') == []


def test_nodes_without_facts_are_alike() -> None:
    assert renamings('n("a");') == [{"b": "c", "c": "b"}]


def test_numbers_are_never_renamed() -> None:
    """They may meet times, which keep their places: crash(_, _, T) and p(..)@N make them data."""
    assert renamings("n(1); n(2);", (1, 2)) == []


@pytest.mark.parametrize(
    "text",
    [
        'n("a", "b"); n("a", "c")@2;',
        'n("a", "b"); m("a", "c");',
        'n("a", "b", 1); n("a", "c", 2);',
        'n("a", "b"); n("a", "c"); start("b");',
    ],
)
def test_times_relations_and_other_columns_tell_nodes_apart(text: str) -> None:
    assert renamings(text) == []


STAR = 'n("a", "b"); n("a", "c");'


@pytest.mark.parametrize(
    "rule",
    [
        'p(X, "b") :- n(X, Y);',
        'p(X) :- n(X, "b");',
        'p(X) :- n(X, Y), notin n(X, "c");',
        'p(X) :- n(X, Y), Y != "b";',
        'p(X) :- n(X, Y), "c" == Y;',
        "p(X) :- n(X, Y), X < Y;",
        "p(X) :- n(X, Y), Y >= 1;",
        "p(X) :- n(X, Y), X == Y + 1;",
        "p(X, Y + 1) :- n(X, Y);",
        "p(X, min<Y>) :- n(X, Y);",
    ],
)
def test_a_rule_that_names_or_weighs_nodes_forbids_it(rule: str) -> None:
    assert renamings(STAR + rule) == []


@pytest.mark.parametrize(
    "rule",
    [
        "p(Y, X)@async :- n(X, Y), X != Y;",
        'p(X, "hello", 3) :- n(X, Y), notin n(Y, _);',
        'p(X) :- n("a", X);',
        "p(X) :- n(X, Y)@1, crash(X, Y, _);",
    ],
)
def test_other_rules_allow_it(rule: str) -> None:
    assert renamings(STAR + rule) == [{"b": "c", "c": "b"}]


def test_too_many_renamings_are_cut_to_those_of_the_first_nodes() -> None:
    nodes = tuple("abcdefgh")
    found = renamings("".join(f'n("{x}");' for x in nodes), nodes)
    assert len(found) == MOST_RENAMINGS - 1
    assert {moved for renaming in found for moved in renaming} == set("abcdef")


_PLACES = st.sampled_from(("a", "b", "c", "d", "elsewhere"))
_FACTS = st.builds(Fact, st.sampled_from(("n", "m")), st.tuples(_PLACES, _PLACES), st.integers(1, 2))


@given(facts=st.lists(_FACTS, max_size=8))
def test_exactly_the_permutations_that_keep_the_facts(facts: list[Fact]) -> None:
    nodes = ("a", "b", "c", "d")
    rows = {(f.relation, f.args, f.time) for f in facts}
    wanted = []
    for image in permutations(nodes):
        renaming = dict(zip(nodes, image, strict=True))
        moved = {(r, tuple(renaming.get(str(v), v) for v in args), t) for r, args, t in rows}
        if image != nodes and moved == rows:
            wanted.append({old: new for old, new in renaming.items() if old != new})
    found = [dict(renaming) for renaming in automorphisms(Program(tuple(facts)), nodes)]
    assert sorted(map(sorted, (r.items() for r in found))) == sorted(map(sorted, (r.items() for r in wanted)))
