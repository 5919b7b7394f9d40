"""The cart of listing 3.8 is not consistent when sessions are sealed, whatever section 4.5 of the thesis derives.

The thesis calls the path from an action to a put CR.  In the listing the new contents of a cart are computed from
what the store answers (``(action_msg * kvget_response).outer(...)``): a put depends on the puts before it, and
on the order in which they were applied.  A seal says which actions belong to a session, not in which order to
take them.  Here the server has *all* actions of a session, which is all that a seal can give, and the outcome
still differs.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from clew.analysis.blazes import analyse
from clew.files.python_module import import_file
from clew.frontends.bloom import open_bloom
from command import ROOT
from random_network import RandomNetwork

CART = ROOT / "examples/bloom/cart.py"
#: To the server, from the client, in a session: what is put in and taken out.
ACTIONS = [("s", "c", "A", 1, "tea", 1), ("s", "c", "A", 2, "milk", 1), ("s", "c", "A", 3, "tea", -1)]


@pytest.fixture(scope="module")
def cart() -> ModuleType:
    return import_file(Path(CART), "program")


def _cluster(cart: ModuleType, seed: int) -> RandomNetwork:
    """A server ``s`` that clients talk to, and a replica ``t`` of its store."""
    cluster = RandomNetwork({name: cart.CompleteDestructiveCart(name) for name in ("c", "s", "t")}, seed)
    for name in ("s", "t"):
        cluster.nodes[name].members.insert(("s",), ("t",))
    cluster.settle()
    return cluster


def _carts(cluster: RandomNetwork) -> tuple[Any, ...]:
    cluster.settle()
    return tuple(tuple(cluster.nodes[name].kvstate) for name in ("s", "t"))


def _deliver(cluster: RandomNetwork, *actions: tuple[Any, ...]) -> None:
    for action in actions:
        cluster.nodes["s"].machine.deliver("action_msg", action)


def test_a_session_that_is_let_go_at_once_is_in_conflict_with_itself(cart: ModuleType) -> None:
    """Every action finds the cart as it was before all of them; the replica keeps the put that comes last."""
    found = set()
    for seed in range(30):
        cluster = _cluster(cart, seed)
        _deliver(cluster, *ACTIONS)
        found.add(_carts(cluster))
        assert any(refused.collection == "kvstate" for _, refused in cluster.refused)
    assert len(found) > 1


def test_a_session_that_is_let_go_one_by_one_reaches_the_replica_in_any_order(cart: ModuleType) -> None:
    """The order of the actions is the same in every run; that of the puts between servers is not."""

    def carts(seed: int) -> tuple[Any, ...]:
        cluster = _cluster(cart, seed)
        for action in ACTIONS:
            _deliver(cluster, action)
            cluster.run(1)
        return _carts(cluster)

    found = {carts(seed) for seed in range(40)}
    assert len({server for server, _ in found}) == 1
    assert len({replica for _, replica in found}) > 1


def test_without_an_order_not_even_one_server_is_consistent(cart: ModuleType) -> None:
    """All puts arrive before the next action is taken: then it is the order of the actions alone that counts."""

    def carts(actions: list[tuple[Any, ...]]) -> tuple[Any, ...]:
        cluster = _cluster(cart, 0)
        for action in actions:
            _deliver(cluster, action)
            cluster.settle()
        return _carts(cluster)

    (server, replica), other = carts(ACTIONS), carts(ACTIONS[::-1])
    assert server == replica == (("A", (("milk", 1), ("tea", 0))),)
    assert other[0] == other[1] == (("A", (("milk", 1), ("tea", 1))),)


def test_request_numbers_must_not_be_used_in_two_sessions(cart: ModuleType) -> None:
    """An action and the answer to it are matched by the number alone, so that it is no partition by session."""
    cluster = _cluster(cart, 0)
    _deliver(cluster, ("s", "c", "A", 1, "tea", 1), ("s", "c", "B", 1, "milk", 1))
    together = _carts(cluster)
    cluster = _cluster(cart, 0)
    for action in [("s", "c", "A", 1, "tea", 1), ("s", "c", "B", 1, "milk", 1)]:
        _deliver(cluster, action)
        cluster.settle()
    assert together != _carts(cluster)


@pytest.mark.parametrize(
    ("name", "actions"),
    [("CompleteDestructiveCart", "client_action"), ("SingleDestructiveCart", "action_msg")],
)
def test_a_seal_on_the_session_is_not_enough(name: str, actions: str) -> None:
    dataflow = open_bloom(f"{CART}:{name}").extract().dataflow.with_seal(actions, frozenset({"session"}))
    (sink,) = analyse(dataflow).sinks
    assert str(sink.label) == "Run"
    assert all(str(p.annotation) == "OW[*]" for c in dataflow.components for p in c.paths)
