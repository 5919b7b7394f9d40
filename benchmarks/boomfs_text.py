"""A text of any size with a seed, of which it is known how often each word is in it."""

from __future__ import annotations

from collections import Counter
from itertools import accumulate
from pathlib import Path
from random import Random

#: The text is this much of it, over and over, beginning somewhere else each time.
_PART = 8 * 2**20
_WORDS = 5_000
_WORDS_IN_LINE = 12


def write_text(path: Path, parts: int, seed: int = 0) -> Counter[bytes]:
    """Write a text of so many parts of 8 MB; return how often each word is in it."""
    chance = Random(seed)
    vocabulary = [
        "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(2, 9))) for _ in range(_WORDS)
    ]
    # As in a language: the second word is half as frequent as the first one, and so on.
    weights = list(accumulate(1 / rank for rank in range(1, _WORDS + 1)))
    lines: list[str] = []
    size = 0
    while size < _PART:
        lines.append(" ".join(chance.choices(vocabulary, cum_weights=weights, k=_WORDS_IN_LINE)))
        size += len(lines[-1]) + 1
    with path.open("wb") as file:
        for _ in range(parts):
            begin = chance.randrange(len(lines))
            file.write(("\n".join(lines[begin:] + lines[:begin]) + "\n").encode())
    once = Counter(word for line in lines for word in line.encode().split())
    return Counter({word: count * parts for word, count in once.items()})
