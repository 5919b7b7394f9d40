"""The client's side of the metadata protocol: one rule a command, and what becomes of requests without an answer.

A request goes to the NameNode of its partition that is believed to lead.  If no answer comes between two rows of
``retry``, it goes to the next one of the partition: it has the same session and number there, so it is done once.
"""

from __future__ import annotations

from clew.bloom import bloom, interface, periodic, scratch, table
from clew.boomfs.messages import MetadataMessages

#: What is asked for again after ever longer times: the answer to a large folder takes some seconds, and a NameNode
#: that is asked again meanwhile has all of that to do again.
_LONG = frozenset({"ls", "lost"})
_SOONEST_LONG = 4


class MetadataClient(MetadataMessages):
    """Each command is an input; all of them begin with the partition, the session and the number in it."""

    stat = interface.input("partition", "session", "number", "path")
    ls = interface.input("partition", "session", "number", "path")
    create = interface.input("partition", "session", "number", "path", "overwrite")
    mkdir = interface.input("partition", "session", "number", "path")
    remove = interface.input("partition", "session", "number", "path", "recursive")
    rename = interface.input("partition", "session", "number", "path", "to")
    add_chunk = interface.input("partition", "session", "number", "path", "fileid", "excluded")
    seal = interface.input("partition", "session", "number", "path", "chunk", "length", "addrs")
    abandon = interface.input("partition", "session", "number", "path", "chunk")
    chunks = interface.input("partition", "session", "number", "path")
    locations = interface.input("partition", "session", "number", "chunk")
    status = interface.input("partition", "session", "number")
    lost = interface.input("partition", "session", "number")
    cluster = interface.input("partition", "session", "number")
    #: Nobody waits for the answer any more.
    forget = interface.input("session", "number")

    retry = periodic(0.5)
    namenode = table("partition", "rank", val=["addr"])
    leader = table("partition", val=["rank"])
    ask = scratch("partition", "session", "number", "command", "path", "arg")
    open_request = table("session", "number", val=["partition", "command", "path", "arg", "tries"])
    sent = scratch("partition", "session", "number", "command", "path", "arg")
    overdue = scratch("session", "number", "partition", "command", "path", "arg", "tries")
    moving_on = scratch("partition", "rank")
    redirected = scratch("session", "number", "partition", "command", "path", "arg", "rank")
    bounced = table("session", "number")
    again = scratch("partition", "session", "number", "command", "path", "arg")
    leads = scratch("partition", "rank")

    @bloom
    def commands(self) -> None:
        self.ask <= self.stat(lambda a: (a.partition, a.session, a.number, "stat", a.path, None))
        self.ask <= self.ls(lambda a: (a.partition, a.session, a.number, "ls", a.path, None))
        self.ask <= self.create(lambda a: (a.partition, a.session, a.number, "create", a.path, a.overwrite))
        self.ask <= self.mkdir(lambda a: (a.partition, a.session, a.number, "mkdir", a.path, None))
        self.ask <= self.remove(lambda a: (a.partition, a.session, a.number, "remove", a.path, a.recursive))
        self.ask <= self.rename(lambda a: (a.partition, a.session, a.number, "rename", a.path, a.to))
        self.ask <= self.add_chunk(
            lambda a: (a.partition, a.session, a.number, "add_chunk", a.path, (a.fileid, a.excluded))
        )
        self.ask <= self.seal(
            lambda a: (a.partition, a.session, a.number, "seal", a.path, (a.chunk, a.length, a.addrs))
        )
        self.ask <= self.abandon(lambda a: (a.partition, a.session, a.number, "abandon", a.path, a.chunk))
        self.ask <= self.chunks(lambda a: (a.partition, a.session, a.number, "chunks", a.path, None))
        self.ask <= self.locations(lambda a: (a.partition, a.session, a.number, "locations", "/", a.chunk))
        self.ask <= self.status(lambda a: (a.partition, a.session, a.number, "status", "/", None))
        self.ask <= self.lost(lambda a: (a.partition, a.session, a.number, "lost", "/", None))
        self.ask <= self.cluster(lambda a: (a.partition, a.session, a.number, "cluster", "/", None))

    @bloom
    def send(self) -> None:
        self.open_request <= self.ask(lambda a: (a.session, a.number, a.partition, a.command, a.path, a.arg, 0))
        self.sent <= self.ask
        self.sent <= self.again
        self.sent <= self.overdue(lambda o: (o.partition, o.session, o.number, o.command, o.path, o.arg))
        self.temp.leading <= (self.leader * self.namenode).rights(partition="partition", rank="rank")
        self.request <~ (self.sent * self.temp.leading).pairs(
            lambda s, n: (n.addr, self.ip_port, s.session, s.number, s.command, s.path, s.arg),
            partition="partition",
        )

    @bloom
    def send_again(self) -> None:
        self.temp.answered <= (self.open_request * self.response).lefts(session="session", number="number")
        self.temp.forgotten <= (self.open_request * self.forget).lefts(session="session", number="number")
        self.open_request <- self.temp.forgotten
        self.temp.waiting <= (self.open_request * self.retry).lefts().notin(self.temp.answered).notin(
            self.temp.forgotten
        )
        self.open_request <- self.temp.waiting
        self.open_request <+ self.temp.waiting(
            lambda o: (o.session, o.number, o.partition, o.command, o.path, o.arg, o.tries + 1)
        )
        self.overdue <= self.temp.waiting.filter(lambda o: is_overdue(o.command, o.tries))

    @bloom
    def go_where_it_is_told(self) -> None:
        # Two that each take the other for the leader get a request once, until it is overdue.
        self.temp.told <= self.elsewhere.notin(self.bounced, session="session", number="number")
        self.redirected <= (self.temp.told * self.open_request * self.namenode).pairs(
            self.temp.told.session == self.open_request.session,
            self.temp.told.number == self.open_request.number,
            self.open_request.partition == self.namenode.partition,
            self.temp.told.leader == self.namenode.addr,
            lambda t, o, n: (o.session, o.number, o.partition, o.command, o.path, o.arg, n.rank),
        )
        self.bounced <+ self.redirected.project("session", "number")
        self.bounced <- (self.bounced * self.retry).lefts()
        self.again <+ self.redirected(lambda r: (r.partition, r.session, r.number, r.command, r.path, r.arg))
        self.leads <= self.redirected.project("partition", "rank").argmin(["partition"], "rank")
        self.leader <- (self.leader * self.leads).lefts(partition="partition")
        self.leader <+ self.leads

    @bloom
    def go_to_the_next(self) -> None:
        self.moving_on <= (self.overdue * self.leader).rights(partition="partition").notin(
            self.leads, partition="partition"
        )
        self.leader <- self.moving_on
        self.temp.next_rank <= self.moving_on(lambda m: (m.partition, m.rank + 1)).rename("partition", "rank")
        self.temp.exists <= (self.temp.next_rank * self.namenode).lefts(partition="partition", rank="rank")
        self.leader <+ self.temp.exists
        self.leader <+ self.temp.next_rank.notin(self.temp.exists)(lambda n: (n.partition, 0))


def is_overdue(command: str, tries: int) -> bool:
    """Tell whether to ask again: not at the first row of ``retry``, which may come right after the request."""
    if command in _LONG:
        return tries >= _SOONEST_LONG and tries & (tries - 1) == 0
    return tries > 0
