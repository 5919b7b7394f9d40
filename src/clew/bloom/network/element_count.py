"""How many values a msgpack text has, counted before any of them is built.

``msgpack`` bounds each array by itself; a frame of a million arrays of one item passes that and takes fifty times
its size.  Counting needs the headers only, and ends as soon as there are too many.
"""

from __future__ import annotations

from collections.abc import Collection

#: Bytes of a value with a fixed size, its first byte included.
_FIXED = {
    **dict.fromkeys([*range(0x80), 0xC0, 0xC2, 0xC3, *range(0xE0, 0x100)], 1),
    **dict.fromkeys([0xCC, 0xD0], 2),
    **dict.fromkeys([0xCD, 0xD1], 3),
    **dict.fromkeys([0xCA, 0xCE, 0xD2], 5),
    **dict.fromkeys([0xCB, 0xCF, 0xD3], 9),
    **{0xA0 + size: 1 + size for size in range(32)},
    **dict.fromkeys(range(0x80, 0xA0), 1),  # the header of a small map or array: its items follow
    **dict.fromkeys([0xDC, 0xDE], 3),  # likewise
    **dict.fromkeys([0xDD, 0xDF], 5),
}
#: How many bytes say how long a text or a byte string is.
_COUNTED = {0xC4: 1, 0xC5: 2, 0xC6: 4, 0xD9: 1, 0xDA: 2, 0xDB: 4}
_EXTENSION = {0xC7: 1, 0xC8: 2, 0xC9: 4}
#: The header of an extension of the greatest length, which ``msgpack`` takes for one of length 0.
LONGEST_EXTENSION = b"\xc9\xff\xff\xff\xff"
_FIXED_EXTENSION = {0xD4: 1, 0xD5: 2, 0xD6: 4, 0xD7: 8, 0xD8: 16}


def has_more_elements(data: bytes, limit: int, nested: Collection[int]) -> bool:
    """Return whether there are more than ``limit`` values; those in extensions of the codes ``nested`` count, too.

    Data that is not msgpack, or ends too early, has those that were counted up to there: reading it fails there.
    Where it would not (see ``LONGEST_EXTENSION``), what follows is not counted, so that this is too much.
    """
    count, at, end = 0, 0, len(data)
    outer: list[int] = []  # where the extensions end that the position is in
    while True:
        while at >= end:
            if not outer:
                return False
            at, end = end, outer.pop()  # a value that reaches beyond its extension hides nothing that follows
        count += 1
        if count > limit:
            return True
        first = data[at]
        size = _FIXED.get(first)
        if size is not None:
            at += size
        elif first in _COUNTED:
            width = _COUNTED[first]
            at += 1 + width + int.from_bytes(data[at + 1 : at + 1 + width])
        elif first == LONGEST_EXTENSION[0] and not outer and data.startswith(LONGEST_EXTENSION, at):
            return True
        else:
            body = _extension(data, at, first)
            if body is None:
                if not outer:
                    return False
                at = end  # only what is in this extension cannot be read
                continue
            code, begin, size = body
            at = begin + size
            if code in nested and size:
                outer.append(end)
                at, end = begin, min(begin + size, end)


def _extension(data: bytes, at: int, first: int) -> tuple[int, int, int] | None:
    """Return its code, where its content begins and how long that is; None if there is none."""
    width = _EXTENSION.get(first, 0)
    size = int.from_bytes(data[at + 1 : at + 1 + width]) if width else _FIXED_EXTENSION.get(first, 0)
    begin = at + 2 + width
    if not (width or size) or begin > len(data):
        return None
    return data[begin - 1], begin, size
