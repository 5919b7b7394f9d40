"""Two replicas of a register that two clients write to at the same time, as they are and with an order.

In the end, what one replica has the other must have.
"""

from __future__ import annotations

from typing import Any

from clew.bloom import Bloom, bloom, channel, checked, imported, interface, outcome, scratch, table
from clew.coordination.components import ClassProgram
from clew.coordination.ordering import SequencedDelivery, StepwiseSequencing
from clew.coordination.planning import order_component
from clew.coordination.plans import OrderPlan
from clew.coordination.synthesis import build_class

_MEMBERS = [("a",), ("b",)]


class Register(Bloom):
    """The last write wins."""

    put = interface.input("key", "value")
    state = table("key", val=["value"])

    @bloom
    def replace(self) -> None:
        self.state <+ self.put
        self.state <- (self.state * self.put).lefts(key="key")


class _Replicated(Register):
    members = table("peer")
    write = scratch("key", "value")
    write_msg = channel("@peer", "key", "value")
    pre = scratch("key", "value")
    post = scratch("key", "value")

    @bloom
    def replicate(self) -> None:
        self.write_msg <~ (self.write * self.members).pairs(lambda w, m: (m.peer, w.key, w.value))
        self.put <= self.write_msg.payloads()

    @outcome
    def replicas_agree(self) -> None:
        self.pre <= self.everywhere.state.filter(lambda s: s.node == "a").project("key", "value")
        self.post <= self.everywhere.state.filter(lambda s: s.node == "b").project("key", "value")


def _setting(first: dict[str, Any], sequencer: dict[str, Any]) -> Any:
    members = {"members": _MEMBERS}
    a = {1: {**members, "write": [("k", "x")], **first}}
    b = {1: {**members, **first}, 3: {"write": [("k", "y")]}}
    return checked(nodes=["a", "b", "s"], eot=13, eff=4, crashes=0, given={"a": a, "b": b, "s": sequencer})


class Uncoordinated(_Replicated):
    setting = _setting({}, {})


class _Order(SequencedDelivery, StepwiseSequencing):
    """All nodes run one program, so all of them could be the sequencer."""


_PLAN = OrderPlan((order_component(ClassProgram.read(_Replicated), "", ("put",)),))
_Ordered: Any = build_class(_Replicated, _PLAN)


class WithOrder(_Ordered):  # type: ignore[misc]
    order = imported(_Order)
    setting = _setting({"order.sequencer": [("s",)]}, {"order.replicas": _MEMBERS})
