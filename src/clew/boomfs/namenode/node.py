"""The NameNode: the namespace, its chunks, and which DataNodes are there.

A DataNode says with every heartbeat what its pages of chunks add up to; a page that is not known is asked for.
So a heartbeat is small whatever is on the disk, and a NameNode that was away knows everything after two rounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from clew.bloom import agg, bloom, periodic, scratch, table
from clew.boomfs.namenode.chunks import Replication
from clew.boomfs.namenode.order import LocalOrder
from clew.boomfs.settings import CHUNKS_IN_PAGE, DEFAULT_POLICY, Policy

#: The answer to a session is kept for so long: nobody repeats a request after that.
_SESSION_SECONDS = 24 * 3600.0
_SWEEP_SECONDS = 60.0


class Heartbeats(Replication):
    known_page = table("addr", "page", val=["digest"])
    in_page = scratch("addr", "page", "chunk", "length")
    has_page = scratch("addr", "page")
    touched = scratch("addr", "page")
    heard = scratch("addr", "data", "free", "pages")
    offered = scratch("addr", "page", "digest")
    wanted = scratch("addr", "page")
    reported = scratch("addr", "page", "digest", "chunks")
    told = scratch("addr", "page", "chunk", "length")
    gone = scratch("addr")
    began = table(val=["time"])

    @bloom
    def listen(self) -> None:
        self.temp.latest <= self.heartbeat.filter(is_heartbeat).argmax(["addr"], "number")
        self.heard <= self.temp.latest(lambda h: (h.addr, h.data, h.free, h.pages))
        self.datanode <- (self.datanode * self.heard).lefts(addr="addr")
        self.datanode <+ (self.heard * self.clock).pairs(lambda h, c: (h.addr, h.data, h.free, c.now))

    @bloom
    def compare_pages(self) -> None:
        self.offered <= self.heard.flat_map(lambda h: ((h.addr, page, digest) for page, digest in h.pages))
        self.wanted <= self.offered.notin(self.known_page)(lambda o: (o.addr, o.page))
        # What a DataNode has no longer is asked for, too: what is under way may be older than what is known.
        self.in_page <= self.hb_chunk(lambda h: (h.addr, h.chunk // CHUNKS_IN_PAGE, h.chunk, h.length))
        self.has_page <= self.in_page(lambda p: (p.addr, p.page))
        self.wanted <= (self.has_page * self.heard).lefts(addr="addr").notin(
            self.offered, addr="addr", page="page"
        )
        self.ask_page <~ self.wanted(lambda w: (w.addr, self.ip_port, self._partition, w.page))

    @bloom
    def take_reports(self) -> None:
        self.temp.good <= self.page_report.filter(is_report).argmax(["addr", "page"], "digest")
        self.reported <= (self.temp.good * self.datanode).lefts(addr="addr")(
            lambda r: (r.addr, r.page, r.digest, r.chunks)
        )
        self.known_page <- (self.known_page * self.reported).lefts(addr="addr", page="page")
        # A page is known as long as nobody but its DataNode says what is in it.
        self.touched <= self.learned(lambda c: (c.addr, c.chunk // CHUNKS_IN_PAGE))
        self.touched <= self.drop(lambda c: (c.addr, c.chunk // CHUNKS_IN_PAGE))
        self.known_page <- (self.known_page * self.touched).lefts(addr="addr", page="page")
        self.known_page <+ self.reported.notin(self.touched, addr="addr", page="page")(
            lambda r: (r.addr, r.page, r.digest) if r.chunks else None
        )
        self.told <= self.reported.flat_map(
            lambda r: ((r.addr, r.page, chunk, length) for chunk, length in r.chunks)
        )
        self.temp.outdated <= (self.in_page * self.reported).lefts(addr="addr", page="page").notin(self.told)
        self.hb_chunk <- self.temp.outdated(lambda p: (p.addr, p.chunk, p.length))
        self.hb_chunk <+ self.told(lambda t: (t.addr, t.chunk, t.length))

    @bloom
    def give_up_the_silent(self) -> None:
        self.began <+ (self.times * self.began).outer(lambda t, b: (t.val,) if b.time is None else None)
        # Nobody could be heard while the NameNode was down.
        self.temp.waited <= (self.times * self.began).pairs(
            lambda t, b: (t.val,) if t.val - b.time >= self._silence else None
        ).rename("now")
        self.gone <= (self.datanode * self.temp.waited).pairs(
            lambda d, w: (d.addr,) if w.now - d.last_heartbeat > self._silence else None
        )
        self.temp.really <= self.gone.notin(self.heard, addr="addr")
        self.datanode <- (self.datanode * self.temp.really).lefts(addr="addr")
        self.hb_chunk <- (self.hb_chunk * self.temp.really).lefts(addr="addr")
        self.known_page <- (self.known_page * self.temp.really).lefts(addr="addr")


class Housekeeping(Heartbeats):
    """What clients that died leave behind."""

    sweep = periodic(_SWEEP_SECONDS)

    @bloom
    def forget_sessions(self) -> None:
        self.temp.ages <= (self.sweep * self.answered).rights()
        self.answered <- (self.temp.ages * self.clock).pairs(
            lambda a, c: (
                (a.session, a.number, a.ok, a.result, a.time) if a.time < c.now - _SESSION_SECONDS else None
            )
        )
        self.waiting <- (self.sweep * self.waiting).rights()

    @bloom
    def abandon_unfinished(self) -> None:
        self.temp.unsealed <= self.fchunk.notin(self.sealed, chunk="chunk")
        self.temp.old <= (self.temp.unsealed * self.check).pairs(
            lambda c, t: (c.chunk,) if c.time < t.now - self._lease else None
        ).rename("chunk")
        self.tentative <= self.temp.old(
            lambda c: (f"!{self.ip_port} {c.chunk}", c.chunk, "abandon", "/", c.chunk)
        )


class Reports(Housekeeping):
    """What people are told of a NameNode."""

    counted = scratch("what", "number")
    tallies = scratch("what", "cnt")

    @bloom
    def count(self) -> None:
        self.counted <= self.file(lambda f: ("folders" if f.is_dir else "files", f.fileid))
        self.counted <= self.sealed(lambda s: ("chunks", s.chunk))
        self.counted <= self.thin(lambda t: ("thin", t.chunk))
        self.counted <= self.lost(lambda t: ("lost", t.chunk))
        self.tallies <= self.counted.group(["what"], agg.count())

    @bloom
    def report(self) -> None:
        self.temp.statuses <= self.reading.filter(lambda a: a.command == "status")
        self.temp.tallied <= self.tallies(lambda t: ((t.what, t.cnt),)).rename("tally").group(
            [], tallies=agg.accum("tally")
        )
        self.temp.noded <= self.load(lambda n: (tuple(n),)).rename("node").group([], nodes=agg.accum("node"))
        self.temp.half <= (self.temp.statuses * self.temp.tallied).pairs(
            lambda a, t: (a.client, a.session, a.number, t.tallies)
        ).rename("client", "session", "number", "tallies")
        self.reply <= (self.temp.half * self.temp.noded).outer(
            lambda h, n: (h.client, h.session, h.number, 0, 1, True, (h.tallies, n.nodes or frozenset()))
        )

    @bloom
    def report_lost(self) -> None:
        self.temp.losses <= self.reading.filter(lambda a: a.command == "lost")
        self.temp.lost_files <= (self.lost * self.fqpath).pairs(
            lambda t, p: (t.chunk, p.path), fileid="fileid"
        ).rename("chunk", "path")
        self.listed <= (self.temp.losses * self.temp.lost_files).pairs(
            lambda a, t: (a.client, a.session, a.number, t.chunk // CHUNKS_IN_PAGE, (t.path, t.chunk))
        )
        self.temp.none_lost <= self.temp.losses(lambda a: (a.client, a.session, a.number)).rename(
            "client", "session", "number"
        )
        self.temp.any_lost <= self.lost(lambda t: ("any",)).rename("any")
        self.temp.asked_of_none <= self.temp.none_lost(lambda a: (*a, "any")).rename(
            "client", "session", "number", "any"
        )
        self.reply <= self.temp.asked_of_none.notin(self.temp.any_lost, any="any")(
            lambda a: (a.client, a.session, a.number, 0, 1, True, frozenset())
        )

    @bloom
    def tell_the_cluster(self) -> None:
        self.reply <= self.reading(
            lambda a: (
                (a.client, a.session, a.number, 0, 1, True, (self._cluster, self._chunk_size))
                if a.command == "cluster"
                else None
            )
        )


class NameNodeBase(Reports):
    """A NameNode but for who decides on the order of changes.

    ``cluster``: for each partition the addresses of its NameNodes; ``partition`` is which of them this one is of.
    """

    def __init__(
        self,
        address: str | None = None,
        *,
        data: str | Path | None = None,
        policy: Policy = DEFAULT_POLICY,
        partition: int = 0,
        cluster: Sequence[Sequence[str]] = (),
        **options: Any,
    ) -> None:
        super().__init__(address, data=data, **options)
        self._partition = partition
        self._partitions = max(1, len(cluster))
        self._cluster = tuple(tuple(group) for group in cluster)
        self._factor = policy.replicas
        self._least_free = policy.least_free
        self._silence = policy.silence
        self._lease = policy.lease
        self._chunk_size = policy.chunk_size


class NameNode(NameNodeBase, LocalOrder):
    """The only NameNode of its partition."""

    @bloom
    def look_after_replicas(self) -> None:
        self.check <= self.times(lambda t: (t.val,))


def is_heartbeat(row: Any) -> bool:
    """Tell whether the rules can use a heartbeat, whoever sent it."""
    return (
        isinstance(row.addr, str)
        and isinstance(row.data, str)
        and isinstance(row.number, int)
        and isinstance(row.free, int)
        and _are_pairs(row.pages, int, str)
    )


def is_report(row: Any) -> bool:
    """Tell whether the rules can use a report of a page."""
    return (
        isinstance(row.page, int)
        and isinstance(row.digest, str)
        and _are_pairs(row.chunks, int, int)
        and all(chunk // CHUNKS_IN_PAGE == row.page for chunk, _ in row.chunks)
    )


def _are_pairs(value: Any, first: type, second: type) -> bool:
    return isinstance(value, frozenset) and all(
        isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], first) and isinstance(item[1], second)
        for item in value
    )
