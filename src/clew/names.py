"""How names and values are shown to people.

The node 1 and the node "1" are two nodes, and so are "a, b" and the pair a, b.  Every report shows a value with
``show``, so that two that differ never look the same.  This module imports nothing of Clew.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_NUMBER = re.compile("-?[0-9]+")

#: What can stand between commas without being taken for more or less than it is.
_PLAIN = re.compile(r"""[^ ,"](?:[^,]*[^ ,])?""")


def looks_like_number(text: str) -> bool:
    """Return whether the language reads this text, without quotes around it, as a number."""
    return _NUMBER.fullmatch(text) is not None


def show(value: object) -> str:
    """Return a value as it is shown.  A string is quoted if it could be mistaken for something else."""
    if not isinstance(value, str) or (
        _PLAIN.fullmatch(value) and not looks_like_number(value) and value != "None"
    ):
        return str(value)
    return quote(value)


def quote(text: str) -> str:
    """Return a string in quotes; a quote in it is written twice."""
    return '"' + text.replace('"', '""') + '"'


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


def harmless(text: str, *, breaks: str = "\n") -> str:
    """Write what a terminal would obey, but ``breaks``, as Python does: names in files are not trusted."""
    return "".join(c if c.isprintable() or c in breaks else ascii(c)[1:-1] for c in text)


def in_one_line(name: str) -> str:
    """Return the name of a file for a sentence: in one line, and nothing that a terminal would obey."""
    return harmless(name, breaks="")
