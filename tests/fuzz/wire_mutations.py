"""Packets that are almost right: valid ones, changed in their structure or in their bytes, from a seed."""

from __future__ import annotations

import random
import struct
from typing import Any

import msgpack  # type: ignore[import-untyped]

_CHANNELS = ["ping", "pong", "seen", "nothing", "", "x" * 300]
_EDGES: list[Any] = [
    *[None, True, False, 0, -1, 127, 128, 2**31, 2**63 - 1, 2**63, 2**64 - 1, -(2**63), 0.0, -0.0],
    *[1.5, float("nan"), float("inf"), "", "x", "\0", "ü" * 20, b"", b"\xff" * 40, "127.0.0.1:9", "x" * 300],
]
_HEADERS = [
    *[b"\xdc\xff\xff", b"\xdd\x7f\xff\xff\xff", b"\xde\xff\xff", b"\xdf\xff\xff\xff\xff", b"\xc6\xff\xff\xff\xff"],
    *[b"\xdb\x7f\xff\xff\xff", b"\xc9\x7f\xff\xff\xff\x01", b"\xc9\xff\xff\xff\xff\x01"],
    *[b"\xc7\xff\x02", b"\xc1", b"\xd8\x01", b"\xd4\x02"],
]


def packet(seed: str) -> bytes:
    """Return the packet of this seed: the same one on every machine."""
    source = random.Random(seed)
    data = b"".join(_message(source) for _ in range(source.choice([1, 1, 1, 2, 5, 12])))
    if source.random() < 0.05:
        data = _greeting(source)
    for _ in range(source.choice([0, 0, 1, 1, 2, 4])):
        data = source.choice(_BYTE_CHANGES)(source, data)
    return data


def frames(seed: str) -> bytes:
    """Return what is sent on a connection: frames, some with a wrong length or cut off."""
    source = random.Random(seed)
    made = b""
    for number in range(source.choice([1, 1, 2, 5])):
        body = packet(f"{seed}/{number}")
        size = (
            len(body) if source.random() < 0.8 else source.choice([0, 1, len(body) + 1, 2**20, 2**24, 2**32 - 1])
        )
        made += struct.pack(">I", size) + body
    return made[: source.randrange(len(made) + 1)] if source.random() < 0.2 else made


# -- structure ---------------------------------------------------------------------------------------------------


def _message(source: random.Random) -> bytes:
    row = [_value(source, 0) for _ in range(source.choice([0, 1, 2, 3, 3, 3, 4]))]
    parts: list[Any] = [1, source.choice(_CHANNELS), row]
    if source.random() < 0.1:
        parts[source.randrange(3)] = _value(source, 0)
    if source.random() < 0.05:
        parts.append(_value(source, 0))
    if source.random() < 0.02:
        row.extend([0] * 1_000)
    data: bytes = msgpack.packb(parts)
    return data


def _value(source: random.Random, depth: int) -> Any:
    kind = source.random()
    if kind < 0.6 or depth > 3:
        return source.choice(_EDGES) if source.random() < 0.5 else source.randrange(-1000, 1000)
    if kind < 0.75:
        return [
            _value(source, depth + 1)
            for _ in range(source.choice([0, 1, 2, 15, 16, 40] if depth == 0 else [0, 1, 2, 3]))
        ]
    if kind < 0.78:
        return {
            str(k): _value(source, depth + 1)
            for k in range(source.choice([0, 1, 16] if depth == 0 else [0, 1, 2]))
        }
    if kind < 0.8:
        value = _value(source, depth + 1)
        for _ in range(source.choice([5, 30, 48, 50, 52, 60])):
            value = [value]
        return value
    return _extension(source, depth)


def _extension(source: random.Random, depth: int) -> Any:
    if source.random() < 0.2:
        return msgpack.ExtType(
            source.choice([1, 2, 3, 127]), source.randbytes(source.choice([0, 1, 2, 4, 8, 16, 50]))
        )
    items = [_value(source, depth + 1) for _ in range(source.choice([0, 1, 3, 20] if depth == 0 else [0, 1, 2]))]
    if source.random() < 0.3:
        name = source.choice(["lmax", "lset", "lbag", "lbool", "lmap", "none"])
        return msgpack.ExtType(2, msgpack.packb([name, [[item] for item in items]]))
    content = msgpack.packb(items)
    for _ in range(source.choice([0, 0, 0, 2, 7, 8, 9])):
        content = msgpack.packb([msgpack.ExtType(1, content)])
    return msgpack.ExtType(1, content)


def _greeting(source: random.Random) -> bytes:
    return (
        b"\xc1"
        + bytes([source.choice([1, 2, 3, 4, 5])])
        + source.randbytes(source.choice([0, 8, 16, 40, 48, 100]))
    )


# -- bytes -------------------------------------------------------------------------------------------------------


def _flip(source: random.Random, data: bytes) -> bytes:
    if not data:
        return data
    at = source.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << source.randrange(8)]) + data[at + 1 :]


def _cut(source: random.Random, data: bytes) -> bytes:
    return data[: source.randrange(len(data) + 1)]


def _insert(source: random.Random, data: bytes) -> bytes:
    at = source.randrange(len(data) + 1)
    return data[:at] + source.choice([*_HEADERS, source.randbytes(source.randrange(9))]) + data[at:]


def _overwrite(source: random.Random, data: bytes) -> bytes:
    at = source.randrange(len(data) + 1)
    new = source.choice(_HEADERS)
    return data[:at] + new + data[at + len(new) :]


def _repeat(source: random.Random, data: bytes) -> bytes:
    begin = source.randrange(len(data) + 1)
    end = min(len(data), begin + source.choice([1, 2, 5, 100]))
    return data[:begin] + data[begin:end] * source.choice([2, 10, 100]) + data[end:]


def _swap(source: random.Random, data: bytes) -> bytes:
    first, second = sorted((source.randrange(len(data) + 1), source.randrange(len(data) + 1)))
    return data[second:] + data[first:second] + data[:first]


_BYTE_CHANGES = [_flip, _flip, _flip, _cut, _insert, _overwrite, _repeat, _swap]
