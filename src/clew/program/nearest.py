"""The known name that a misspelt one probably means."""

from __future__ import annotations

from collections.abc import Iterable

#: Below this similarity a suggestion misleads more often than it helps: 'ack' is near 'acks', not near 'alive'.
_SIMILAR = 0.6


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """Return the name of ``known`` that is most like ``name``, or None if none is.

    ``name`` itself is no answer.  Of equally similar names the first in the order of the alphabet is returned, so
    that the answer does not depend on the order (of a set, for example) in which ``known`` comes.
    """
    from difflib import SequenceMatcher  # only programs with a name that needs this pay for its import

    # Not get_close_matches: among equally similar names it prefers the last.
    matcher = SequenceMatcher(autojunk=False, b=name.casefold())
    best, nearest = _SIMILAR, None
    for other in sorted(set(known) - {name}, reverse=True):
        matcher.set_seq1(other.casefold())  # capitals are a misspelling like any other
        if matcher.quick_ratio() >= best and matcher.ratio() >= best:
            best, nearest = matcher.ratio(), other
    return nearest
