"""Programs with known verdicts: those of the thesis (section 3.3), and one for each rule of the analysis."""

from __future__ import annotations

from clew.bloom import agg, bloom, channel, interface, periodic, scratch, table
from clew.bloom.language.module import Module

# -- the key-value store -----------------------------------------------------------------------------------------


class KVSProtocol(Module):
    kvput = interface.input("client", "key", "reqid", val=["value"])
    kvget = interface.input("reqid", val=["key"])
    kvget_response = interface.output("reqid", val=["key", "value"])


class BasicKVS(KVSProtocol):
    kvstate = table("key", val=["value"])

    @bloom
    def do_put(self) -> None:
        self.kvstate <+ self.kvput(lambda p: (p.key, p.value))
        self.kvstate <- (self.kvstate * self.kvput).lefts(key="key")

    @bloom
    def do_get(self) -> None:
        self.temp.getj <= (self.kvget * self.kvstate).pairs(key="key")
        self.kvget_response <= self.temp.getj(lambda g, t: (g.reqid, t.key, t.value))


# -- delivery ----------------------------------------------------------------------------------------------------


class DeliveryProtocol(Module):
    pipe_in = interface.input("dst", "src", "ident", val=["payload"])
    pipe_sent = interface.output("dst", "src", "ident", val=["payload"])


class BestEffortDelivery(DeliveryProtocol):
    pipe_chan = channel("@dst", "src", "ident", val=["payload"])

    @bloom
    def send(self) -> None:
        self.pipe_chan <~ self.pipe_in

    @bloom
    def done(self) -> None:
        self.pipe_sent <= self.pipe_in


class Retry(Module):
    """Sends what it has again and again; the clock says only when."""

    request = interface.input("dst", "ident")
    buffer = table("dst", "ident")
    timer = periodic(1)
    packets = channel("@dst", "ident")
    received = table("dst", "ident")
    result = interface.output("dst", "ident")

    @bloom
    def rules(self) -> None:
        self.buffer <= self.request
        self.packets <~ (self.buffer * self.timer).lefts()
        self.received <= self.packets
        self.result <= self.received


# -- the shopping cart -------------------------------------------------------------------------------------------


class CartProtocol(Module):
    action_msg = channel("@server", "client", "session", "reqid", val=["item", "cnt"])
    checkout_msg = channel("@server", "client", "session", "reqid")
    response_msg = channel("@client", "server", "session", val=["items"])


class CartClient(CartProtocol):
    client_action = interface.input("server", "session", "reqid", val=["item", "cnt"])
    client_checkout = interface.input("server", "session", "reqid")
    client_response = interface.output("client", "server", "session", val=["items"])

    @bloom
    def client(self) -> None:
        self.action_msg <~ self.client_action(
            lambda a: (a.server, self.ip_port, a.session, a.reqid, a.item, a.cnt)
        )
        self.checkout_msg <~ self.client_checkout(lambda a: (a.server, self.ip_port, a.session, a.reqid))
        self.client_response <= self.response_msg


class DestructiveCart(CartProtocol, BasicKVS):
    @bloom
    def on_action(self) -> None:
        self.kvget <= self.action_msg(lambda a: (a.reqid, a.session))
        self.kvput <= (self.action_msg * self.kvget_response).outer(
            lambda a, r: (a.client, a.session, a.reqid, (r.value, a.item, a.cnt)), reqid="reqid"
        )

    @bloom
    def on_checkout(self) -> None:
        self.kvget <= self.checkout_msg(lambda c: (c.reqid, c.session))
        self.response_msg <~ (self.kvget_response * self.checkout_msg).pairs(
            lambda r, c: (c.client, c.server, r.key, r.value), reqid="reqid"
        )


class CompleteDestructiveCart(DestructiveCart, CartClient):
    pass


class DisorderlyCart(CartProtocol):
    action_log = table("session", "reqid", val=["item", "cnt"])
    item_sum = scratch("session", "item", val=["num"])
    session_final = scratch("session", val=["items"])

    @bloom
    def on_action(self) -> None:
        self.action_log <= self.action_msg(lambda c: (c.session, c.reqid, c.item, c.cnt))

    @bloom
    def on_checkout(self) -> None:
        self.temp.checkout_log <= (self.checkout_msg * self.action_log).rights(session="session")
        self.item_sum <= (
            self.temp.checkout_log.group(["session", "item"], num=agg.sum("cnt")).filter(lambda s: s.num > 0)
        )
        self.session_final <= self.item_sum.group(["session"], items=agg.accum_pair("item", "num"))
        self.response_msg <~ (self.session_final * self.checkout_msg).pairs(
            lambda c, m: (m.client, m.server, m.session, c.items), session="session"
        )


class CompleteDisorderlyCart(DisorderlyCart, CartClient):
    pass


# -- one program for every rule of the analysis ------------------------------------------------------------------


class Two(Module):
    """Two channels, filled from two inputs, and tables and scratches that they may be kept in."""

    in1 = interface.input("dst", "val")
    in2 = interface.input("dst", "val")
    chan1 = channel("@dst", "val")
    chan2 = channel("@dst", "val")
    guard1 = table("dst", "val")
    guard2 = table("dst", "val")
    pass1 = scratch("dst", "val")
    pass2 = scratch("dst", "val")
    out = interface.output("dst", "val")

    @bloom
    def sending(self) -> None:
        self.chan1 <~ self.in1
        self.chan2 <~ self.in2

    @bloom
    def keeping(self) -> None:
        self.guard1 <= self.chan1
        self.guard2 <= self.chan2
        self.pass1 <= self.chan1
        self.pass2 <= self.chan2


