"""The two ways in which a file is not accepted."""

from __future__ import annotations


class UnreadableError(Exception):
    """This is no file with a proof, or one that is too large to look at."""


class RefusedError(Exception):
    """What the file has does not prove what it should."""
