"""What packets are called where people read of them: by what common protocols say at the beginning of a
message."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from clew.aio.running import current_life
from clew.aio.settings import Settings
from clew.errors import ClewError, UsageError
from clew.simulation.user_code import ask

_REQUEST = re.compile(rb"(GET|HEAD|POST|PUT|DELETE|PATCH|OPTIONS|CONNECT|TRACE) (\S{1,200}) HTTP/1\.[01]\r\n")
_RESPONSE = re.compile(rb"HTTP/1\.[01] (\d{3})")
_LONGEST = 40
#: Of what a scenario says; it stands in every line about the packet.
_LONGEST_GIVEN = 1_000

#: Says what a message is called, given its first bytes; None if it does not know.
Decoder = Callable[[bytes], "str | None"]


def describe_packet(settings: Settings, data: bytes) -> str:
    """Return what a packet is called, by the scenario's decoder, a known protocol, or its size."""
    label = _ask_decoder(settings.decoder, data) if settings.decoder is not None else None
    return decode_known(data) if label is None else label


def decode_known(data: bytes) -> str:
    """Return what a packet is called by a known protocol, or else its size."""
    return decode_http(data) or decode_redis(data) or decode_text(data) or f"{len(data)} bytes"


def _ask_decoder(decoder: Any, data: bytes) -> str | None:
    """Return what the scenario's decoder says; what it raises is a mistake in the scenario, and no finding."""
    try:
        label: Any = ask("the decoder", decoder, data, remedy="it must cope with every packet, and return a text")
        if label is not None and not isinstance(label, str):
            raise UsageError(f"the decoder returned {type(label).__name__}", remedy="return a text, or None")
    except ClewError as error:
        # Or the program that sends would get it, and could handle it.
        if (life := current_life()) is not None:
            life.refuse(error)
        raise
    return None if label is None else label[:_LONGEST_GIVEN]


def decode_http(data: bytes) -> str | None:
    """Return method and path of a request, or the status of a response."""
    if found := _REQUEST.match(data):
        return f"{found[1].decode()} {found[2].decode('ascii', 'replace')}"
    if found := _RESPONSE.match(data):
        return found[1].decode()
    return None


def decode_redis(data: bytes) -> str | None:
    """Return the command and the key of a request in RESP."""
    if not data.startswith(b"*"):
        return None
    parts = data.split(b"\r\n", 6)
    if len(parts) < 4 or not parts[1].startswith(b"$") or not parts[0][1:].isdigit():
        return None
    words = [parts[2], *parts[4:5]]
    return " ".join(word.decode("ascii", "replace") for word in words)[:_LONGEST]


def decode_text(data: bytes) -> str | None:
    """Return the first line, or the beginning of it, if it is text."""
    line = data[: 2 * _LONGEST].split(b"\n", 1)[0].rstrip(b"\r")
    text = line.decode("ascii", "replace")
    if not text or not text.isprintable() or "\ufffd" in text:
        return None
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}…"


def length_prefixed(size: int = 4, *, byteorder: str = "big", decoder: Decoder | None = None) -> Decoder:
    """Return a decoder of messages that begin with their length, in so many bytes.

    Of what follows, another decoder says what it is called, or a known protocol.
    """

    def decode(data: bytes) -> str | None:
        length, rest = int.from_bytes(data[:size], "little" if byteorder == "little" else "big"), data[size:]
        if len(data) <= size:
            return None
        message = rest[:length] or rest
        return decoder(message) if decoder is not None else decode_known(message)

    return decode
