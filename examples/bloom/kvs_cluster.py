"""A replicated key-value store for real use: processes that crash, a network that loses and repeats messages.

A replica is started so: ``python kvs_cluster.py --address localhost:7001 --peers localhost:7002,localhost:7003
--data folder``.  A client (``StoreClient``) gives a put to one replica, which stores it, sends it to its peers and
acknowledges it when a majority has it.  It sends it again to every peer that has not confirmed it, as long as that
takes.  A client that hears nothing from that replica asks all of them.

What is promised, if files survive and less than half of the replicas are down at a time:

- What is acknowledged is in the files of a majority.  A message leaves when its step, and the step that applies
  what this one left with ``<+``, are committed (SQLite with ``synchronous = FULL``): SIGKILL takes nothing away.
- Replicas end with the same rows.  Each put has a stamp of its own (a number and who gave it), and of two puts to
  a key the one with the larger stamp stays, whatever order they come in; so repeating one is harmless, too.
- A get asks a majority and so sees every put that was acknowledged before it, or one with a larger stamp.

What is not: the numbers of a client are larger than all that were acknowledged before it came, but clients at the
same time do not wait for each other.  Which of their puts to one key is the last is the same for everybody, but
not always the one that came last.  ``kvs.DurableKVSServer`` is nearer to the thesis: it waits for every member.
"""

from __future__ import annotations

import logging
import queue
import time
import uuid
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import click

from clew.bloom import Bloom, agg, bloom, channel, interface, periodic, scratch, table
from clew.errors import ClewError

#: Of what a peer has not confirmed, so many puts are sent again at a time.
CATCH_UP = 1000
#: The stamp of a key that was never put.
NEVER = (0, "")


def majority(replicas: int) -> int:
    return replicas // 2 + 1


class StoreMessages(Bloom):
    put_msg = channel("@server", "client", "stamp", val=["key", "value"])
    put_done = channel("@client", "server", "stamp")
    get_msg = channel("@server", "client", "reqid", val=["key"])
    get_reply = channel("@client", "server", "reqid", val=["stamp", "value"])
    state_msg = channel("@server", "client", "reqid")
    state_reply = channel("@client", "server", "reqid", val=["number", "behind"])


