"""For each program of ``examples/bloom`` nodes and inputs under which order, if it can matter, does.

A class that is a part of a program runs as one: what its other side would send are messages from outside.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from unittest.mock import patch
from uuid import UUID

import broadcast
import cart
import checked_delivery
import clocks
import delivery
import heartbeat
import idioms
import kvs
import kvs_cluster
import likes
import multipaxos_agreement
import multipaxos_register
import paxos
import reliable_broadcast
import restarting_store
import two_phase_commit

from clew.analysis.calm.trying.workloads import Workload, workload, workload_of

_ABC = [("a",), ("b",), ("c",)]


# -- delivery, multicast and broadcast ---------------------------------------------------------------------------

_MESSAGES = {
    "a": {"pipe_in": [("b", "a", 1, "one"), ("b", "a", 2, "two"), ("c", "a", 3, "three")]},
    "b": {"pipe_in": [("a", "b", 1, "four")]},
}


def _delivery(kind: Any, *, number: int = 4) -> Workload:
    """The last message says that it is from "a", and its number may be one that "a" uses, too."""
    last = {"c": {8: {"pipe_in": [("b", "a", number, "five")]}}}
    return workload(dict.fromkeys("abc", kind), _MESSAGES, later=last)


def _broadcast(kind: Any, given: str) -> Workload:
    members = {"members": _ABC}
    messages: dict[str, Any] = {"a": {given: [("a", "one"), ("a", "two")]}, "b": {given: [("b", "three")]}}
    return workload(dict.fromkeys("abc", kind), {node: members | messages.get(node, {}) for node in "abc"})


# -- carts -------------------------------------------------------------------------------------------------------

_ACTIONS = [(1, "beer", 1), (2, "diapers", 1), (3, "beer", 1), (4, "diapers", -1)]


def _cart(kind: Any, servers: str = "a") -> Workload:
    """One server that gets the actions, or two; the last one answers."""
    last = servers[-1]
    others = {name: [(other,) for other in servers if other != name] for name in servers}
    members = {name: {"members": rows} for name, rows in others.items() if rows}
    later: dict[str, Any] = {
        "a": {k: {"action_msg": [("a", "client", "s", *action)]} for k, action in enumerate(_ACTIONS, 2)}
    }
    later[last] = later.get(last, {}) | {9: {"checkout_msg": [(last, "client", "s", 9)]}}
    return workload(dict.fromkeys(servers, kind), members, later=later)


def _complete_cart(kind: Any) -> Workload:
    later: dict[int, Any] = {k: {"client_action": [("a", "s", *action)]} for k, action in enumerate(_ACTIONS, 2)}
    later[12] = {"client_checkout": [("b", "s", 9)]}
    nodes = {"client": cart.CartClient, "a": kind, "b": kind}
    return workload(nodes, {"a": {"members": [("b",)]}, "b": {"members": [("a",)]}}, later={"client": later})


_CLIENT = {
    "client_action": [("server", "s", 1, "beer", 1), ("server", "s", 2, "beer", -1)],
    "client_checkout": [("server", "s", 9)],
    "response_msg": [("a", "server", "s", (("beer", 1),)), ("a", "server", "t", ())],
}

# -- stores ------------------------------------------------------------------------------------------------------

_PUTS_AND_GETS = {
    1: {"kvput": [("c", "x", 1, "one"), ("c", "y", 2, "two")]},
    2: {"kvput": [("c", "x", 3, "three")], "kvget": [(4, "x"), (5, "y")]},
    3: {"kvget": [(6, "x")]},
}
_PUT_MESSAGES = [("a", "client", 1, "x", "one"), ("a", "client", 2, "x", "two")]


_NAME = UUID(int=7).hex


def _replica(address: str) -> Any:
    return kvs_cluster.Replica(address, [name for name in ("a", "b") if name != address])


def _store_client(address: str) -> Any:
    """Its name is random; here it must be the same in every run."""
    with patch("uuid.uuid4", return_value=UUID(int=7)):
        return kvs_cluster.StoreClient(["a", "b"], address)


# -- rounds and Paxos --------------------------------------------------------------------------------------------


def _roll_call(kind: Any, **more: Any) -> Workload:
    inputs: dict[str, Any] = {name: {"members": _ABC} for name in "abc"}
    inputs["a"] = {"members": _ABC, "begin": [(1,), (2,)]}
    inputs["b"] |= more
    return workload(dict.fromkeys("abc", kind), inputs)


def _commit(coordinator: Any, ticks: int, messages: list[Any]) -> Workload:
    inputs = {"peers": [("p",), ("q",)], "begin": [("t",)], "vote_msg": messages}
    nodes = {"c": coordinator, "p": two_phase_commit.Peer, "q": two_phase_commit.Peer}
    return workload(nodes, {"c": inputs}, ticks=ticks)


def _parliament(kind: Any, ticks: int = 0, **more: Any) -> Workload:
    inputs: dict[str, Any] = {name: {"parliament": _ABC} | more for name in "abc"}
    inputs["a"] |= {"start_view": [("now",)]}
    inputs["b"] |= {"start_view": [("now",)]}
    if hasattr(kind, "request"):
        inputs["a"] |= {"request": [(1, "x")]}
        inputs["b"] |= {"request": [(2, "y")]}
    return workload(dict.fromkeys("abc", kind), inputs, ticks=ticks)


def _replicas(kind: Any) -> Workload:
    """Two replicas are asked to write, and a third one to read."""
    asked = {"a": ("ann", ("write", 1)), "b": ("bob", ("write", 2)), "c": ("cid", ("read",))}
    inputs: dict[str, Any] = {
        name: {"member": _ABC, "request": [(name, "client", client, 1, operation)]}
        for name, (client, operation) in asked.items()
    }
    return workload(dict.fromkeys("abc", kind), inputs, ticks=4)


_SAID = {"a": {1: {"say": [("b", "one")]}, 3: {"say": [("b", "two")]}}, "b": {2: {"say": [("a", "three")]}}}


def _clock(kind: Any) -> Workload:
    return workload(dict.fromkeys("ab", kind), {}, later=_SAID)


def _likes(kind: Any) -> Workload:
    inputs = {name: {"peers": [(other,) for other in "abc" if other != name]} for name in "abc"}
    liked = {1: {"like": [("a", "fan", 1)]}, 2: {"like": [("a", "fan", 2)]}}
    return workload(dict.fromkeys("abc", kind), inputs, later={"a": liked}, ticks=2)


def _single(kind: Any, inputs: Mapping[str, Any], later: Mapping[int, Any] | None = None) -> Workload:
    return workload({"a": kind}, {"a": inputs}, later={"a": later or {}})


_JOBS = {
    1: {"submitted": [("u", "j1", 3), ("v", "j2", 1)]},
    2: {"submitted": [("u", "j3", 1), ("v", "j4", 2)]},
}

WORKLOADS: dict[Any, Workload] = {
    broadcast.Delivery: _single(broadcast.Delivery, {"data_chan": [("a", "b", 1), ("a", "c", 2), ("a", "b", 3)]}),
    broadcast.Simple: workload_of(broadcast.Simple),
    broadcast.Retry: workload_of(broadcast.Retry),
    broadcast.Redundant: workload_of(broadcast.Redundant),
    broadcast.Acknowledged: workload_of(broadcast.Acknowledged),
    cart.CartClient: _single(cart.CartClient, _CLIENT),
    cart.DestructiveCart: _single(
        cart.DestructiveCart,
        {"checkout_msg": [("a", "client", "s", 9)]},
        {2: {"kvget_response": [(9, "s", (("beer", 1),))]}},
    ),
    cart.DisorderlyCart: _cart(cart.DisorderlyCart),
    cart.SingleDestructiveCart: _cart(cart.SingleDestructiveCart),
    cart.ReplicatedDestructiveCart: _cart(cart.ReplicatedDestructiveCart, "ab"),
    cart.ReplicatedDisorderlyCart: _cart(cart.ReplicatedDisorderlyCart, "ab"),
    cart.CompleteDestructiveCart: _complete_cart(cart.CompleteDestructiveCart),
    cart.CompleteDisorderlyCart: _complete_cart(cart.CompleteDisorderlyCart),
    checked_delivery.BestEffort: _delivery(checked_delivery.BestEffort),
    checked_delivery.Reliable: _delivery(checked_delivery.Reliable),
    checked_delivery.ReliableOnce: _delivery(checked_delivery.ReliableOnce),
    checked_delivery.Once: _delivery(checked_delivery.Once, number=1),
    clocks.WaitingClock: _clock(clocks.WaitingClock),
    clocks.LamportClock: _clock(clocks.LamportClock),
    clocks.VectorClock: _clock(clocks.VectorClock),
    delivery.BestEffortDelivery: _delivery(delivery.BestEffortDelivery),
    delivery.ReliableDelivery: _delivery(delivery.ReliableDelivery),
    delivery.OnceDelivery: _delivery(delivery.OnceDelivery, number=1),
    delivery.DurableDelivery: _delivery(delivery.DurableDelivery, number=1),
    heartbeat.Heartbeat: workload(
        dict.fromkeys("ab", heartbeat.Heartbeat), {"a": {"peers": [("b",)]}, "b": {"peers": [("a",)]}}, ticks=6
    ),
    heartbeat.LeaderElection: workload(
        dict.fromkeys("ab", heartbeat.LeaderElection), {n: {"peers": [("a",), ("b",)]} for n in "ab"}, ticks=6
    ),
    **{kind: _likes(kind) for kind in (likes.Counter, likes.Eager, likes.Careful, likes.Durable)},
    likes.Fan: _single(likes.Fan, {"press": [(1,), (2,)]}, {2: {"thanks": [("a", 1)]}, 3: {"thanks": [("a", 2)]}}),
    idioms.FirstStep: _single(idioms.FirstStep, {}),
    idioms.Persistence: _single(
        idioms.Persistence, {"given": [(1, 2), (3, 4)]}, {2: {"retracted": [(1, 2)]}, 3: {"given": [(1, 5)]}}
    ),
    idioms.Sequence: _single(idioms.Sequence, {}, {k: {"event": [("x",)]} for k in (1, 2, 4)}),
    idioms.Counter: _single(idioms.Counter, {"request": [("a", "client", 1), ("a", "client", 2)]}),
    idioms.CounterClient: _single(idioms.CounterClient, {"response": [("a", 1, 0), ("a", 2, 1), ("a", 3, 1)]}),
    idioms.PriorityQueue: _single(idioms.PriorityQueue, {}, _JOBS),
    idioms.GlobalQueue: _single(idioms.GlobalQueue, {}, _JOBS),
    idioms.AtomicDequeue: _single(
        idioms.AtomicDequeue,
        {"update_request": [("u", "a", 1), ("v", "b", 2)]},
        {3: {"update_passed": [("u", 1)]}},
    ),
    idioms.RollCall: _roll_call(idioms.RollCall),
    idioms.Barrier: _roll_call(idioms.Barrier),
    idioms.Voting: _roll_call(idioms.Voting, favoured=[(1,)]),
    kvs.BasicKVS: _single(kvs.BasicKVS, {}, _PUTS_AND_GETS),
    kvs.LastPutKVS: _single(kvs.LastPutKVS, {}, _PUTS_AND_GETS),
    kvs.RealizedReplicatedKVS: workload(
        dict.fromkeys("abc", kvs.RealizedReplicatedKVS),
        {name: {"members": _ABC} for name in "abc"},
        later={
            "a": {2: {"kvput": [("client", "x", 1, "one")]}},
            "b": {4: {"kvput": [("client", "x", 2, "two")]}},
            "c": {40: {"kvget": [(3, "x")]}},
        },
    ),
    kvs.KVSClient: _single(
        kvs.KVSClient,
        {
            "put": [("server", 1, "x", "one"), ("server", 2, "y", "two")],
            "get": [("server", 3, "x")],
            "put_done": [("a", "server", 1), ("a", "server", 2)],
            "get_reply": [("a", "server", 3, "x", "one")],
        },
    ),
    kvs.KVSServer: _single(
        kvs.KVSServer, {"put_msg": _PUT_MESSAGES, "get_msg": [("a", "client", 3, "x"), ("a", "client", 4, "x")]}
    ),
    kvs.SingleKVSServer: _single(
        kvs.SingleKVSServer, {"put_msg": _PUT_MESSAGES, "get_msg": [("a", "client", 3, "x")]}
    ),
    kvs.DurableKVSServer: workload(
        dict.fromkeys("ab", kvs.DurableKVSServer),
        {name: {"members": [("a",), ("b",)]} for name in "ab"},
        later={"a": {2: {"put_msg": _PUT_MESSAGES[:1]}, 10: {"get_msg": [("a", "client", 3, "x")]}}},
    ),
    kvs_cluster.Replica: workload(
        {"a": _replica, "b": _replica},
        {
            "a": {
                "put_msg": [("a", "client", (1, _NAME), "x", "one"), ("a", "client", (2, _NAME), "x", "two")],
                "get_msg": [("a", "client", 3, "x")],
                "state_msg": [("a", "client", 4)],
            }
        },
    ),
    kvs_cluster.StoreClient: workload(
        {"client": _store_client},
        {
            "client": {
                "get": [(2, "x")],
                "survey": [(3,)],
                "put_done": [("client", "a", (1, _NAME))],
                "get_reply": [("client", "a", 2, (1, _NAME), "one"), ("client", "b", 2, (0, ""), None)],
                "state_reply": [("client", "a", 3, 1, 0)],
            }
        },
        later={"client": {3: {"put": [(1, "x", "one")]}}},
    ),
    multipaxos_agreement.Durable: workload_of(multipaxos_agreement.Durable),
    multipaxos_agreement.Volatile: workload_of(multipaxos_agreement.Volatile),
    multipaxos_agreement.SentOnce: workload_of(multipaxos_agreement.SentOnce),
    multipaxos_agreement.Log: workload_of(multipaxos_agreement.Log),
    multipaxos_register.RegisterReplica: _replicas(multipaxos_register.RegisterReplica),
    multipaxos_register.VolatileReplica: _replicas(multipaxos_register.VolatileReplica),
    multipaxos_register.LocalReader: _replicas(multipaxos_register.LocalReader),
    paxos.Views: _parliament(paxos.Views),
    paxos.Queue: _single(paxos.Queue, {"request": [(2, "y")]}, {2: {"request": [(1, "x")]}}),
    paxos.Synod: _parliament(paxos.Synod),
    paxos.Multipaxos: _parliament(paxos.Multipaxos),
    paxos.ElectedMultipaxos: _parliament(paxos.ElectedMultipaxos, ticks=6, peers=_ABC),
    reliable_broadcast.SimpleBroadcast: _broadcast(reliable_broadcast.SimpleBroadcast, "smessage"),
    reliable_broadcast.ReliableBroadcast: _broadcast(reliable_broadcast.ReliableBroadcast, "rmessage"),
    # One of the votes is from a node that is no peer (any more).
    restarting_store.InMemory: workload_of(restarting_store.InMemory),
    restarting_store.OnDisk: workload_of(restarting_store.OnDisk),
    two_phase_commit.Coordinator: _commit(two_phase_commit.Coordinator, 0, [("c", "old", "t", "yes")]),
    two_phase_commit.TimeoutCoordinator: _commit(two_phase_commit.TimeoutCoordinator, 12, []),
    two_phase_commit.Peer: _single(
        two_phase_commit.Peer,
        {
            "refused": [("u",)],
            "prepare_msg": [("a", "c", "t"), ("a", "c", "u")],
            "state_msg": [("a", "c", "t", "commit"), ("a", "c", "u", "abort")],
        },
    ),
}