class TablesJoined(Two):
    @bloom
    def rules(self) -> None:
        self.out <= (self.guard1 * self.guard2).lefts(val="val")


class Absent(Two):
    @bloom
    def rules(self) -> None:
        self.out <= self.guard1.notin(self.guard2)


class Grouped(Two):
    @bloom
    def rules(self) -> None:
        self.out <= self.guard1.group(["dst"], n=agg.count())


class ScratchesJoined(Two):
    @bloom
    def rules(self) -> None:
        self.out <= (self.pass1 * self.pass2).lefts(val="val")


class TableAndScratchJoined(Two):
    @bloom
    def rules(self) -> None:
        self.out <= (self.guard1 * self.pass2).lefts(val="val")


class ChannelThrough(Two):
    @bloom
    def rules(self) -> None:
        self.out <= self.chan1


class Local(Module):
    """Nothing is sent: what is not monotone is no danger as long as the input has an order."""

    given = interface.input("key", "val")
    kept = table("key", "val")
    out = interface.output("key", "val")

    @bloom
    def rules(self) -> None:
        self.kept <= self.given


class LocalCopy(Local):
    @bloom
    def result(self) -> None:
        self.out <= self.kept


class LocalCount(Local):
    @bloom
    def result(self) -> None:
        self.out <= self.kept.group(["key"], n=agg.count())


# -- what keeps a program monotone -------------------------------------------------------------------------------


class Votes(Module):
    """Votes that arrive by a channel and are kept."""

    ballot = channel("@dst", "item", "voter")
    votes = table("item", "voter")
    members = table("name")
    counted = scratch("item", val=["n"])
    size = scratch(val=["n"])
    won = interface.output("item")

    @bloom
    def keep(self) -> None:
        self.votes <= self.ballot(lambda b: (b.item, b.voter))


class ThresholdInMap(Votes):
    @bloom
    def rules(self) -> None:
        self.won <= self.votes.group(["item"], n=agg.count())(lambda g: (g.item,) if g.n > 2 else None)


class ThresholdInFilter(Votes):
    @bloom
    def rules(self) -> None:
        self.won <= self.votes.group(["item"], n=agg.count()).filter(lambda g: g.n >= 3).project("item")


class ThresholdThroughScratch(Votes):
    @bloom
    def rules(self) -> None:
        self.counted <= self.votes.group(["item"], n=agg.count())
        self.won <= self.counted(lambda c: (c.item,) if c.n > 2 else None)


class Majority(Votes):
    """The number of members is fixed; the number of votes is only compared with it."""

    @bloom
    def rules(self) -> None:
        self.counted <= self.votes.group(["item"], n=agg.count())
        self.size <= self.members.group([], n=agg.count())
        self.won <= (self.counted * self.size).pairs(lambda c, s: (c.item,) if c.n * 2 > s.n else None)


class OnlyTheKeys(Votes):
    @bloom
    def rules(self) -> None:
        self.won <= self.votes.group(["item"], n=agg.count()).project("item")


class Smallest(Votes):
    @bloom
    def rules(self) -> None:
        self.won <= self.votes.group(["item"], n=agg.min("voter"))(lambda g: (g.item,) if g.n < 5 else None)


class BelowThreshold(Votes):
    """True at first, and false later."""

    @bloom
    def rules(self) -> None:
        self.won <= self.votes.group(["item"], n=agg.count())(lambda g: (g.item,) if g.n < 3 else None)


class ExactlyThreshold(Votes):
    @bloom
    def rules(self) -> None:
        self.won <= self.votes.group(["item"], n=agg.count())(lambda g: (g.item,) if g.n == 3 else None)


class BothWays(Votes):
    @bloom
    def rules(self) -> None:
        self.won <= self.votes.group(["item"], n=agg.count())(lambda g: (g.item,) if g.n > 2 else ("none",))


class SumThreshold(Votes):
    """A sum may become smaller again."""

    @bloom
    def rules(self) -> None:
        self.won <= self.votes.group(["item"], n=agg.sum("voter"))(lambda g: (g.item,) if g.n > 2 else None)


class CountPassedOn(Votes):
    @bloom
    def rules(self) -> None:
        self.won <= self.votes.group(["item"], n=agg.count())(lambda g: (g.n,) if g.n > 2 else None)


class ScratchAlsoUsed(ThresholdThroughScratch):
    """One rule compares the count, another passes it on."""

    total = interface.output("item", val=["n"])

    @bloom
    def use(self) -> None:
        self.total <= self.counted


class OpaqueThreshold(Votes):
    @bloom
    def rules(self) -> None:
        self.won <= self.votes.group(["item"], n=agg.count()).filter(lambda g: bool(g.n > 2)).project("item")


class LooksInto(Votes):
    """A function that reads another collection depends on all of it."""

    @bloom
    def rules(self) -> None:
        self.won <= self.members(lambda m: (m.name,) if len(self.votes) > 2 else None)
