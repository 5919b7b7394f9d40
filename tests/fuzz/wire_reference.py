"""What a packet means, read byte by byte from the description of the format: slow, and nothing of the real reader.

Of the real reader's limits it has columns, depths and the size of numbers; not bytes and elements.
"""

from __future__ import annotations

import struct
from typing import Any


class StructureError(Exception):
    """The bytes are no values: nothing of the packet counts."""


class Refused:
    """In place of a value that no column can hold."""


class OpaqueLattice:
    """In place of the value of a lattice: it is not looked into."""


REFUSED, LATTICE = Refused(), OpaqueLattice()
_NUMBERS = {
    0xCA: ">f",
    0xCB: ">d",
    0xCC: ">B",
    0xCD: ">H",
    0xCE: ">I",
    0xCF: ">Q",
    0xD0: ">b",
    0xD1: ">h",
    0xD2: ">i",
    0xD3: ">q",
}


def messages(data: bytes) -> list[tuple[str, tuple[Any, ...]]]:
    """Return channel and row of each message that counts.  A row may contain ``LATTICE``."""
    if not data:
        raise StructureError
    at, values = 0, []
    while at < len(data):
        value, at = _read(data, at, 0)
        values.append(value)
    return [(value[1], value[2]) for value in values if _is_message(value)]


def _is_message(value: Any) -> bool:
    if type(value) is not tuple or len(value) != 3 or _has_refused(value):
        return False
    version, channel, row = value
    if type(version) is not int or version != 1 or type(channel) is not str or type(row) is not tuple:
        return False
    return len(row) <= 1000 and all(_depth(column) <= 51 for column in row)


def _has_refused(value: Any) -> bool:
    if isinstance(value, tuple | frozenset):
        return any(map(_has_refused, value))
    return value is REFUSED


def _depth(value: Any) -> int:
    """How many tuples and sets are around the innermost value."""
    if isinstance(value, tuple | frozenset):
        return 1 + max(map(_depth, value), default=0)
    return 1 if value is LATTICE else 0


def _take(data: bytes, at: int, size: int) -> tuple[bytes, int]:
    if at + size > len(data):
        raise StructureError
    return data[at : at + size], at + size


def _count(data: bytes, at: int, width: int) -> tuple[int, int]:
    digits, at = _take(data, at, width)
    return int.from_bytes(digits), at


def _read(data: bytes, at: int, extensions: int) -> tuple[Any, int]:
    (first,), at = _take(data, at, 1)
    if first <= 0x7F or first >= 0xE0:
        return (first if first <= 0x7F else first - 256), at
    if first in (0xC0, 0xC2, 0xC3):
        return {0xC0: None, 0xC2: False, 0xC3: True}[first], at
    if first in _NUMBERS:
        return _number(data, at, _NUMBERS[first])
    if first <= 0x9F or 0xDC <= first <= 0xDF:
        return _items(data, at, first, extensions)
    if first <= 0xBF or 0xD9 <= first <= 0xDB or 0xC4 <= first <= 0xC6:
        return _text(data, at, first)
    if 0xC7 <= first <= 0xC9 or 0xD4 <= first <= 0xD8:
        size, at = _count(data, at, 1 << first - 0xC7) if first <= 0xC9 else (1 << first - 0xD4, at)
        (code,), at = _take(data, at, 1)
        content, at = _take(data, at, size)
        return _extension(code, content, extensions), at
    raise StructureError


def _number(data: bytes, at: int, layout: str) -> tuple[Any, int]:
    digits, at = _take(data, at, struct.calcsize(layout))
    (value,) = struct.unpack(layout, digits)
    too_large = isinstance(value, int) and value >= 2**63
    return (REFUSED if value != value or too_large else value), at


def _items(data: bytes, at: int, first: int, extensions: int) -> tuple[Any, int]:
    is_map = first <= 0x8F or first >= 0xDE
    if first <= 0x9F:
        number = first & 15
    else:
        number, at = _count(data, at, 4 if first in (0xDD, 0xDF) else 2)
    found = []
    for _ in range(2 * number if is_map else number):
        value, at = _read(data, at, extensions)
        found.append(value)
    return (REFUSED if is_map else tuple(found)), at


def _text(data: bytes, at: int, first: int) -> tuple[Any, int]:
    is_bytes = first <= 0xC6 and first >= 0xC4
    if first <= 0xBF:
        size = first & 31
    else:
        size, at = _count(data, at, 1 << first - (0xC4 if is_bytes else 0xD9))
    content, at = _take(data, at, size)
    if is_bytes:
        return content, at
    try:
        return content.decode(), at
    except UnicodeDecodeError:
        return REFUSED, at


def _extension(code: int, content: bytes, around: int) -> Any:
    if code not in (1, 2) or around >= 8:
        return REFUSED
    try:
        value, end = _read(content, 0, around + 1)
    except StructureError:
        return REFUSED
    if end != len(content) or type(value) is not tuple or _has_refused(value):
        return REFUSED
    return frozenset(value) if code == 1 else LATTICE