class Replica(StoreMessages):
    """``peers`` are the addresses of the other replicas, spelled as they spell them themselves."""

    members = table("peer")
    kept = table("key", val=["stamp", "value"], durable=True)
    offered = scratch("key", "stamp", val=["value"])

    store_msg = channel("@peer", "source", "stamp", val=["key", "value"])
    stored = channel("@source", "peer", "stamp")
    unconfirmed = table("peer", "stamp", val=["key", "value"], durable=True)
    # Not durable: a client that gets no answer asks again.
    unanswered = table("client", "stamp")
    holders = table("client", "stamp", "replica")

    beat = periodic(0.2)
    # After the other channels: what a step sends to a node leaves in the order of the declarations.
    ping = channel("@peer", "source", "number")
    pong = channel("@source", "peer", "number")
    marked = table("peer", "stamp", val=["number"])

    def __init__(
        self, address: str | None = None, peers: Sequence[str] = (), *, data: str | Path | None = None
    ) -> None:
        super().__init__(address, data=data)
        self._enough = majority(len(peers) + 1)
        self.members.insert(*((peer,) for peer in peers))

    @bloom
    def take_puts(self) -> None:
        # A put that is under way is not passed on once more: a client that is too impatient does no harm.
        self.temp.fresh <= self.put_msg.notin(self.unanswered, client="client", stamp="stamp")
        self.offered <= self.temp.fresh(lambda p: (p.key, p.stamp, p.value))
        self.temp.copies <= (self.temp.fresh * self.members).pairs(lambda p, m: (m.peer, p.stamp, p.key, p.value))
        self.unconfirmed <= self.temp.copies
        self.store_msg <~ self.temp.copies(lambda c: (c.peer, self.ip_port, c.stamp, c.key, c.value))

    @bloom
    def take_copies(self) -> None:
        self.offered <= self.store_msg(lambda s: (s.key, s.stamp, s.value))
        # In the step that keeps it, or that finds something newer: this leaves when that is written.
        self.stored <~ self.store_msg(lambda s: (s.source, s.peer, s.stamp))
        self.unconfirmed <- (self.unconfirmed * self.stored).lefts(peer="peer", stamp="stamp")

    @bloom
    def keep_newest(self) -> None:
        self.temp.newest <= self.offered.argmax(["key"], "stamp")
        self.temp.known <= (self.temp.newest * self.kept).pairs(key="key")
        self.temp.replaced <= self.temp.known.filter(lambda n, k: n.stamp > k.stamp)
        self.kept <+ self.temp.newest.notin(self.kept, key="key")
        self.kept <+ self.temp.replaced(lambda n, k: (n.key, n.stamp, n.value))
        self.kept <- self.temp.replaced(lambda n, k: (k.key, k.stamp, k.value))

    @bloom
    def answer_puts(self) -> None:
        enough = self._enough
        self.temp.begun <= self.temp.fresh(lambda p: (p.client, p.stamp))
        self.temp.open <= self.temp.begun
        self.temp.open <= self.unanswered
        self.holders <= self.temp.fresh(lambda p: (p.client, p.stamp, self.ip_port))
        self.holders <= (self.temp.open * self.stored).pairs(
            lambda o, s: (o.client, o.stamp, s.peer), stamp="stamp"
        )
        self.temp.counted <= self.holders.group(["client", "stamp"], cnt=agg.count())
        self.temp.safe <= self.temp.counted.filter(lambda c: c.cnt >= enough).project("client", "stamp")
        self.put_done <~ self.temp.safe(lambda s: (s.client, self.ip_port, s.stamp))
        self.unanswered <+ self.temp.begun.notin(self.temp.safe)
        self.unanswered <- self.temp.safe
        self.holders <- (self.holders * self.temp.safe).lefts(client="client", stamp="stamp")

    @bloom
    def send_again(self) -> None:
        # What was sent before a ping, and is not confirmed when its answer comes, is lost: a busy peer answers
        # late and gets nothing twice, and one that is down gets nothing at all.
        self.ping <~ (self.members * self.beat).pairs(lambda m, b: (m.peer, self.ip_port, b.key))
        self.pong <~ self.ping(lambda p: (p.source, p.peer, p.number))
        self.temp.waiting <= (self.unconfirmed * self.beat).pairs(lambda u, b: (u.peer, u.stamp, b.key))
        self.temp.unmarked <= self.temp.waiting.notin(self.marked, peer="peer")
        self.marked <+ self.temp.unmarked.reduce([], _first, ["peer", "stamp", "number"])
        self.temp.late <= (self.marked * self.pong).pairs(
            lambda m, p: (m.peer, m.stamp, m.number) if m.number <= p.number else None, peer="peer"
        )
        self.store_msg <~ (self.unconfirmed * self.temp.late).lefts(peer="peer", stamp="stamp")(
            lambda u: (u.peer, self.ip_port, u.stamp, u.key, u.value)
        )
        self.marked <- self.temp.late

    @bloom
    def answer_gets(self) -> None:
        self.get_reply <~ (self.get_msg * self.kept).pairs(
            lambda g, k: (g.client, g.server, g.reqid, k.stamp, k.value), key="key"
        )
        self.get_reply <~ self.get_msg.notin(self.kept, key="key")(
            lambda g: (g.client, g.server, g.reqid, NEVER, None)
        )

    @bloom
    def tell_state(self) -> None:
        # Both are computed only in steps in which somebody asks, and None if there is nothing to count.
        self.temp.numbers <= (self.state_msg * self.kept).pairs(lambda m, k: (m.client, k.stamp[0]))
        self.temp.largest <= self.temp.numbers.group(["client"], number=agg.max("c1"))
        self.temp.missing <= (self.state_msg * self.unconfirmed).pairs(lambda m, u: (m.client, u.peer, u.stamp))
        self.temp.behind <= self.temp.missing.group(["client"], behind=agg.count())
        self.temp.half <= (self.state_msg * self.temp.largest).outer(client="client").project(0, 1, 2, 4)
        self.temp.asked <= self.temp.half.rename("server", "client", "reqid", "number")
        self.state_reply <~ (self.temp.asked * self.temp.behind).outer(
            lambda a, b: (a.client, a.server, a.reqid, a.number, b.behind), client="client"
        )


def _first(found: list[Any], row: Any) -> list[Any]:
    if len(found) < CATCH_UP:
        found.append(row)
    return found


@dataclass(frozen=True)
class State:
    """Of a replica: the largest number of a put, and how many confirmations of its peers it waits for."""

    number: int
    behind: int


