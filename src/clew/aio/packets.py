"""What travels between simulated hosts: datagrams, and the segments of streams.

A stream is known by the host that opened it and a number there.  Segments of each direction are counted, so that
whoever gets them can put them in order; what is lost is sent again by its sender (``connections``), as TCP does.

``label`` is for people.  ``unit`` is what a fault hits: all packets of one unit, whenever they are sent (again).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

#: Source, target, kind and how many-th: what the injection of faults takes for the name of a message.
Unit = tuple[str, str, str, int]


@dataclass(frozen=True)
class Datagram:
    """One datagram, from port to port."""

    data: bytes
    source: str
    source_port: int
    address: str
    port: int
    label: str = ""


@dataclass(frozen=True)
class Segment:
    """A part of a stream, or of its beginning and end: the ``nth`` packet of its side.

    ``opener`` and ``number`` name the connection, ``is_reply`` says that it comes from the side that was called.
    """

    opener: str
    number: int
    is_reply: bool
    nth: int
    unit: Unit | None
    label: str

    @property
    def __fault_unit__(self) -> Unit | None:
        """Return what a fault hits that hits this."""
        return self.unit


@dataclass(frozen=True)
class Connect(Segment):
    """Ask for a connection."""

    source: str
    source_port: int
    address: str
    port: int


@dataclass(frozen=True)
class Accepted(Segment):
    """Agree to a connection."""


@dataclass(frozen=True)
class Data(Segment):
    """Bytes of a stream.

    Of a secret nothing is ``seen``: ciphertext differs from run to run, and is carried beside the packet.
    """

    seen: bytes
    is_secret: bool = False


@dataclass(frozen=True)
class Finish(Segment):
    """Nothing more comes from this side."""


@dataclass(frozen=True)
class Reset(Segment):
    """The connection is no more, or never was: ``is_refusal``."""

    is_refusal: bool = False


@dataclass(frozen=True)
class Window(Segment):
    """So many bytes were taken by the program in all; it has room for more."""

    taken: int


#: What recordings may contain.
PACKETS: tuple[type[Any], ...] = (Datagram, Connect, Accepted, Data, Finish, Reset, Window)
