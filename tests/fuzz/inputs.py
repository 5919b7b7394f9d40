"""What a fuzzer gives to a command."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

#: Seconds for one input, of which its command knows.
LIMIT = 1

LIMITED = ("--time-limit", str(LIMIT))


@dataclass(frozen=True)
class Input:
    """A command line, and what is in the files that it names."""

    arguments: tuple[str, ...]
    files: Mapping[str, bytes] = field(default_factory=dict)