class StoreClient(StoreMessages):
    """A client of the replicas ``servers``; it gives puts to the first one that answers.

    ``connect()`` first; then ``put_all``, ``fetch`` and the collections ``put``, ``get``, ``acknowledged`` and
    ``found`` can be used.  The number of a put must be new and larger than what ``connect()`` gave.
    """

    servers = table("server")
    put = interface.input("number", val=["key", "value"])
    acknowledged = interface.output("number")
    get = interface.input("reqid", val=["key"])
    found = interface.output("reqid", val=["stamp", "value"])
    survey = interface.input("reqid")
    state = interface.output("server", "reqid", val=["number", "behind"])

    home = table(val=["server"])
    open_puts = table("stamp", val=["key", "value"])
    overdue = table("stamp")
    heard = table("server")
    open_gets = table("reqid", val=["key"])
    answers = table("reqid", "server", "stamp", "value")
    again = periodic(0.5)

    def __init__(
        self, servers: Sequence[str] = (), address: str | None = None, *, name: str | None = None
    ) -> None:
        super().__init__(address)
        self._servers = len(servers)
        self._enough = majority(len(servers))
        # No other client has it, not even a later one at the same address: stamps must be of one put only.
        self._name = name or uuid.uuid4().hex
        self._number = 0
        self._requests = 0
        self.servers.insert(*((server,) for server in servers))
        self.home.insert(*((server,) for server in servers[:1]))

    # -- rules ---------------------------------------------------------------------------------------------------

    @bloom
    def ask_put(self) -> None:
        name = self._name
        self.temp.stamped <= self.put(lambda p: ((p.number, name), p.key, p.value)).rename("stamp", "key", "value")
        self.open_puts <= self.temp.stamped
        self.put_msg <~ (self.temp.stamped * self.home).pairs(
            lambda p, h: (h.server, self.ip_port, p.stamp, p.key, p.value)
        )

    @bloom
    def ask_put_again(self) -> None:
        # What was open at the last beat and still is; to all of them if nothing came from home since then.
        self.temp.late <= (self.overdue * self.again).lefts()
        self.temp.lost <= (self.open_puts * self.temp.late).lefts(stamp="stamp")
        self.temp.silent <= self.home.notin(self.heard, server="server")
        self.temp.asked <= self.home
        self.temp.asked <= (self.servers * self.temp.silent).lefts()
        self.put_msg <~ (self.temp.lost * self.temp.asked).pairs(
            lambda p, s: (s.server, self.ip_port, p.stamp, p.key, p.value)
        )
        self.overdue <- self.temp.late
        self.overdue <+ (self.open_puts * self.again).pairs(lambda p, a: (p.stamp,))
        self.heard <- (self.heard * self.again).lefts()
        self.heard <+ self.put_done(lambda d: (d.server,))

    @bloom
    def hear_put(self) -> None:
        self.temp.done <= (self.open_puts * self.put_done).lefts(stamp="stamp")
        self.acknowledged <= self.temp.done(lambda d: (d.stamp[0],))
        self.open_puts <- self.temp.done

    @bloom
    def change_home(self) -> None:
        # Who answers what another one did not gets the next puts.
        self.temp.helpers <= (self.put_done * self.overdue).lefts(stamp="stamp").argmin([], "server")
        self.temp.helper <= self.temp.helpers.project("server")
        self.home <- (self.home * self.temp.helper).lefts()
        self.home <+ self.temp.helper

    @bloom
    def ask_get(self) -> None:
        self.open_gets <= self.get
        self.get_msg <~ (self.get * self.servers).pairs(lambda g, s: (s.server, self.ip_port, g.reqid, g.key))
        self.get_msg <~ (self.open_gets * self.servers * self.again).pairs(
            lambda g, s, a: (s.server, self.ip_port, g.reqid, g.key)
        )

    @bloom
    def hear_get(self) -> None:
        enough = self._enough
        self.temp.wanted <= (self.get_reply * self.open_gets).lefts(reqid="reqid")
        self.answers <= self.temp.wanted(lambda r: (r.reqid, r.server, r.stamp, r.value))
        self.temp.answering <= self.answers.project("reqid", "server")
        self.temp.counted <= self.temp.answering.group(["reqid"], cnt=agg.count())
        self.temp.decided <= self.temp.counted.filter(lambda c: c.cnt >= enough)
        self.temp.votes <= (self.answers * self.temp.decided).lefts(reqid="reqid")
        self.found <= self.temp.votes.argmax(["reqid"], "stamp")(lambda v: (v.reqid, v.stamp, v.value))
        self.answers <- self.temp.votes
        self.open_gets <- (self.open_gets * self.temp.decided).lefts(reqid="reqid")

    @bloom
    def ask_state(self) -> None:
        self.state_msg <~ (self.survey * self.servers).pairs(lambda a, s: (s.server, self.ip_port, a.reqid))
        self.state <= self.state_reply(lambda r: (r.server, r.reqid, r.number, r.behind))

    # -- from outside of rules -----------------------------------------------------------------------------------

    @property
    def last_stamp(self) -> tuple[int, str]:
        """Of the last put; before the first one, what the next is larger than."""
        return self._number, self._name

    def connect(self, timeout: float = 10.0) -> None:
        """Hears from a majority which numbers were used before; TimeoutError if there is none that long."""
        states = self.states(self._enough, timeout)
        self._number = max(self._number, *(state.number for state in states.values()))

    def states(self, wanted: int | None = None, timeout: float = 10.0) -> dict[str, State]:
        """By replica; of so many of them, or all."""
        wanted = self._servers if wanted is None else wanted
        request = self._next_request()
        heard: dict[str, State] = {}
        replies: queue.SimpleQueue[Any] = queue.SimpleQueue()
        ignore = self.on(self.state, lambda rows: _enqueue(replies, rows))
        deadline = time.monotonic() + timeout
        try:
            while len(heard) < wanted:
                if time.monotonic() > deadline:
                    raise TimeoutError(f"{len(heard)} of {wanted} replicas answered within {timeout} seconds")
                self.survey.insert((request,))
                with suppress(queue.Empty):
                    while len(heard) < wanted:
                        row = replies.get(timeout=0.2)
                        if row.reqid == request:
                            heard[row.server] = State(row.number or 0, row.behind or 0)
        finally:
            ignore()
        return dict(sorted(heard.items()))

    def put_all(self, pairs: Iterable[tuple[Any, Any]], *, window: int = 100, timeout: float = 60.0) -> int:
        """Puts keys and values, in order, with at most ``window`` of them unanswered; how many were acknowledged.

        TimeoutError if no acknowledgement comes for ``timeout`` seconds.
        """
        coming = iter(pairs)
        waiting: dict[int, None] = {}
        done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        ignore = self.on(self.acknowledged, lambda rows: _enqueue(done, rows))
        acknowledged = 0
        try:
            while True:
                batch = [(self._next_number(), *pair) for pair in islice(coming, window - len(waiting))]
                if batch:
                    waiting.update(dict.fromkeys(number for number, *_ in batch))
                    self.put.insert(*batch)
                if not waiting:
                    return acknowledged
                acknowledged += self._take(done, waiting, timeout)
        finally:
            ignore()

    def _take(self, done: queue.SimpleQueue[Any], waiting: dict[int, None], timeout: float) -> int:
        """At least one that is waited for, and all that are there."""
        before = len(waiting)
        while len(waiting) == before or not done.empty():
            try:
                waiting.pop(done.get(timeout=timeout).number, None)
            except queue.Empty:
                raise TimeoutError(f"{before} puts are not acknowledged after {timeout} seconds") from None
        return before - len(waiting)

    def fetch(self, key: Any, *, timeout: float = 10.0) -> Any:
        """The value of a key, or None: what a majority says."""
        request = self._next_request()
        row = self.insert_and_wait(
            self.get, (request, key), self.found, lambda f: f.reqid == request, timeout=timeout
        )
        return row.value

    def _next_number(self) -> int:
        self._number += 1
        return self._number

    def _next_request(self) -> int:
        self._requests += 1
        return self._requests


def _enqueue(waiting: queue.SimpleQueue[Any], rows: Iterable[Any]) -> None:
    for row in rows:
        waiting.put(row)


@click.command()
@click.option("--address", required=True, help="Where the replica listens, host:port.")
@click.option("--peers", default="", help="The addresses of the other replicas, separated by commas.")
@click.option("--data", required=True, type=click.Path(file_okay=False), help="The folder for its tables.")
def main(address: str, peers: str, data: str) -> None:
    """A replica.  It runs until Ctrl-C or SIGTERM."""
    logging.basicConfig(format="%(levelname)s %(name)s: %(message)s")
    replica = Replica(address, [peer for peer in peers.split(",") if peer], data=data)
    try:
        replica.run(ready=lambda: click.echo(f"listening at {replica.ip_port}"))
    except ClewError as error:
        raise click.ClickException(str(error)) from error
    click.echo("ended")


if __name__ == "__main__":
    main()
