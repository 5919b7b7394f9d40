"""How names and values are shown to people.

The node 1 and the node "1" are two nodes, and so are "a, b" and the pair a, b.  Every report shows a value with
``show``, so that two that differ never look the same.  This module imports nothing of Clew.
"""

from __future__ import annotations

import re

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
