"""The tree of files and folders at a NameNode: relations, and one rule for success and one for failure a command.

What the file system is stands in ``file`` and ``fchunk`` (thesis, Table 2.2); ``fqpath``, the path of every file,
is derived of them (Listing 2.6) and kept from step to step.  Requests that only read are answered in the step in
which they arrive.  What changes something comes as a ``decree``: in one order for everybody, those of a step with
different paths.  The number of a decree is what it creates: the id of a file or of a chunk, so ids grow, are never
used twice, and are the same at all replicas.
"""

from __future__ import annotations

from typing import Any

from clew.bloom import agg, bloom, scratch, table
from clew.boomfs.messages import READS, MetadataMessages
from clew.boomfs.namenode.requests import is_request
from clew.boomfs.paths import is_inside, name_of, parent_of, partition_of
from clew.boomfs.settings import DEFAULT_POLICY

#: The id of the root, and that of the folder that it is in.
ROOT, NOWHERE = 0, -1
#: So many entries of a folder or chunks of a file are in a page of an answer: ids with the same quotient.
PAGE = 256


class Namespace(MetadataMessages):
    """``partition`` of ``partitions``: the files that are here are those whose paths belong to it."""

    file = table("fileid", val=["parentid", "name", "is_dir", "time"], durable=True)
    fqpath = scratch("path", "fileid")
    fchunk = table("chunk", val=["fileid", "time"], durable=True)
    sealed = table("chunk", val=["length", "time"], durable=True)
    contents = scratch("fileid", val=["size", "time"])

    asked = scratch("client", "session", "number", "command", "path", "arg")
    #: Requests that are answered now: whoever decides on the order of changes lets them in.
    reading = scratch("client", "session", "number", "command", "path", "arg")
    looked = scratch("client", "session", "number", "command", "arg", "fileid", "is_dir", "time")
    listed = scratch("client", "session", "number", "page", "entry")
    reply = scratch("client", "session", "number", "page", "pages", "ok", "result")

    decree = scratch("seq", "session", "number", "command", "path", "arg", "time")
    fresh = scratch("seq", "session", "number", "command", "path", "arg", "time")
    found = scratch("seq", "fileid", "is_dir")
    above = scratch("seq", "path")
    around = scratch("seq", "fileid", "is_dir")
    named = scratch("seq", "session", "number", "command", "path", "arg", "time", "fileid", "is_dir")
    case = scratch(
        *("seq", "session", "number", "command", "path", "arg", "time", "fileid", "is_dir", "parentid", "in_dir")
    )
    made = scratch("fileid", val=["parentid", "name", "is_dir", "time"])
    doomed = scratch("fileid")
    removed = scratch("seq", "fileid")
    place = scratch("seq", "path", "parent")
    move = scratch("seq", "fileid", "is_dir", "to", "parentid", "in_dir")
    moved = scratch("seq", "fileid", "to", "parentid")
    done = scratch("seq", "ok", "result")

    changing = scratch("client", "session", "number", "command", "path", "arg")
    known = scratch("session", "number")
    #: The latest answer to a session, which asks for one thing at a time: a repeated request is answered again.
    answered = table("session", val=["number", "ok", "result", "time"], durable=True)
    #: Who waits for a decree here.
    waiting = table("session", "number", "client")

    _partition = 0
    _partitions = 1
    _cluster: tuple[tuple[str, ...], ...] = ()
    # Numbers, not the policy: of an object, rules would not know that it stays as it is.
    _factor = DEFAULT_POLICY.replicas
    _least_free = DEFAULT_POLICY.least_free
    _silence = DEFAULT_POLICY.silence
    _lease = DEFAULT_POLICY.lease
    _chunk_size = DEFAULT_POLICY.chunk_size

    @bloom
    def name_files(self) -> None:
        self.file <= [(ROOT, NOWHERE, "", True, 0.0)]
        self.fqpath <= self.file(lambda f: ("/", f.fileid) if f.parentid == NOWHERE else None)
        self.fqpath <= (self.file * self.fqpath).pairs(
            lambda f, p: (p.path + ("" if p.path == "/" else "/") + f.name, f.fileid), parentid="fileid"
        )
        self.temp.written <= (self.fchunk * self.sealed).pairs(
            lambda c, s: (c.fileid, c.chunk, s.length, s.time), chunk="chunk"
        )
        self.contents <= self.temp.written.group(["fileid"], agg.sum("length"), agg.max("time"))

    # -- what is asked -------------------------------------------------------------------------------------------

    @bloom
    def take_requests(self) -> None:
        self.asked <= self.request(
            lambda r: (
                (r.client, r.session, r.number, r.command, r.path, r.arg)
                if is_request(r.session, r.number, r.command, r.path, r.arg)
                else None
            )
        )
        self.reply <= self.request(
            lambda r: (
                None
                if is_request(r.session, r.number, r.command, r.path, r.arg)
                else (r.client, r.session, r.number, 0, 1, False, "EINVAL")
            )
        )

    @bloom
    def look_up(self) -> None:
        self.looked <= (self.reading * self.fqpath * self.file).pairs(
            self.reading.path == self.fqpath.path,
            self.fqpath.fileid == self.file.fileid,
            lambda a, p, f: (a.client, a.session, a.number, a.command, a.arg, f.fileid, f.is_dir, f.time),
        )
        self.reply <= self.reading.notin(self.looked, session="session", number="number")(
            lambda a: (a.client, a.session, a.number, 0, 1, False, "ENOENT")
        )

    @bloom
    def stat(self) -> None:
        self.temp.stats <= self.looked.filter(lambda r: r.command == "stat")
        self.reply <= (self.temp.stats * self.contents).outer(
            lambda r, c: (
                r.client, r.session, r.number, 0, 1, True,
                (r.fileid, r.is_dir, c.size or 0, max(r.time, c.time or 0)),
            ),
            fileid="fileid",
        )

    @bloom
    def ls(self) -> None:
        self.temp.lists <= self.looked.filter(lambda r: r.command == "ls" and r.is_dir)
        self.temp.entries <= (self.temp.lists * self.file).pairs(
            lambda r, f: (r.client, r.session, r.number, f.fileid, f.name, f.is_dir, f.time), fileid="parentid"
        ).rename("client", "session", "number", "fileid", "name", "is_dir", "time")
        self.listed <= (self.temp.entries * self.contents).outer(
            lambda e, c: (
                e.client, e.session, e.number, e.fileid // PAGE,
                (e.name, e.fileid, e.is_dir, c.size or 0, max(e.time, c.time or 0)),
            ),
            fileid="fileid",
        )
        # Listing a folder without entries is a success, too.
        self.reply <= self.temp.lists.notin(self.file, fileid="parentid")(
            lambda r: (r.client, r.session, r.number, 0, 1, True, frozenset())
        )
        self.reply <= self.looked(
            lambda r: (
                (r.client, r.session, r.number, 0, 1, False, "ENOTDIR")
                if r.command == "ls" and not r.is_dir
                else None
            )
        )

    @bloom
    def turn_into_pages(self) -> None:
        self.temp.pages <= self.listed.group(["client", "session", "number", "page"], entries=agg.accum("entry"))
        self.temp.page_counts <= self.temp.pages.group(["client", "session", "number"], pages=agg.count())
        self.reply <= (self.temp.pages * self.temp.page_counts).pairs(
            lambda p, n: (p.client, p.session, p.number, p.page, n.pages, True, p.entries),
            client="client", session="session", number="number",
        )

    # -- what is changed -----------------------------------------------------------------------------------------

    @bloom
    def find(self) -> None:
        self.temp.repeated <= (self.decree * self.answered).pairs(
            lambda d, a: (d.seq,) if d.number <= a.number else None, session="session"
        ).rename("seq")
        self.fresh <= self.decree.notin(self.temp.repeated, seq="seq")
        self.found <= (self.fresh * self.fqpath * self.file).pairs(
            self.fresh.path == self.fqpath.path,
            self.fqpath.fileid == self.file.fileid,
            lambda d, p, f: (d.seq, f.fileid, f.is_dir),
        )
        self.above <= self.fresh(lambda d: (d.seq, parent_of(d.path)))
        self.around <= (self.above * self.fqpath * self.file).pairs(
            self.above.path == self.fqpath.path,
            self.fqpath.fileid == self.file.fileid,
            lambda d, p, f: (d.seq, f.fileid, f.is_dir),
        )
        self.named <= (self.fresh * self.found).outer(lambda d, f: (*tuple(d), f.fileid, f.is_dir), seq="seq")
        self.case <= (self.named * self.around).outer(lambda n, p: (*tuple(n), p.fileid, p.is_dir), seq="seq")

    @bloom
    def create(self) -> None:
        # With arg, a file that is there gives way to the new one.
        self.temp.creating <= self.case.filter(
            lambda c: (
                c.command == "create"
                and c.in_dir
                and (c.fileid is None or (c.arg and not c.is_dir))
                and partition_of(c.path, self._partitions) == self._partition
            )
        )
        self.made <= self.temp.creating(lambda c: (c.seq, c.parentid, name_of(c.path), False, c.time))
        self.doomed <= self.temp.creating(lambda c: None if c.fileid is None else (c.fileid,))
        self.done <= self.temp.creating(lambda c: (c.seq, True, c.seq))
        self.done <= self.case.filter(lambda c: c.command == "create").notin(self.temp.creating, seq="seq")(
            lambda c: (c.seq, False, why_not_created(c))
        )

    @bloom
    def mkdir(self) -> None:
        # Idempotent: with several partitions, repeating it makes the folder where it is not there yet.
        self.temp.mkdirs <= self.case.filter(
            lambda c: c.command == "mkdir" and (c.is_dir or (c.in_dir and c.fileid is None))
        )
        self.made <= self.temp.mkdirs(
            lambda c: (c.seq, c.parentid, name_of(c.path), True, c.time) if c.fileid is None else None
        )
        self.done <= self.temp.mkdirs(lambda c: (c.seq, True, c.fileid is None))
        self.done <= self.case.filter(lambda c: c.command == "mkdir").notin(self.temp.mkdirs, seq="seq")(
            lambda c: (c.seq, False, why_not_there(c) or "EEXIST")
        )

    @bloom
    def remove(self) -> None:
        self.temp.removing <= self.case.filter(
            lambda c: c.command == "remove" and c.fileid is not None and c.fileid != ROOT
        )
        # With arg, also a folder with something in it.
        self.temp.occupied <= (self.temp.removing.filter(lambda c: not c.arg) * self.file).lefts(fileid="parentid")
        self.removed <= self.temp.removing.notin(self.temp.occupied, seq="seq")(lambda c: (c.seq, c.fileid))
        self.doomed <= self.removed(lambda r: (r.fileid,))
        self.done <= self.removed(lambda r: (r.seq, True, None))
        self.done <= self.case.filter(lambda c: c.command == "remove").notin(self.removed, seq="seq")(
            lambda c: (c.seq, False, "ENOENT" if c.fileid is None else "EPERM" if c.path == "/" else "ENOTEMPTY")
        )

    @bloom
    def take_away(self) -> None:
        self.doomed <= (self.file * self.doomed).pairs(lambda f, d: (f.fileid,), parentid="fileid")
        self.file <- (self.file * self.doomed).lefts(fileid="fileid")
        self.temp.doomed_chunks <= (self.fchunk * self.doomed).lefts(fileid="fileid")
        self.fchunk <- self.temp.doomed_chunks
        self.sealed <- (self.sealed * self.temp.doomed_chunks).lefts(chunk="chunk")
        self.file <+ self.made

    @bloom
    def rename(self) -> None:
        self.temp.renaming <= self.case.filter(lambda c: c.command == "rename" and c.fileid is not None)
        self.place <= self.temp.renaming(lambda c: (c.seq, c.arg, parent_of(c.arg)))
        self.temp.landing <= (self.place * self.fqpath * self.file).pairs(
            self.place.parent == self.fqpath.path,
            self.fqpath.fileid == self.file.fileid,
            lambda w, p, f: (w.seq, f.fileid, f.is_dir),
        ).rename("seq", "parentid", "in_dir")
        self.temp.there <= (self.place * self.fqpath * self.file).pairs(
            self.place.path == self.fqpath.path,
            self.fqpath.fileid == self.file.fileid,
            lambda w, p, f: (w.seq, f.fileid, f.is_dir),
        ).rename("seq", "fileid", "is_dir")
        self.temp.landings <= (self.temp.renaming * self.temp.landing).outer(
            lambda c, p: (c.seq, c.fileid, c.is_dir, c.path, c.arg, p.parentid, p.in_dir), seq="seq"
        ).rename("seq", "fileid", "is_dir", "path", "to", "parentid", "in_dir")
        self.temp.moves <= (self.temp.landings * self.temp.there).outer(
            lambda c, t: (*tuple(c), t.fileid, t.is_dir), seq="seq"
        ).rename("seq", "fileid", "is_dir", "path", "to", "parentid", "in_dir", "old", "old_is_dir")
        self.temp.reasons <= self.temp.moves(
            lambda m: (m.seq, m.fileid, m.to, m.parentid, m.old, self._why_not_moved(m))
        ).rename("seq", "fileid", "to", "parentid", "old", "why")
        self.temp.good_moves <= self.temp.reasons.filter(lambda m: m.why is None)
        self.moved <= self.temp.good_moves(lambda m: (m.seq, m.fileid, m.to, m.parentid))
        self.doomed <= self.temp.good_moves(lambda m: None if m.old in (None, m.fileid) else (m.old,))
        self.done <= self.moved(lambda m: (m.seq, True, None))
        self.done <= self.temp.reasons(lambda m: None if m.why is None else (m.seq, False, m.why))
        self.done <= self.case(
            lambda c: (c.seq, False, "ENOENT") if c.command == "rename" and c.fileid is None else None
        )
        self.file <- (self.file * self.moved).lefts(fileid="fileid")
        self.made <= (self.file * self.moved).pairs(
            lambda f, m: (f.fileid, m.parentid, name_of(m.to), f.is_dir, f.time), fileid="fileid"
        )

    def _why_not_moved(self, move: Any) -> str | None:
        return why_not_moved(move, self._partition, self._partitions)

    @bloom
    def answer(self) -> None:
        self.temp.answers <= (self.fresh * self.done).pairs(
            lambda f, d: (f.session, f.number, d.ok, d.result, f.time), seq="seq"
        ).rename("session", "number", "ok", "result", "time")
        self.answered <- (self.answered * self.temp.answers).lefts(session="session")
        self.answered <+ self.temp.answers
        self.reply <= (self.waiting * self.temp.answers).pairs(
            lambda w, a: (w.client, a.session, a.number, 0, 1, a.ok, a.result), session="session", number="number"
        )
        self.waiting <- (self.waiting * self.temp.answers).pairs(
            lambda w, a: (w.session, w.number, w.client) if w.number <= a.number else None, session="session"
        )

    @bloom
    def answer_again(self) -> None:
        self.changing <= self.asked.filter(lambda a: a.command not in READS)
        self.reply <= (self.changing * self.answered).pairs(
            lambda r, a: (r.client, r.session, r.number, 0, 1, a.ok, a.result), session="session", number="number"
        )
        # A number below the latest one is a request of which the client has had the answer.
        self.known <= (self.changing * self.answered).pairs(
            lambda r, a: (r.session, r.number) if r.number <= a.number else None, session="session"
        )

    @bloom
    def stay_consistent(self) -> None:
        """End the node rather than go on with a tree that is none."""
        self.die <= self.fresh.notin(self.done, seq="seq")
        self.die <= self.made.notin(self.file, parentid="fileid")


def why_not_created(case: Any) -> str:
    """Return why a file cannot be created; a path of another partition was sent to the wrong place."""
    if case.fileid is not None:
        return "EISDIR" if case.is_dir else "EEXIST"
    return why_not_there(case) or "EXDEV"


def why_not_there(case: Any) -> str | None:
    """Return why nothing can be made at a path; None if its folder is one."""
    if case.in_dir is None:
        return "ENOENT"
    return None if case.in_dir else "ENOTDIR"


def why_not_moved(move: Any, partition: int, partitions: int) -> str | None:
    """Return why something cannot be renamed, None if it can.

    A folder is in all partitions, and what is in it belongs elsewhere under another path.
    """
    if move.path == "/" or (move.path != move.to and is_inside(move.to, move.path)):
        return "EPERM" if move.path == "/" else "EINVAL"
    if not move.in_dir:
        return "ENOENT" if move.in_dir is None else "ENOTDIR"
    if partitions > 1 and (move.is_dir or partition_of(move.to, partitions) != partition):
        return "EXDEV"
    if move.old in (None, move.fileid):
        return None
    if move.old_is_dir:
        return "EEXIST" if move.is_dir else "EISDIR"
    return "ENOTDIR" if move.is_dir else None
