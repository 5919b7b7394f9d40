"""Files with models, for those who test tests of models: each is checked in some milliseconds."""

from __future__ import annotations

from pathlib import Path

#: One lost message breaks it, if messages can be lost.
BROADCAST = """\
bcast("a", "m")@1; peer("a", "b")@1;
log(X, P) :- bcast(X, P);
log(X, P)@next :- log(X, P);
log(Y, P)@async :- bcast(X, P), peer(X, Y);
pre(P) :- log("a", P);
post(P) :- log("b", P);
"""
LOSSY, SAFE = "nodes=a,b eot=3 eff=2", "nodes=a,b eot=3 eff=0"

#: Two nodes that tell each other a number, and a scenario with a mistake that shows at once.
SCENARIO = """\
from clew.simulation import Node, Scenario, Send


class Counter(Node):
    def __init__(self):
        self.count = 0

    def on_message(self, ctx, sender, message):
        self.count += 1


def low(nodes):
    return "too many" if any(node.count > 1 for node in nodes.values()) else None


def scenario(messages, **how):
    nodes = {"a": Counter, "b": Counter}
    before = [Send("a", "m")] * messages
    return Scenario(nodes=nodes, running=("a", "b"), before=before, invariants=[low], expect_runs=3, **how)
"""

#: One node tells another so many times; a scenario for checks that breaks where all of these messages are lost.
CHECKED = """\
from clew.simulation import Faults, Node, Scenario, Send, VirtualTime


class Tells(Node):
    def on_message(self, ctx, sender, message):
        for _ in range(message):
            ctx.send("b", "told")


class Hears(Node):
    def on_start(self, ctx):
        self.heard = 0

    def on_message(self, ctx, sender, message):
        self.heard += 1


def heard(nodes):
    return None if nodes["b"].heard else "b has heard nothing"


def scenario(times, **how):
    nodes, before = {"a": Tells, "b": Hears}, [Send("a", times)]
    time, faults = VirtualTime(until=1), Faults(losses=2)
    return Scenario(
        nodes=nodes, running=("a", "b"), before=before, promises=[heard], time=time, faults=faults, **how
    )


"""

#: A Bloom class whose message can be lost; ``{setting}`` are further arguments of its setting.
BLOOM = """\
from clew.bloom import Bloom, bloom, channel, checked, outcome, scratch, table


class Sends(Bloom):
    given = scratch("payload")
    chan = channel("@peer", "payload")
    log = table("payload")
    sent = table("payload")
    pre = scratch("payload")
    post = scratch("payload")
    setting = checked(nodes=["a", "b"], eot=3, {setting}given={{"a": {{"given": [("m",)]}}}})

    @bloom
    def send(self):
        self.sent <= self.given
        self.chan <~ self.given.map(lambda s: ("b", s.payload))
        self.log <= self.chan.map(lambda c: (c.payload,))

    @outcome
    def arrives(self):
        self.pre <= self.everywhere.sent.project("payload")
        self.post <= self.everywhere.log.project("payload")
"""


def write(folder: Path, name: str, text: str) -> Path:
    """Write a file, and the folders above it."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def write_model(folder: Path, name: str, bounds: str, expect: str = "") -> Path:
    """Write a Dedalus model that states these bounds, and what is expected."""
    return write(folder, name, f"//! {bounds} {expect}\n{BROADCAST}")
