"""Chunks at a NameNode: new ones, where their replicas are, and what must be copied or dropped.

``datanode`` and ``hb_chunk`` say what DataNodes were last heard to have (Table 2.2).  A replica of another length
than its chunk is none.  The rules here deduce commands to DataNodes where an invariant does not hold: too few
replicas, too many, or replicas of chunks that no file has.
"""

from __future__ import annotations

from clew.bloom import agg, bloom, scratch, table
from clew.boomfs.messages import DataNodeMessages
from clew.boomfs.namenode.order import Changes
from clew.boomfs.namenode.placement import choose_copy, choose_drop, choose_places, take_first
from clew.boomfs.settings import CHUNKS_IN_PAGE

#: So many copies are ordered at a time, and replicas dropped: the others have their turn with the next ticks.
_MOST_COPIES, _MOST_DROPS = 64, 1000
#: A copy that has not appeared after so many seconds is ordered again.
_COPY_SECONDS = 10.0


class Chunks(Changes, DataNodeMessages):
    datanode = table("addr", val=["data", "free", "last_heartbeat"], durable=True)
    hb_chunk = table("addr", "chunk", val=["length"], durable=True)
    alive = scratch("addr", "data")
    compute_chunk_locs = scratch("chunk", val=["addrs"])
    sound = scratch("addr", "chunk", "data")
    load = scratch("addr", "data", "free", "chunks")
    loads = scratch(val=["all"])
    adding = scratch("seq", "fileid", "arg", "time")
    learned = scratch("addr", "chunk", "length")
    sealing = scratch("seq", "chunk", "length", "addrs", "time")

    @bloom
    def locate(self) -> None:
        self.temp.lengths <= (self.hb_chunk * self.sealed).lefts(chunk="chunk", length="length")
        # Without the time of the latest heartbeat: nothing is different of a DataNode that was heard again.
        self.alive <= self.datanode(lambda d: (d.addr, d.data))
        self.sound <= (self.temp.lengths * self.alive).pairs(
            lambda h, d: (h.addr, h.chunk, d.data), addr="addr"
        )
        self.compute_chunk_locs <= self.sound.group(["chunk"], addrs=agg.accum("data"))
        self.temp.located <= self.reading.filter(lambda a: a.command == "locations")
        self.reply <= (self.temp.located * self.compute_chunk_locs).pairs(
            lambda a, c: (a.client, a.session, a.number, 0, 1, True, c.addrs), arg="chunk"
        )
        # The chunk is not there, or nobody has it: which of the two it is, ``lost`` tells.
        self.reply <= self.temp.located.notin(self.compute_chunk_locs, arg="chunk")(
            lambda a: (a.client, a.session, a.number, 0, 1, False, "ENODATA")
        )

    @bloom
    def chunks_of_a_file(self) -> None:
        self.temp.files <= self.looked.filter(lambda r: r.command == "chunks" and not r.is_dir)
        self.temp.parts <= (self.temp.files * self.fchunk).pairs(
            lambda r, c: (r.client, r.session, r.number, c.chunk), fileid="fileid"
        ).rename("client", "session", "number", "chunk")
        self.temp.finished <= (self.temp.parts * self.sealed).pairs(
            lambda p, s: (p.client, p.session, p.number, p.chunk // CHUNKS_IN_PAGE, (p.chunk, s.length)),
            chunk="chunk",
        ).rename("client", "session", "number", "page", "entry")
        self.listed <= self.temp.finished
        self.reply <= self.temp.files.notin(self.temp.finished, session="session", number="number")(
            lambda r: (r.client, r.session, r.number, 0, 1, True, frozenset())
        )
        self.reply <= self.looked(
            lambda r: (
                (r.client, r.session, r.number, 0, 1, False, "EISDIR")
                if r.command == "chunks" and r.is_dir
                else None
            )
        )

    @bloom
    def know_loads(self) -> None:
        self.temp.counts <= self.hb_chunk.group(["addr"], chunks=agg.count())
        self.load <= (self.datanode * self.temp.counts).outer(
            lambda d, c: (d.addr, d.data, d.free, c.chunks or 0), addr="addr"
        )
        self.loads <= self.load(lambda n: (tuple(n),)).rename("node").group([], agg.accum("node"))

    # -- writing -------------------------------------------------------------------------------------------------

    @bloom
    def add_chunk(self) -> None:
        # That there is a chunk is the same at all replicas of the NameNode; where it may go is what one knows.
        self.adding <= self.case(
            lambda c: (
                (c.seq, c.fileid, c.arg[1], c.time)
                if c.command == "add_chunk" and not c.is_dir and c.fileid == c.arg[0]
                else None
            )
        )
        self.fchunk <+ self.adding(lambda a: (a.seq, a.fileid, a.time))
        self.done <= (self.adding * self.loads).outer(
            lambda a, n: (a.seq, True, (a.seq, choose_places(a.seq, n.all, a.arg, self._factor, self._least_free)))
        )
        self.done <= self.case.filter(lambda c: c.command == "add_chunk").notin(self.adding, seq="seq")(
            # Another file has taken the name of the one that is written.
            lambda c: (c.seq, False, "ENOENT" if c.fileid is None else "EISDIR" if c.is_dir else "ESTALE")
        )

    @bloom
    def seal(self) -> None:
        self.temp.seals <= self.case(
            lambda c: (c.seq, *c.arg, c.time, c.fileid) if c.command == "seal" else None
        ).rename("seq", "chunk", "length", "addrs", "time", "fileid")
        self.temp.begun_chunks <= (self.temp.seals * self.fchunk).lefts(chunk="chunk", fileid="fileid").notin(
            self.sealed, chunk="chunk"
        )
        # What readers have seen of a file stays where it is: of two that append, the slower one tries again.
        self.temp.neighbours <= (self.temp.begun_chunks * self.fchunk).pairs(
            lambda s, c: (s.seq, c.chunk) if c.chunk > s.chunk else None, fileid="fileid"
        ).rename("seq", "chunk")
        self.temp.overtaken <= (self.temp.neighbours * self.sealed).lefts(chunk="chunk")
        self.sealing <= self.temp.begun_chunks.notin(self.temp.overtaken, seq="seq")(
            lambda s: (s.seq, s.chunk, s.length, s.addrs, s.time)
        )
        self.sealed <+ self.sealing(lambda s: (s.chunk, s.length, s.time))
        self.done <= self.sealing(lambda s: (s.seq, True, None))
        self.done <= self.temp.seals.notin(self.temp.begun_chunks, seq="seq")(lambda s: (s.seq, False, "ESTALE"))
        self.done <= self.temp.begun_chunks.notin(self.sealing, seq="seq")(lambda s: (s.seq, False, "EAGAIN"))
        # The DataNodes that the client names have the chunk; heartbeats correct it if they have not.
        self.temp.holders <= self.sealing.flat_map(
            lambda s: ((data, s.chunk, s.length) for data in s.addrs)
        ).rename("data", "chunk", "length")
        self.learned <= (self.alive * self.temp.holders).pairs(
            lambda d, h: (d.addr, h.chunk, h.length), data="data"
        )
        self.hb_chunk <+ self.learned.notin(self.hb_chunk, addr="addr", chunk="chunk")

    @bloom
    def abandon(self) -> None:
        self.temp.given_up <= self.case.filter(lambda c: c.command == "abandon")
        self.fchunk <- (self.fchunk * self.temp.given_up).lefts(chunk="arg").notin(self.sealed, chunk="chunk")
        self.done <= self.temp.given_up(lambda c: (c.seq, True, None))


class Replication(Chunks):
    """``check``: it is this NameNode's turn to look after replicas, at each tick."""

    replicas = scratch("chunk", val=["cnt"])
    check = scratch("now")
    thin = scratch("chunk", "length", "cnt")
    chosen = scratch("chunk", "length")
    copying = table("chunk", val=["until", "cnt"])
    copy = scratch("addr", "chunk", "length", "target")
    excess = scratch("chunk")
    orphan = scratch("addr", "chunk")
    drop = scratch("addr", "chunk")
    lost = scratch("chunk", "fileid")

    @bloom
    def count_replicas(self) -> None:
        self.replicas <= self.sound.group(["chunk"], agg.count())
        self.thin <= (self.sealed * self.replicas).pairs(
            lambda s, r: (s.chunk, s.length, r.cnt) if r.cnt < self._factor else None, chunk="chunk"
        )
        self.excess <= self.replicas(lambda r: (r.chunk,) if r.cnt > self._factor else None)
        self.temp.unheard <= self.sealed.notin(self.sound, chunk="chunk")
        self.lost <= (self.temp.unheard * self.fchunk).pairs(lambda s, c: (s.chunk, c.fileid), chunk="chunk")

    @bloom
    def copy_chunks(self) -> None:
        self.temp.late <= (self.copying * self.check).pairs(
            lambda c, t: (c.chunk, c.until, c.cnt) if c.until < t.now else None
        )
        self.copying <- self.temp.late
        self.temp.wanting <= (self.thin * self.check).lefts().notin(self.copying, chunk="chunk")
        self.chosen <= self.temp.wanting(lambda w: ((w.cnt, w.chunk, w.length),)).rename("want").group(
            [], wants=agg.accum("want")
        ).flat_map(lambda g: ((chunk, length) for _, chunk, length in take_first(g.wants, _MOST_COPIES)))
        self.temp.holding <= (self.chosen * self.sound).pairs(
            lambda c, s: (c.chunk, c.length, s.addr), chunk="chunk"
        ).rename("chunk", "length", "addr").group(["chunk", "length"], holders=agg.accum("addr"))
        self.copy <= (self.temp.holding * self.loads).flat_map(
            lambda h, n: choose_copy(h.chunk, h.length, h.holders, n.all, self._least_free)
        )
        self.copy_command <~ self.copy(lambda c: (c.addr, self._partition, c.chunk, c.length, c.target))
        self.temp.begun_copies <= (self.copy * self.thin).pairs(
            lambda c, w: (c.chunk, w.cnt), chunk="chunk"
        ).rename("chunk", "cnt")
        self.copying <+ (self.temp.begun_copies * self.check).pairs(
            lambda c, t: (c.chunk, t.now + _COPY_SECONDS, c.cnt)
        )
        self.copying <- (self.copying * self.replicas).pairs(
            lambda c, r: (c.chunk, c.until, c.cnt) if r.cnt > c.cnt else None, chunk="chunk"
        )

    @bloom
    def drop_replicas(self) -> None:
        self.temp.fewer <= (self.excess * self.check).lefts()
        self.temp.too_many <= (self.temp.fewer * self.sound).pairs(
            lambda e, s: (s.chunk, s.addr), chunk="chunk"
        ).rename("chunk", "addr").group(["chunk"], holders=agg.accum("addr"))
        self.drop <= (self.temp.too_many * self.loads).flat_map(
            lambda t, n: choose_drop(t.chunk, t.holders, n.all)
        )
        # Numbers that no change has come to yet are none of a removed file.
        self.orphan <= (self.hb_chunk.notin(self.fchunk, chunk="chunk") * self.last).pairs(
            lambda h, a: (h.addr, h.chunk) if h.chunk <= a.seq else None
        )
        # What was cut off while it was copied takes the place of a whole one.
        self.orphan <= (self.hb_chunk * self.sealed).pairs(
            lambda h, s: (h.addr, h.chunk) if h.length != s.length else None, chunk="chunk"
        )
        self.drop <= (self.orphan * self.check).lefts()(lambda g: ((g.addr, g.chunk),)).rename("one").group(
            [], some=agg.accum("one")
        ).flat_map(lambda g: take_first(g.some, _MOST_DROPS))
        self.drop_command <~ self.drop(lambda d: (d.addr, self._partition, d.chunk))
        self.hb_chunk <- (self.hb_chunk * self.drop).lefts(addr="addr", chunk="chunk")
