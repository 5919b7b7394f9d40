"""Rows as bytes: what nodes send to each other, and what durable tables keep.

A message is the msgpack array ``[1, channel, row]``, where 1 is the version of this format; messages follow each
other in a packet.  A packet is a datagram, or the body of a frame on a connection: four bytes with the length of
the body, the most significant first, and the body.  Sets are the extension type 1: a packed array of their items
in ``sort_key`` order; values of lattices are the extension type 2: the name of the lattice and the rows of its
elements.  Maps and other extension types are not used and are refused.

Whatever arrives is taken for hostile: sizes and depths are bounded, and no memory is reserved for items that a
packet announces and does not contain.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn

import msgpack  # type: ignore[import-untyped]  # it ships no types; nothing else imports it

from clew.bloom.lattices import LATTICES, Lattice
from clew.bloom.values import LARGEST_INTEGER, BadValueError, Row, frozen_row, sort_key

VERSION = 1
#: The largest packet, in bytes.
LARGEST_PACKET = 16 * 2**20
#: The most columns of a row that is sent.
MOST_COLUMNS = 1000
#: Sets and lattices inside of each other: each level is a packed copy within the one above.
_DEEPEST_EXTENSION = 8
_SET, _LATTICE = 1, 2
_LENGTH = struct.Struct(">I")


class NotSentError(ValueError):
    """A row that cannot be written down; the message says why."""


class GarbageError(ValueError):
    """Bytes that are no message; the message is the reason, one of a few that can be counted."""


@dataclass(frozen=True)
class Message:
    """A row for a channel."""

    channel: str
    row: Row


@dataclass(frozen=True)
class Packet:
    """What a packet contained.  ``garbage``: a reason for each message that was dropped."""

    messages: tuple[Message, ...]
    garbage: tuple[str, ...] = ()


# -- writing -----------------------------------------------------------------------------------------------------


def encoded(channel: str, row: Row) -> bytes:
    """One message."""
    if len(row) > MOST_COLUMNS:
        raise NotSentError(f"it has {len(row)} columns, more than {MOST_COLUMNS}")
    data = packed((VERSION, channel, row))
    if len(data) > LARGEST_PACKET:
        raise NotSentError(f"it takes {len(data)} bytes, more than {LARGEST_PACKET}")
    return data


def packed(value: Any) -> bytes:
    """A value of a column, or a row."""
    try:
        data: bytes = msgpack.packb(value, default=_extended)
    except (ValueError, OverflowError, TypeError) as error:
        raise NotSentError(str(error)) from None
    return data


def _extended(value: Any, depth: int = 1) -> msgpack.ExtType:
    if depth > _DEEPEST_EXTENSION:
        raise NotSentError(f"sets are nested more than {_DEEPEST_EXTENSION} deep")
    code: int
    content: Any
    if isinstance(value, frozenset):
        code, content = _SET, sorted(value, key=sort_key)
    elif isinstance(value, Lattice):
        code, content = _LATTICE, (value.name, value.elements())
    else:
        raise NotSentError(f"{type(value).__name__} cannot be written down")
    return msgpack.ExtType(code, msgpack.packb(content, default=partial(_extended, depth=depth + 1)))


def batched(messages: Iterable[bytes], limit: int) -> Iterator[bytes]:
    """Messages joined to packets of at most this size; a larger message is a packet of its own."""
    waiting: list[bytes] = []
    size = 0
    for data in messages:
        if waiting and size + len(data) > limit:
            yield b"".join(waiting)
            waiting, size = [], 0
        waiting.append(data)
        size += len(data)
    if waiting:
        yield b"".join(waiting)


def framed(packet: bytes) -> bytes:
    """A packet as it is sent on a connection."""
    return _LENGTH.pack(len(packet)) + packet


# -- reading -----------------------------------------------------------------------------------------------------


def decoded(data: bytes) -> Packet:
    """The messages of a packet.  One that is wrong in itself is left out; one without end spoils the packet."""
    try:
        ends = _ends(data)
    except GarbageError as error:
        return Packet((), (str(error),))
    messages: list[Message] = []
    garbage: list[str] = []
    begin = 0
    for end in ends:
        try:
            messages.append(_message(data if len(ends) == 1 else data[begin:end]))
        except GarbageError as error:
            garbage.append(str(error))
        begin = end
    return Packet(tuple(messages), tuple(garbage))


def unpacked(data: bytes) -> Row:
    """The row that ``packed`` wrote."""
    if len(_ends(data)) != 1:
        raise GarbageError("not one value")
    return _row(_value(data))


def _message(data: bytes) -> Message:
    value = _value(data)
    if type(value) is not tuple or len(value) != 3:
        raise GarbageError("no message")
    version, channel, row = value
    if type(version) is not int or type(channel) is not str or type(row) is not tuple:
        raise GarbageError("no message")
    if version != VERSION:
        raise GarbageError("other version")
    if len(row) > MOST_COLUMNS:
        raise GarbageError("too many columns")
    return Message(channel, _row(row))


def _row(value: Any) -> Row:
    if not isinstance(value, tuple):
        raise GarbageError("no message")
    for column in value:  # most rows are plain, and this is a quarter of the time that frozen_row takes
        kind = type(column)
        if kind is not str and kind is not bytes and not (kind is int and column <= LARGEST_INTEGER):
            break
    else:
        return value
    try:
        return frozen_row(value)
    except BadValueError:
        raise GarbageError("bad value") from None


def _ends(data: bytes) -> Sequence[int]:
    """Where each value ends.  Nothing is built yet: a header may announce more items than there are bytes."""
    if not data:
        raise GarbageError("empty")
    if len(data) > LARGEST_PACKET:
        raise GarbageError("too large")
    scanner = msgpack.Unpacker(max_buffer_size=len(data))
    scanner.feed(data)
    ends: list[int] = []
    try:
        while not ends or ends[-1] < len(data):
            scanner.skip()
            ends.append(scanner.tell())
    except msgpack.OutOfData:
        raise GarbageError("incomplete") from None
    except msgpack.StackError:
        raise GarbageError("too deep") from None
    except (msgpack.UnpackException, ValueError):
        raise GarbageError("not msgpack") from None
    return ends


def _value(data: bytes, depth: int = 1) -> Any:
    try:
        return msgpack.unpackb(
            data,
            use_list=False,
            strict_map_key=False,
            object_pairs_hook=_no_map,
            ext_hook=partial(_extension, depth=depth),
        )
    except GarbageError:
        raise
    except UnicodeDecodeError:
        raise GarbageError("not UTF-8") from None
    except (msgpack.UnpackException, ValueError, TypeError, OverflowError):
        raise GarbageError("not msgpack") from None


def _no_map(pairs: object) -> NoReturn:
    raise GarbageError("bad value")


def _extension(code: int, data: bytes, depth: int) -> Any:
    if code not in (_SET, _LATTICE):
        raise GarbageError("bad value")
    if depth > _DEEPEST_EXTENSION:
        raise GarbageError("too deep")
    if len(_ends(data)) != 1:
        raise GarbageError("bad value")
    content = _value(data, depth + 1)
    if not isinstance(content, tuple):
        raise GarbageError("bad value")
    return frozenset(content) if code == _SET else _lattice(content)


def _lattice(content: tuple[Any, ...]) -> Lattice:
    try:
        name, rows = content
        lattice: type[Lattice] = LATTICES[name]
        return lattice.merge_all([lattice.of_row(frozen_row(row)) for row in rows])
    except (ValueError, TypeError, LookupError, AttributeError):  # rows of something else
        raise GarbageError("bad value") from None


class Frames:
    """The packets in a stream of bytes, whatever pieces it arrives in."""

    def __init__(self) -> None:
        self._waiting = bytearray()

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The packets that are complete now; GarbageError if the next one is too large, and the stream is lost."""
        waiting = self._waiting
        waiting += data
        while len(waiting) >= _LENGTH.size:
            (size,) = _LENGTH.unpack_from(waiting)
            if size > LARGEST_PACKET:
                raise GarbageError("too large")
            end = _LENGTH.size + size
            if len(waiting) < end:
                return
            packet = bytes(waiting[_LENGTH.size : end])
            del waiting[:end]
            yield packet

    @property
    def waiting(self) -> int:
        """The bytes of a packet that is not complete."""
        return len(self._waiting)
