"""Names for the streams of an extracted dataflow, each once, and what a declaration may call them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from clew.analysis.blazes.dataflow import Stream
from clew.errors import Position


@dataclass(frozen=True)
class Draft:
    """A stream that others may share its name with."""

    stream: Stream
    position: Position | None = field(default=None, compare=False)


def name_streams(drafts: Sequence[Draft]) -> tuple[list[Stream], dict[str, list[str]]]:
    """Return the streams with unique names, and those that are meant by each name, wanted or given."""
    wanted = Counter(draft.stream.name for draft in drafts)
    streams: list[Stream] = []
    known: dict[str, list[str]] = {}
    for draft in drafts:
        name = draft.stream.name
        # Short names where they are enough: users type them in --seal and read them in remedies.
        if wanted[name] > 1:
            ends = [end for end in (draft.stream.source, draft.stream.target) if end is not None]
            full = "-".join([name, *(f"{end.component}-{end.interface}" for end in ends)])
            # Into and out of one interface: a channel that only feeds itself.
            full = full if full not in known else f"{full}-out"
            known.setdefault(name, []).append(full)
            name = full
        known.setdefault(name, []).append(name)
        streams.append(replace(draft.stream, name=name, position=draft.position))
    return streams, known
