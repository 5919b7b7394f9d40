from store import Put, Replica

from clew.simulation import *


def put(random, world):
    return Send(random.choice("abc"), Put("x", random.randrange(100)))


def agree(nodes):
    values = {n: node.data.get("x") for n, node in nodes.items()}
    if len(nodes) == 3 and None not in values.values() and len(set(values.values())) == 3:
        return "all differ"
    return None


replicas = Scenario(
    nodes=dict.fromkeys("abc", Replica),
    running=("a", "b", "c"),
    events=[(1, put)],
    count=6,
    invariants=[agree],
    fingerprint=lambda message: f"{type(message).__name__} {message.value}",
)
