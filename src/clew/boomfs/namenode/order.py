"""The order in which changes take effect: decided here, at one NameNode.

Changes that arrive in one step are numbered one after the other.  As many of them as do not meddle with each other
take effect together, in one step and one transaction; what comes after them waits.  What else can decide on the
order is in ``replicated``: it takes what is ``tentative``, gives what is a ``decree``, and lets requests in that
read; nothing else is different.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from clew.bloom import agg, bloom, lmax, periodic, rows, scratch, table
from clew.boomfs.messages import READS
from clew.boomfs.namenode.namespace import Namespace

#: Commands that look at nothing but their own path and its folder, and change no folder.
_LIGHT = frozenset({"add_chunk", "seal", "abandon"})


class Changes(Namespace):
    """``tentative``: changes that are asked for.  ``last``: the number of the latest that has taken effect."""

    timer = periodic(0.25)
    times = scratch("key", "val")
    clock = table(val=["now"])
    tentative = scratch("session", "number", "command", "path", "arg")
    last = table(val=["seq"], durable=True)
    due = scratch("seq")

    @bloom
    def tell_the_time(self) -> None:
        self.times <= self.timer.argmax([], "key")
        self.clock <- (self.clock * self.times).lefts()
        self.clock <+ self.times(lambda t: (t.val,))

    @bloom
    def take_changes(self) -> None:
        self.temp.unknown <= self.changing.notin(self.known, session="session", number="number")
        self.waiting <= self.temp.unknown(lambda a: (a.session, a.number, a.client))
        self.tentative <= self.temp.unknown(lambda a: (a.session, a.number, a.command, a.path, a.arg))

    @bloom
    def respond(self) -> None:
        self.response <~ (self.reply * self.last).outer(lambda r, a: (*tuple(r), a.seq or 0))

    @bloom
    def count_changes(self) -> None:
        self.temp.begun <= self.last(lambda a: ("begun",))
        self.last <+ rows([("begun",)]).notin(self.temp.begun)(lambda b: (0,))
        self.due <= self.last(lambda a: (a.seq + 1,))
        self.temp.newest <= self.decree.group([], agg.max("seq"))
        self.last <- (self.last * self.temp.newest).lefts()
        self.last <+ self.temp.newest


class LocalOrder(Changes):
    """``log``: changes that are numbered and have not taken effect."""

    log = table("seq", val=["session", "number", "command", "path", "arg", "time"])
    barrier = scratch(val=["seq"])
    blocked = scratch("seq")
    issued = lmax()

    @bloom
    def let_readers_in(self) -> None:
        self.reading <= self.asked.filter(lambda a: a.command in READS)

    @bloom
    def number_changes(self) -> None:
        self.issued <= self.last(lambda a: (a.seq,))
        self.temp.new <= self.tentative.notin(self.log, session="session", number="number")
        self.temp.batch <= self.temp.new(
            lambda t: ((t.session, t.number, t.command, t.path, t.arg),)
        ).rename("change").group([], changes=agg.accum("change"))
        self.temp.numbered <= (self.temp.batch * self.issued.elements("seq") * self.clock).flat_map(
            lambda b, i, c: number_changes(b.changes, i.seq, c.now)
        ).rename("seq", "session", "number", "command", "path", "arg", "time")
        self.log <+ self.temp.numbered
        self.issued <+ self.temp.numbered(lambda n: (n.seq,))

    @bloom
    def apply_in_sequence(self) -> None:
        # Others of the same path or session wait for the first one, and so does all that comes after them.
        self.temp.first_of_path <= self.log.argmin(["path"], "seq")
        self.temp.first_of_session <= self.log.argmin(["session"], "seq")
        self.blocked <= self.log.notin(self.temp.first_of_path, seq="seq")(lambda d: (d.seq,))
        self.blocked <= self.log.notin(self.temp.first_of_session, seq="seq")(lambda d: (d.seq,))
        # One that may change folders takes effect alone.
        self.blocked <= self.log.flat_map(lambda d: () if is_light(d) else ((d.seq,), (d.seq + 1,)))
        # Whatever happens, the run ends with what is numbered.
        self.blocked <= self.log(lambda d: (d.seq + 1,)).rename("seq").notin(self.log, seq="seq")
        self.barrier <= (self.blocked * self.due).pairs(
            lambda b, n: (b.seq,) if b.seq > n.seq else None
        ).rename("seq").group([], agg.min("seq"))
        self.temp.ready <= (self.log * self.due).lefts(seq="seq")
        self.temp.run <= (self.temp.ready * self.barrier).rights()
        self.decree <= (self.log * self.temp.run).pairs(lambda d, s: tuple(d) if d.seq < s.seq else None)
        self.log <- (self.log * self.decree).lefts(seq="seq")


def is_light(decree: Any) -> bool:
    """Tell whether a change can take effect together with others of other paths."""
    return decree.command in _LIGHT or (decree.command == "create" and not decree.arg)


def number_changes(changes: frozenset[Any], last: int, now: float) -> Iterator[tuple[Any, ...]]:
    """Number changes from ``last`` on, in an order that does not depend on hashes."""
    for number, change in enumerate(sorted(changes, key=lambda change: change[:2]), last + 1):
        yield (number, *change, now)
