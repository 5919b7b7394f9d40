"""Rows as bytes: what nodes send to each other, and what durable tables keep.

A message is the msgpack array ``[1, channel, row]``, where 1 is the version of this format; messages follow each
other in a packet.  A packet is a datagram, or the body of a frame on a connection: four bytes with the length of
the body, the most significant first, and the body.  Sets are the extension type 1: a packed array of their items
in canonical order (``sort_values``); values of lattices are the extension type 2: the name of the lattice and the
rows of its elements.  Maps and other extension types are not used and are refused.

Whatever arrives is taken for hostile: bytes, elements and depths are bounded before anything is built, and no
memory is reserved for items that a packet announces and does not contain.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn

import msgpack  # type: ignore[import-untyped]  # it ships no types; nothing else imports it

from clew.bloom.lattices.containers import LATTICES, Lattice
from clew.bloom.network.element_count import LONGEST_EXTENSION, has_more_elements
from clew.bloom.network.limits import DEFAULT_LIMITS, Limits
from clew.bloom.values import DEEPEST, LARGEST_INTEGER, Row, freeze_row, sort_values

VERSION = 1
#: The most columns of a row that is sent.
MOST_COLUMNS = 1000
#: Sets and lattices inside of each other: each level is a packed copy within the one above.
_DEEPEST_EXTENSION = 8
#: Bytes of an extension that is built without looking first.
_SMALL = 100
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


def encode(channel: str, row: Row, limits: Limits = DEFAULT_LIMITS) -> bytes:
    """Encode one message, no larger than the peers take if they have the same limits."""
    if len(row) > MOST_COLUMNS:
        raise NotSentError(f"it has {len(row)} columns, more than {MOST_COLUMNS}")
    data = pack((VERSION, channel, row))
    if len(data) > limits.frame:
        raise NotSentError(f"it takes {len(data)} bytes, more than {limits.frame}")
    if _has_too_many_elements(data, limits):
        raise NotSentError(f"it has more than {limits.elements} elements")
    return data


def pack(value: Any) -> bytes:
    """Pack a value of a column, or a row."""
    try:
        data: bytes = msgpack.packb(value, default=_extend)
    except (ValueError, OverflowError, TypeError) as error:
        raise NotSentError(str(error)) from None
    return data


def _extend(value: Any, depth: int = 1) -> msgpack.ExtType:
    if depth > _DEEPEST_EXTENSION:
        raise NotSentError(f"sets are nested more than {_DEEPEST_EXTENSION} deep")
    code: int
    content: Any
    if isinstance(value, frozenset):
        # In canonical order: equal rows must be equal bytes, as keys of durable tables.
        code, content = _SET, sort_values(value)
    elif isinstance(value, Lattice):
        code, content = _LATTICE, (value.name, value.elements())
    else:
        raise NotSentError(f"{type(value).__name__} cannot be written down")
    return msgpack.ExtType(code, msgpack.packb(content, default=partial(_extend, depth=depth + 1)))


def batch(messages: Iterable[bytes], limit: int) -> Iterator[bytes]:
    """Join messages to packets of at most this size; a larger message is a packet of its own."""
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


def make_frame(packet: bytes) -> bytes:
    """Return a packet as it is sent on a connection."""
    return _LENGTH.pack(len(packet)) + packet


# -- reading -----------------------------------------------------------------------------------------------------


def decode(data: bytes, limits: Limits = DEFAULT_LIMITS) -> Packet:
    """Decode a packet.  A message that is wrong in itself is left out; one without end spoils the packet."""
    try:
        if len(data) > limits.frame:
            raise GarbageError("too large")
        if _has_too_many_elements(data, limits):
            raise GarbageError("too many elements")
        ends = _find_ends(data)
    except GarbageError as error:
        return Packet((), (str(error),))
    messages: list[Message] = []
    garbage: list[str] = []
    begin = 0
    for end in ends:
        try:
            # Each by itself, so that one bad message does not cost the others of the packet.
            messages.append(_message(data if len(ends) == 1 else data[begin:end]))
        except GarbageError as error:
            garbage.append(str(error))
        begin = end
    return Packet(tuple(messages), tuple(garbage))


def _has_too_many_elements(data: bytes, limits: Limits) -> bool:
    # An element is at least one byte: datagrams and most frames need no counting.
    if len(data) <= limits.elements and LONGEST_EXTENSION not in data:
        return False
    return has_more_elements(data, limits.elements, (_SET, _LATTICE))


def unpack(data: bytes) -> Row:
    """Unpack the row that ``pack`` wrote; it may be larger than what is sent."""
    if len(_find_ends(data)) != 1:
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
    _check(value, 0)
    return value


def _check(values: Iterable[Any], depth: int) -> None:
    """Refuse what ``values.freeze`` refuses.  What msgpack makes is frozen already, and is not built again."""
    for item in values:
        kind = type(item)
        if kind is str or kind is bytes or item is None or kind is bool:
            continue
        if kind is int:
            # Smaller than the smallest it cannot be: msgpack has no such number.
            if item > LARGEST_INTEGER:
                raise GarbageError("bad value")
        elif kind is float:
            if item != item:
                raise GarbageError("bad value")
        elif depth > DEEPEST:
            raise GarbageError("bad value")
        elif kind is tuple or kind is frozenset:
            _check(item, depth + 1)
        elif not isinstance(item, Lattice):  # msgpack knows times, columns do not
            raise GarbageError("bad value")


def _find_ends(data: bytes) -> Sequence[int]:
    """Find where each value ends.  Nothing is built: a header may announce more items than there are bytes."""
    if not data:
        raise GarbageError("empty")
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
    except msgpack.ExtraData:
        raise GarbageError("bad value") from None
    except (msgpack.UnpackException, ValueError, TypeError, OverflowError):
        raise GarbageError("not msgpack") from None


def _no_map(pairs: object) -> NoReturn:
    raise GarbageError("bad value")


def _extension(code: int, data: bytes, depth: int) -> Any:
    if code not in (_SET, _LATTICE):
        raise GarbageError("bad value")
    if depth > _DEEPEST_EXTENSION:
        raise GarbageError("too deep")
    # What a small one announces and does not contain takes no memory worth mentioning: msgpack bounds each header
    # by the size of the data.  Most are small, and scanning takes as long as building.
    if (not data or len(data) > _SMALL) and len(_find_ends(data)) != 1:
        raise GarbageError("bad value")
    content = _value(data, depth + 1)
    if not isinstance(content, tuple):
        raise GarbageError("bad value")
    return frozenset(content) if code == _SET else _lattice(content)


def _lattice(content: tuple[Any, ...]) -> Lattice:
    try:
        name, rows = content
        lattice: type[Lattice] = LATTICES[name]
        return lattice.merge_all([lattice.of_row(freeze_row(row)) for row in rows])
    except (ValueError, TypeError, LookupError, AttributeError):  # rows of something else
        raise GarbageError("bad value") from None


class Frames:
    """The packets in a stream of bytes, whatever pieces it arrives in."""

    def __init__(self, limit: int = DEFAULT_LIMITS.frame) -> None:
        self._limit = limit
        self._waiting = bytearray()

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the packets that are complete now; GarbageError if one is too large, and the stream is lost."""
        self.add(data)
        while (packet := self.take()) is not None:
            yield packet

    def add(self, data: bytes) -> None:
        self._waiting += data

    def take(self) -> bytes | None:
        """Remove the next packet, if it is complete; GarbageError as soon as it is known to be too large."""
        size = self._size()
        if size is None or len(self._waiting) < _LENGTH.size + size:
            return None
        packet = bytes(memoryview(self._waiting)[_LENGTH.size : _LENGTH.size + size])
        del self._waiting[: _LENGTH.size + size]
        return packet

    def _size(self) -> int | None:
        if len(self._waiting) < _LENGTH.size:
            return None
        (size,) = _LENGTH.unpack_from(self._waiting)
        if size > self._limit:
            raise GarbageError("too large")
        return int(size)

    @property
    def has_packet(self) -> bool:
        """Tell whether ``take`` has something to do: a packet that is complete, or one to be refused."""
        try:
            size = self._size()
        except GarbageError:
            return True
        return size is not None and len(self._waiting) >= _LENGTH.size + size

    @property
    def waiting(self) -> int:
        """Return the number of bytes of a packet that is not complete."""
        return len(self._waiting)
