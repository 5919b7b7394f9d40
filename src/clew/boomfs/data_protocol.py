"""The data protocol: how chunks travel between clients and DataNodes, and among DataNodes.

Who connects is greeted with a nonce.  Then come requests, one after the other: a header (its length in four bytes,
then msgpack), and what belongs to it.  The bytes of a chunk are written in blocks, each with its length and its
CRC-32, until one of length 0; a read is answered with the checksums of the blocks that follow, so that whoever
reads can verify them.  With a secret, a request carries a keyed hash of the nonce, its number on the connection,
and itself; blocks are not authenticated.
"""

from __future__ import annotations

import hmac
import struct
import zlib
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

import msgpack  # type: ignore[import-untyped]

#: Bytes that have a checksum of their own.
BLOCK = 256 * 1024
#: The largest header; one of an answer has the checksums of a whole chunk in it.
LARGEST_HEADER = 256 * 1024
NONCE = 16
_LENGTH = struct.Struct(">I")
_BLOCK = struct.Struct(">II")
HEADER_PREFIX = _LENGTH.size
BLOCK_PREFIX = _BLOCK.size


class DataProtocolError(Exception):
    """What arrived is no message of the data protocol."""


class DataError(OSError):
    """A DataNode says that it did not do what was asked; ``why`` is its word for the reason."""

    def __init__(self, why: str, where: str) -> None:
        super().__init__(f"{where}: {why}")
        self.why = why
        self.where = where


def pack_header(header: Mapping[str, Any]) -> bytes:
    data: bytes = msgpack.packb(dict(header))
    if len(data) > LARGEST_HEADER:
        raise DataProtocolError(f"a header of {len(data)} bytes")
    return _LENGTH.pack(len(data)) + data


def header_length(prefix: bytes) -> int:
    """Return how long a header is; refused before anything of it is read if that is too long."""
    (length,) = _LENGTH.unpack(prefix)
    if length > LARGEST_HEADER:
        raise DataProtocolError(f"a header of {length} bytes")
    return int(length)


def unpack_header(data: bytes) -> dict[str, Any]:
    """Return a header as a dictionary; DataProtocolError if it is none."""
    try:
        found = msgpack.unpackb(data, max_map_len=16, max_array_len=64, max_ext_len=0)
    except Exception as error:  # msgpack has no common class for what may be wrong
        raise DataProtocolError(f"not a header: {error}") from None
    if not isinstance(found, dict) or not all(isinstance(key, str) for key in found):
        raise DataProtocolError("not a header")
    return found


def pack_block(data: bytes | memoryview) -> tuple[bytes, int]:
    """Return what stands before a block, and its checksum."""
    checksum = zlib.crc32(data)
    return _BLOCK.pack(len(data), checksum), checksum


def unpack_block_prefix(prefix: bytes) -> tuple[int, int]:
    """Return the length of a block and its checksum."""
    length, checksum = _BLOCK.unpack(prefix)
    if length > BLOCK:
        raise DataProtocolError(f"a block of {length} bytes")
    return length, checksum


def pack_sums(sums: Sequence[int]) -> bytes:
    return struct.pack(f">{len(sums)}I", *sums)


def unpack_sums(data: bytes) -> tuple[int, ...]:
    if len(data) % 4:
        raise DataProtocolError("checksums of an odd length")
    return struct.unpack(f">{len(data) // 4}I", data)


def find_bad_block(data: memoryview, sums: Sequence[int]) -> int | None:
    """Return the number of the first block that is not what its checksum says; None if all are."""
    if len(sums) != -(-len(data) // BLOCK):
        return 0
    for number, checksum in enumerate(sums):
        if zlib.crc32(data[number * BLOCK : (number + 1) * BLOCK]) != checksum:
            return number
    return None


def sign(secret: bytes | None, nonce: bytes, number: int, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request with the proof that who sends it knows the secret."""
    signed = dict(request)
    if secret is not None:
        signed["mac"] = _mac(secret, nonce, number, request)
    return signed


def is_signed(secret: bytes | None, nonce: bytes, number: int, request: Mapping[str, Any]) -> bool:
    """Tell whether who sent a request knows the secret."""
    if secret is None:
        return True
    given = request.get("mac")
    rest = {key: value for key, value in request.items() if key != "mac"}
    return isinstance(given, bytes) and hmac.compare_digest(given, _mac(secret, nonce, number, rest))


def _mac(secret: bytes, nonce: bytes, number: int, request: Mapping[str, Any]) -> bytes:
    key = blake2b(secret, person=b"boomfs data").digest()
    content = nonce + number.to_bytes(8) + msgpack.packb([[key, request[key]] for key in sorted(request)])
    return blake2b(content, key=key[:32], digest_size=16).digest()
