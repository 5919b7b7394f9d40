"""What a cluster is set to: sizes, numbers of replicas, and how long it waits for whom."""

from __future__ import annotations

from dataclasses import dataclass

from clew.errors import UsageError


@dataclass(frozen=True)
class Policy:
    """``chunk_size`` in bytes; ``replicas`` of each chunk; ``silence``: seconds until a DataNode is given up.

    ``least_free``: no chunk goes where less is free, in bytes.  ``lease``: a chunk that nobody finished is given
    up after so many seconds.
    """

    chunk_size: int = 64 * 2**20
    replicas: int = 3
    silence: float = 5.0
    least_free: int = 2**20
    lease: float = 3600.0

    def __post_init__(self) -> None:
        if not 1 <= self.chunk_size <= LARGEST_CHUNK:
            raise UsageError(
                f"chunks of {self.chunk_size} bytes", remedy=f"give a size from 1 to {LARGEST_CHUNK} bytes"
            )
        if not 1 <= self.replicas <= 16:
            raise UsageError(f"{self.replicas} replicas of each chunk", remedy="give a number from 1 to 16")


#: Chunk numbers with the same quotient are reported together.
CHUNKS_IN_PAGE = 256
#: What a DataNode takes in one chunk, whoever sends it.
LARGEST_CHUNK = 2**30
DEFAULT_POLICY = Policy()
