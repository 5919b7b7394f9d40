"""The carts: the same contents in order, and what another order does to each (thesis, listings 3.6 to 3.9)."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from cart import (
    CartClient,
    CompleteDestructiveCart,
    CompleteDisorderlyCart,
    DisorderlyCart,
    ReplicatedDestructiveCart,
    ReplicatedDisorderlyCart,
    SingleDestructiveCart,
)

from random_network import RandomNetwork

_ACTIONS = [(1, "beer", 1), (2, "diapers", 1), (3, "beer", 1), (4, "diapers", -1)]
_CONTENTS = (("beer", 2),)


def _act(server: Any, actions: Any) -> None:
    for reqid, item, cnt in actions:
        server.machine.deliver("action_msg", (server.address(), "client", "session", reqid, item, cnt))
        server.tick()
    server.tick()


def _check_out(server: Any) -> Any:
    server.machine.deliver("checkout_msg", (server.address(), "client", "session", 99))
    ((_, (client, answering, session, items)),) = [s for s in server.tick().sent if s[0] == "response_msg"]
    assert (client, answering, session) == ("client", server.address(), "session")
    return items


@pytest.mark.parametrize("kind", [SingleDestructiveCart, DisorderlyCart])
def test_actions_in_order_give_the_contents(kind: Any) -> None:
    server = kind("server")
    _act(server, _ACTIONS)
    assert _check_out(server) == _CONTENTS


def _outcomes(kind: Any) -> dict[Any, int]:
    """What the orders of the actions lead to, and how many of them lead there."""
    found: dict[Any, int] = {}
    for order in itertools.permutations(_ACTIONS):
        server = kind("server")
        _act(server, order)
        items = _check_out(server)
        found[items] = found.get(items, 0) + 1
    return found


def test_the_order_of_actions_decides_what_is_in_the_destructive_cart() -> None:
    """In half of the 24 orders the deletion comes before what it deletes, and has no effect."""
    assert _outcomes(SingleDestructiveCart) == {_CONTENTS: 12, (("beer", 2), ("diapers", 1)): 12}


def test_no_order_of_actions_changes_the_disorderly_cart() -> None:
    assert _outcomes(DisorderlyCart) == {_CONTENTS: 24}


def test_a_checkout_that_overtakes_an_action_misses_it() -> None:
    server = DisorderlyCart("server")
    _act(server, _ACTIONS[:2])
    early = _check_out(server)
    _act(server, _ACTIONS[2:])
    assert (early, _check_out(server)) == ((("beer", 1), ("diapers", 1)), _CONTENTS)


def _replicated(kind: Any, seed: int) -> list[Any]:
    """What each of three servers answers after two of them got actions at once."""
    cluster = RandomNetwork({name: kind(name) for name in "abc"}, seed)
    for name, node in cluster.nodes.items():
        node.members.insert(*((peer,) for peer in "abc" if peer != name))
    cluster.settle()
    for k, (reqid, item, cnt) in enumerate(_ACTIONS):
        server = "ab"[k % 2]
        cluster.send(server, "action_msg", (server, "client", "session", reqid, item, cnt))
    cluster.settle()
    return [_check_out(cluster.nodes[name]) for name in "abc"]


def test_replicas_of_the_disorderly_cart_agree() -> None:
    assert [_replicated(ReplicatedDisorderlyCart, seed) for seed in range(30)] == [[_CONTENTS] * 3] * 30


def test_replicas_of_the_destructive_cart_differ() -> None:
    answers = [_replicated(ReplicatedDestructiveCart, seed) for seed in range(10)]
    assert any(len(set(answer)) > 1 for answer in answers)


@pytest.mark.parametrize("kind", [CompleteDestructiveCart, CompleteDisorderlyCart])
def test_client_and_server_in_one_program(kind: Any) -> None:
    cluster = RandomNetwork({"client": CartClient("client"), "a": kind("a"), "b": kind("b")})
    for name, other in (("a", "b"), ("b", "a")):
        cluster.nodes[name].members.insert((other,))
    client: Any = cluster.nodes["client"]
    for reqid, item, cnt in _ACTIONS:
        client.client_action.insert(("a", "session", reqid, item, cnt))
        cluster.settle()
    client.client_checkout.insert(("b", "session", 99))
    answers = []
    for _ in range(20):
        cluster.run(1)
        answers += list(client.client_response)
    assert answers == [("client", "b", "session", _CONTENTS)]
