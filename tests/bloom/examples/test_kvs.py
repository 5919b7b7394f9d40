"""The key-value stores: put, get, overwrite; replicas; the server for clients (thesis, listings 3.2 to 3.5)."""

from __future__ import annotations

from typing import Any

import pytest
from kvs import BasicKVS, DurableKVSServer, KVSClient, LastPutKVS, RealizedReplicatedKVS, SingleKVSServer

from random_network import RandomNetwork


def _put(store: Any, reqid: int, key: str, value: str) -> None:
    store.kvput.insert(("client", key, reqid, value))


def _get(store: Any, reqid: int, key: str) -> list[Any]:
    store.kvget.insert((reqid, key))
    store.tick()
    return list(store.kvget_response)


@pytest.mark.parametrize("kind", [BasicKVS, LastPutKVS])
def test_put_get_overwrite(kind: Any) -> None:
    store = kind()
    assert _get(store, 1, "x") == []
    _put(store, 2, "x", "old")
    store.tick()
    assert _get(store, 3, "x") == [(3, "x", "old")]
    _put(store, 4, "x", "new")
    assert _get(store, 5, "x") == [(5, "x", "old")], "a get in the step of the put sees the old value"
    assert _get(store, 6, "x") == [(6, "x", "new")]
    assert list(store.kvstate) == [("x", "new")]


def test_a_put_of_the_same_value_keeps_it() -> None:
    store = BasicKVS()
    for reqid in (1, 2):
        _put(store, reqid, "x", "same")
        store.tick()
    assert _get(store, 3, "x") == [(3, "x", "same")]


def test_two_puts_in_one_step() -> None:
    """Two values for a key are refused with both rows in the message; ``LastPutKVS`` takes the later one."""
    store: Any = BasicKVS()
    _put(store, 1, "x", "one")
    _put(store, 2, "x", "two")
    store.tick()
    (refused,) = store.tick().refused
    assert "one" in str(refused) and "two" in str(refused)
    store = LastPutKVS()
    _put(store, 1, "x", "one")
    _put(store, 2, "x", "two")
    store.tick()
    assert store.tick().refused == ()
    assert list(store.kvstate) == [("x", "two")]


def _replicas(kind: Any, seed: int = 0, **network: float) -> RandomNetwork:
    cluster = RandomNetwork({name: kind(name) for name in "abc"}, seed, **network)
    for node in cluster.nodes.values():
        node.members.insert(("a",), ("b",), ("c",))
    cluster.settle()
    return cluster


def test_a_put_reaches_all_replicas() -> None:
    cluster = _replicas(RealizedReplicatedKVS)
    _put(cluster.nodes["a"], 1, "x", "one")
    cluster.settle()
    _put(cluster.nodes["b"], 2, "x", "two")
    cluster.settle()
    assert [list(node.kvstate) for node in cluster.nodes.values()] == [[("x", "two")]] * 3
    assert cluster.refused == []


def test_replicas_can_see_puts_in_different_orders() -> None:
    """Two puts at once: some orders of delivery leave the replicas with different values, as the analysis says."""

    def states(seed: int) -> list[Any]:
        cluster = _replicas(RealizedReplicatedKVS, seed)
        _put(cluster.nodes["a"], 1, "x", "one")
        _put(cluster.nodes["b"], 2, "x", "two")
        cluster.settle()
        return [list(node.kvstate) for node in cluster.nodes.values()]

    assert len({str(states(seed)) for seed in range(10)}) > 1


def test_a_client_puts_and_gets_over_the_network() -> None:
    client: Any = KVSClient("client")
    cluster = RandomNetwork({"server": SingleKVSServer("server"), "client": client})
    client.put.insert(("server", 1, "x", "one"))
    cluster.settle()
    assert list(client.open_puts) == []
    client.get.insert(("server", 2, "x"))
    client.tick()
    cluster.nodes["server"].machine.deliver("get_msg", ("server", "client", 2, "x"))
    ((channel, row),) = cluster.nodes["server"].tick().sent
    assert (channel, row) == ("get_reply", ("client", "server", 2, "x", "one"))
    client.machine.deliver(channel, row)
    client.tick()
    assert list(client.found) == [(2, "x", "one")]


@pytest.mark.parametrize("seed", range(10))
def test_an_acknowledged_put_is_at_every_replica(seed: int) -> None:
    cluster = _replicas(DurableKVSServer, seed, loss=0.3, duplication=0.3)
    client: Any = KVSClient("client")
    cluster.nodes["client"] = client
    for k in range(6):
        client.put.insert(("abc"[k % 3], k, f"key{k}", f"value{k}"))
    for _ in range(200):
        cluster.fire("client", "ask_again")
        for name in "abc":
            cluster.fire(name, "timer")
        cluster.run(3)
        acknowledged = set(range(6)) - {reqid for _, reqid, _, _ in client.open_puts}
        for k in acknowledged:
            assert all((f"key{k}", f"value{k}") in cluster.nodes[name].kvstate for name in "abc"), k
        if client.tick() and not client.open_puts:
            break
    assert list(client.open_puts) == []
    assert cluster.refused == []


def test_what_a_durable_server_must_remember_is_durable() -> None:
    program = DurableKVSServer("a").program
    durable = sorted(c.name for c in program.collections if c.durable)
    assert durable == ["given_out", "kvstate", "members", "put_finished", "put_log", "send_buf", "settled"]
