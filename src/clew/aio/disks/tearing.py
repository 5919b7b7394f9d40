"""What is left of a file that was not synced when its host crashed.

As file systems do it: a part of what was appended may be there, and of what was overwritten some sectors. What
was synced stays. Names are kept: a file that was renamed has its new name, with whatever is left of its
content."""

from __future__ import annotations

from random import Random

#: Is written as a whole, or not at all.
SECTOR = 512


def tear(synced: bytes, written: bytes, random: Random) -> bytes:
    """Return what is left of ``written`` where ``synced`` is certain: nothing of the rest, all, or a part."""
    fate = random.choice(("lost", "part", "kept"))
    if fate == "lost" or synced == written:
        return synced
    if fate == "kept":
        return written
    size = random.randint(*sorted((len(synced), len(written))))
    torn = bytearray(written[:size])
    torn += synced[len(torn) : size]
    for start in range(0, min(len(synced), size), SECTOR):
        end = min(start + SECTOR, len(synced), size)
        if random.random() < 0.5:
            torn[start:end] = synced[start:end]
    return bytes(torn)
