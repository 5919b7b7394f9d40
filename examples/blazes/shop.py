"""A shopping cart in a replicated key-value store, overwritten by every action (thesis, section 4.5).

``Cart`` only translates: an action carries the new contents of the cart of a session and becomes a put, a checkout
becomes a get.  ``KVS`` (listing 3.3) replaces the old value, so what is in a cart in the end depends on the order
of the actions, and every replica may see another.  ``SealedShop`` is the same for clients that say when their
session is over: the key of a cart is its session, so a session that is complete completes a key.

``examples/bloom/cart.py`` has the cart of listing 3.8, whose server computes the new contents from the old ones.
"""

from __future__ import annotations

from clew.analysis.blazes.extraction import annotated
from clew.bloom import Bloom, bloom, channel, imported, interface, table


class Cart(Bloom):
    action = interface.input("session", "reqid", val=["items"])
    checkout = interface.input("session", "reqid")
    get_response = interface.input("reqid", val=["key", "value"])
    put = interface.output("key", "reqid", val=["value"])
    get = interface.output("reqid", val=["key"])
    response = interface.output("session", val=["items"])

    @bloom
    def translate(self) -> None:
        self.put <= self.action(lambda a: (a.session, a.reqid, a["items"]))
        self.get <= self.checkout(lambda c: (c.reqid, c.session))
        self.response <= self.get_response(lambda r: (r.key, r.value))


class KVS(Bloom):
    kvput = interface.input("key", "reqid", val=["value"])
    kvget = interface.input("reqid", val=["key"])
    kvget_response = interface.output("reqid", val=["key", "value"])
    kvstate = table("key", val=["value"])

    @bloom
    def do_put(self) -> None:
        self.kvstate <+ self.kvput(lambda p: (p.key, p.value))
        self.kvstate <- (self.kvstate * self.kvput).lefts(key="key")

    @bloom
    def do_get(self) -> None:
        self.kvget_response <= (self.kvget * self.kvstate).pairs(
            lambda g, s: (g.reqid, s.key, s.value), key="key"
        )


class Shop(Bloom):
    """Puts go to all replicas of the store; a get asks one of them."""

    actions = interface.input("session", "reqid", val=["items"])
    checkouts = interface.input("session", "reqid")
    carts = interface.output("session", val=["items"])

    replicas = table("server")
    asked = table("server")
    puts = channel("@server", "key", "reqid", val=["value"])
    gets = channel("@server", "client", "reqid", val=["key"])
    values = channel("@client", "reqid", val=["key", "value"])

    cart = imported(Cart)
    kvs = imported(KVS)
    blazes = annotated(replicated=["kvs"])

    @bloom
    def client(self) -> None:
        self.cart.action <= self.actions
        self.cart.checkout <= self.checkouts
        self.puts <~ (self.cart.put * self.replicas).pairs(lambda p, r: (r.server, p.key, p.reqid, p.value))
        self.gets <~ (self.cart.get * self.asked).pairs(lambda g, r: (r.server, self.ip_port, g.reqid, g.key))
        self.cart.get_response <= self.values(lambda v: (v.reqid, v.key, v.value))
        self.carts <= self.cart.response

    @bloom
    def server(self) -> None:
        self.kvs.kvput <= self.puts(lambda p: (p.key, p.reqid, p.value))
        self.kvs.kvget <= self.gets(lambda g: ((g.client, g.reqid), g.key))
        self.values <~ self.kvs.kvget_response(lambda r: (r.reqid[0], r.reqid[1], r.key, r.value))


class SealedShop(Shop):
    """Clients say when their session is over."""

    blazes = annotated(replicated=["kvs"], seals={"actions": ["session"]})
