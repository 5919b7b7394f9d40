"""Two designs of a shopping cart on several servers (thesis, section 3.3).

A client adds an item to its session with ``cnt`` 1, takes it out with -1, and checks out in the end.  Every action
has a number of its own.  A cart is a tuple of (item, count) in order.

- ``DestructiveCart`` (listing 3.8) keeps the cart as a value in a key-value store, replaced by every action.
  To take out what is not there has no effect, so the order in which actions arrive decides what is in the cart.
- ``DisorderlyCart`` (listing 3.9) only collects the actions and sums them up at checkout.  Their order is of no
  account; but the checkout must not overtake an action.

Both are replicated by multicast: ``ReplicatedDestructiveCart`` has a replicated store below it, the
``ReplicatedDisorderlyCart`` (figure 3.7) passes the actions on.  The ``Complete`` classes contain the client, too,
so that everything from the client's input to its output is one program.
"""

from __future__ import annotations

from typing import Any

from delivery import BestEffortDelivery
from kvs import BasicKVS, KVSProtocol, ReplicatedKVS
from multicast import SimpleMulticast

from clew.bloom import Bloom, agg, bloom, channel, interface, scratch, table


class CartProtocol(Bloom):
    action_msg = channel("@server", "client", "session", "reqid", val=["item", "cnt"])
    checkout_msg = channel("@server", "client", "session", "reqid")
    response_msg = channel("@client", "server", "session", val=["items"])


class CartClientProtocol(Bloom):
    client_action = interface.input("server", "session", "reqid", val=["item", "cnt"])
    client_checkout = interface.input("server", "session", "reqid")
    client_response = interface.output("client", "server", "session", val=["items"])


class CartClient(CartProtocol, CartClientProtocol):
    @bloom
    def client(self) -> None:
        self.action_msg <~ self.client_action(
            lambda a: (a.server, self.ip_port, a.session, a.reqid, a.item, a.cnt)
        )
        self.checkout_msg <~ self.client_checkout(lambda c: (c.server, self.ip_port, c.session, c.reqid))
        self.client_response <= self.response_msg


def changed(cart: tuple[tuple[Any, int], ...] | None, item: Any, cnt: int) -> tuple[tuple[Any, int], ...]:
    """The cart after an action; what is not there cannot be taken out."""
    counts = dict(cart or ())
    if cnt > 0 or counts.get(item, 0) > 0:
        counts[item] = counts.get(item, 0) + cnt
    return tuple(sorted(counts.items()))


class DestructiveCart(CartProtocol, KVSProtocol):
    @bloom
    def on_action(self) -> None:
        self.kvget <= self.action_msg(lambda a: (a.reqid, a.session))
        self.kvput <= (self.action_msg * self.kvget_response).outer(
            lambda a, r: (a.client, a.session, a.reqid, changed(r.value, a.item, a.cnt)), reqid="reqid"
        )

    @bloom
    def on_checkout(self) -> None:
        self.kvget <= self.checkout_msg(lambda c: (c.reqid, c.session))
        self.response_msg <~ (self.kvget_response * self.checkout_msg).pairs(
            lambda r, c: (c.client, c.server, r.key, tuple(pair for pair in r.value if pair[1] > 0)), reqid="reqid"
        )


class DisorderlyCart(CartProtocol):
    action_log = table("session", "reqid", val=["item", "cnt"])
    item_sum = scratch("session", "item", val=["num"])
    session_final = scratch("session", val=["items"])

    @bloom
    def on_action(self) -> None:
        self.action_log <= self.action_msg(lambda a: (a.session, a.reqid, a.item, a.cnt))

    @bloom
    def on_checkout(self) -> None:
        self.temp.checkout_log <= (self.checkout_msg * self.action_log).rights(session="session")
        self.item_sum <= self.temp.checkout_log.group(["session", "item"], num=agg.sum("cnt")).filter(
            lambda s: s.num > 0
        )
        self.session_final <= self.item_sum.group(["session"], agg.accum_pair("item", "num"))
        self.response_msg <~ (self.session_final * self.checkout_msg).pairs(
            lambda s, c: (c.client, c.server, c.session, tuple(sorted(s["items"]))), session="session"
        )


class SingleDestructiveCart(DestructiveCart, BasicKVS):
    """On one server."""


class ReplicatedDestructiveCart(DestructiveCart, ReplicatedKVS, SimpleMulticast, BestEffortDelivery):
    """Every new value of a cart goes to all servers."""


class ReplicatedDisorderlyCart(DisorderlyCart, SimpleMulticast, BestEffortDelivery):
    """Every action goes to all servers."""

    @bloom
    def replicate(self) -> None:
        self.send_mcast <= self.action_msg(lambda a: ((a.session, a.reqid), (a.session, a.reqid, a.item, a.cnt)))
        self.action_log <= self.pipe_out(lambda p: p.payload)


class CompleteDestructiveCart(CartClient, ReplicatedDestructiveCart):
    """Client and server in one program."""


class CompleteDisorderlyCart(CartClient, ReplicatedDisorderlyCart):
    """Client and server in one program."""
