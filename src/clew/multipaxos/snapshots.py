"""A replica that is too far behind gets the state of another one, instead of decrees that are no longer kept.

The state at a position is what all requests before it made of it: the sessions, and what the application puts
into ``state`` when there is a row in ``photograph``.  Nothing is read in that step, so that both belong
together.  It is packed into pieces, which may be lost, repeated and come from several replicas: they belong to a
state by its position and a digest of all of it.  With the last piece there are rows in ``install``, each once,
together with one in ``installing``; the application makes them its state with ``<+`` and deletes the rest with
``<-``, and in the same step the node is at the new position.
"""

from __future__ import annotations

import hashlib
from typing import Any

from clew.bloom import agg, bloom, channel, interface, scratch, table
from clew.bloom.values import sort_rows, spell
from clew.multipaxos.catching_up import CatchingUp
from clew.multipaxos.sessions import Sessions, weigh

HEAD, APPLICATION, SESSION = "head", "application", "session"


class Snapshots(Sessions, CatchingUp):
    """The application fills ``state`` with tuples, and takes the same out of ``install``."""

    #: How much a piece weighs, about.
    piece_weight = 200_000

    photograph = interface.output("why")
    state = interface.input("part")
    installing = interface.output("instance", "place")
    install = interface.output("part")

    piece = channel("@node", "instance", "place", "digest", "count", "number", "parts")
    pieces = table("instance", "place", "digest", "count", "number", "parts")
    all_parts = scratch("part")
    whole = scratch("instance", "place", "digest")
    new_parts = scratch("part")

    @bloom
    def photograph_state(self) -> None:
        piece_weight = self.piece_weight
        self.photograph <= self.too_far_behind(lambda t: ("a replica is too far behind",))
        self.still <= self.photograph
        # So that there is a part if nothing has happened yet.
        self.all_parts <= self.photograph(lambda p: ((HEAD, None),))
        self.all_parts <= self.state(lambda s: ((APPLICATION, s.part),))
        self.temp.sessions <= (self.done * self.photograph).lefts()
        self.all_parts <= self.temp.sessions(lambda d: ((SESSION, (d.client, d.number, d.answer)),))
        self.temp.album <= self.all_parts.group([], parts=agg.accum("part"))
        self.temp.prints <= (self.here * self.temp.album).pairs(lambda h, a: (h.instance, h.place, a.parts))
        self.temp.cut <= self.temp.prints.flat_map(lambda p: cut_state(p, piece_weight)).rename(
            "instance", "place", "digest", "count", "number", "parts"
        )
        self.piece <~ (self.too_far_behind * self.temp.cut).pairs(lambda t, c: (t.node, *c))

    @bloom
    def collect_pieces(self) -> None:
        self.temp.useful <= (self.piece * self.here).pairs(
            lambda p, h: p if (p.instance, p.place) > (h.instance, h.place) else None
        )
        self.pieces <= self.temp.useful(lambda p: (p.instance, p.place, p.digest, p.count, p.number, p.parts))
        self.temp.found <= self.pieces.group(["instance", "place", "digest", "count"], found=agg.count("number"))
        self.temp.all_found <= self.temp.found(
            lambda f: (f.instance, f.place, f.digest) if f.found == f.count else None
        )
        self.temp.newest_state <= (
            self.temp.all_found.argmax([], "instance").argmax([], "place").argmin([], "digest")
        )
        self.whole <= (self.temp.newest_state * self.here).pairs(
            lambda w, h: w if (w.instance, w.place) > (h.instance, h.place) else None
        )
        self.pieces <- (self.pieces * self.here).pairs(
            lambda p, h: p if (p.instance, p.place) <= (h.instance, h.place) else None
        )

    @bloom
    def install_state(self) -> None:
        self.installing <= self.whole.project("instance", "place")
        self.still <= self.installing(lambda i: ("a state is installed",))
        self.new_parts <= (self.pieces * self.whole).lefts(
            instance="instance", place="place", digest="digest"
        ).flat_map(lambda p: [(part,) for part in p.parts])
        self.install <= self.new_parts(lambda n: (n.part[1],) if n.part[0] == APPLICATION else None)
        self.done <- (self.done * self.installing).lefts()
        self.done <+ self.new_parts(lambda n: n.part[1] if n.part[0] == SESSION else None)
        self.reached <+ self.installing


def cut_state(state: Any, most: int) -> list[tuple[Any, ...]]:
    """Return the pieces of a state: its position, a digest of all parts, how many pieces there are, and which."""
    parts = sort_rows(state.parts)
    digest = hashlib.blake2b(spell(tuple(parts)).encode(), digest_size=16).hexdigest()
    pieces: list[list[Any]] = [[]]
    weight = 0
    for part in parts:
        weight += weigh(part)
        if pieces[-1] and weight > most:
            pieces.append([])
            weight = weigh(part)
        pieces[-1].append(part)
    return [
        (state.instance, state.place, digest, len(pieces), number, tuple(piece))
        for number, piece in enumerate(pieces)
    ]
