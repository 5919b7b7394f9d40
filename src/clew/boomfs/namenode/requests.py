"""What a request of the metadata protocol may look like, whoever sent it.

A NameNode takes rows from the network, so what is not as the rules expect it is refused before it becomes a
decree: the rules below may then use what is in it.
"""

from __future__ import annotations

from typing import Any

from clew.boomfs.messages import CHANGES, READS
from clew.boomfs.paths import is_normal_path

_MOST_ADDRESSES = 64
_LONGEST_ADDRESS = 300


def is_request(session: Any, number: Any, command: Any, path: Any, arg: Any) -> bool:
    """Tell whether a request can be understood."""
    if not (_is_text(session) and _is_count(number) and _is_text(command) and is_normal_path(path)):
        return False
    # A session of the NameNode itself has a name that nobody else may use.
    if session.startswith("!"):
        return False
    match command:
        case "create" | "remove":
            return isinstance(arg, bool)
        case "rename":
            return is_normal_path(arg)
        case "add_chunk":
            return isinstance(arg, tuple) and len(arg) == 2 and _is_count(arg[0]) and _are_addresses(arg[1])
        case "seal":
            return (
                isinstance(arg, tuple)
                and len(arg) == 3
                and _is_count(arg[0])
                and _is_count(arg[1])
                and _are_addresses(arg[2])
            )
        case "abandon" | "locations":
            return _is_count(arg)
        case _:
            return command in READS | CHANGES and arg is None


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= _LONGEST_ADDRESS


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**62


def _are_addresses(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) <= _MOST_ADDRESSES and all(map(_is_text, value))
