"""What a node spends on others at most.  Each of these can be exceeded by who attacks it, and by nobody else."""

from __future__ import annotations

from dataclasses import dataclass, fields

from clew.errors import UsageError


@dataclass(frozen=True)
class Limits:
    """Bounds for what arrives and for what waits; ``Bloom(..., limits=Limits(frame=8 * 2**20))``.

    ``frame``: bytes of the largest row; a row that does not fit is not sent, and refused where it arrives.
    ``elements``: numbers, texts, tuples and sets in one packet, nested ones included.  Decoding takes some
    microseconds for each, during which the node does nothing else.
    ``connections``: from others, and as many to others.  When one more comes, the idlest goes.
    ``frame_seconds``: from the first byte of a frame to the last, and from a connection to its first frame.
    ``idle_seconds``: between two frames.
    ``unfinished``: bytes of frames that have not arrived completely, of all connections together.
    ``unsent``: bytes that wait for one peer that does not read, and for all addresses that have not answered yet.
    ``log_lines``: of one kind within ten seconds; the others are counted.
    """

    frame: int = 2**20
    elements: int = 2**15
    connections: int = 256
    frame_seconds: float = 10.0
    idle_seconds: float = 60.0
    unfinished: int = 64 * 2**20
    unsent: int = 64 * 2**20
    log_lines: int = 10

    def __post_init__(self) -> None:
        for field in fields(self):
            given = getattr(self, field.name)
            if isinstance(given, bool) or not isinstance(given, int | float) or given <= 0:
                raise UsageError(f"the limit {field.name} is {given!r}", remedy="give a number greater than 0")
        if self.frame >= 2**32:
            raise UsageError(f"the limit frame is {self.frame}", remedy="a frame has less than 4 GiB")


DEFAULT_LIMITS = Limits()
