"""Rows as bytes: what was written is read, and nothing else is."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from typing import Any

import msgpack  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.bloom.lattices.containers import LATTICES
from clew.bloom.network.limits import DEFAULT_LIMITS
from clew.bloom.network.wire import (
    MOST_COLUMNS,
    Frames,
    GarbageError,
    Message,
    NotSentError,
    Packet,
    batch,
    decode,
    encode,
    make_frame,
    pack,
    unpack,
)
from clew.bloom.values import LARGEST_INTEGER, BadValueError, freeze_row

_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-LARGEST_INTEGER - 1, LARGEST_INTEGER)
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary()
)
_VALUES = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=4).map(tuple) | st.frozensets(inner, max_size=4), max_leaves=6
)
_ROWS = st.lists(_VALUES, max_size=5).map(tuple)


def _types(value: Any) -> Any:
    """Equal values need not have the same type: 1 and True."""
    return tuple(map(_types, value)) if isinstance(value, tuple) else type(value)


@given(st.text(), _ROWS)
def test_a_row_is_read_as_it_was_written(channel: str, row: tuple[Any, ...]) -> None:
    packet = decode(encode(channel, row))
    assert packet == Packet((Message(channel, row),))
    assert _types(packet.messages[0].row) == _types(row)


@given(st.lists(st.tuples(st.text(max_size=5), _ROWS), min_size=1, max_size=6), st.integers(1, 60))
def test_batches_keep_messages_and_their_order(sent: list[tuple[str, Any]], limit: int) -> None:
    messages = [encode(channel, row) for channel, row in sent]
    packets = list(batch(messages, limit))
    assert b"".join(packets) == b"".join(messages)
    assert all(len(p) <= limit or p in messages for p in packets)
    assert [m for p in packets for m in decode(p).messages] == [Message(*s) for s in sent]


@given(st.binary(max_size=300))
def test_any_bytes_are_messages_or_garbage(data: bytes) -> None:
    packet = decode(data)
    assert packet.messages or packet.garbage


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b"\xc1", "not msgpack"),
        (b"\x07", "no message"),
        (msgpack.packb([1, "c"]), "no message"),
        (msgpack.packb([1, b"c", [1]]), "no message"),
        (msgpack.packb([1, "c", 1]), "no message"),
        (msgpack.packb([True, "c", [1]]), "no message"),
        (msgpack.packb([2, "c", [1]]), "other version"),
        (msgpack.packb([1, "c", [1]])[:-1], "incomplete"),
        (msgpack.packb([1, "c", [{}]]), "bad value"),
        (msgpack.packb([1, "c", [float("nan")]]), "bad value"),
        (msgpack.packb([1, "c", [2**63]]), "bad value"),
        (msgpack.packb([1, "c", [msgpack.ExtType(3, b"")]]), "bad value"),
        (msgpack.packb([1, "c", [msgpack.ExtType(1, b"\x01")]]), "bad value"),
        (msgpack.packb([1, "c", [msgpack.ExtType(1, b"\x90\x90")]]), "bad value"),
        (msgpack.packb([1, "c", [msgpack.ExtType(1, b"")]]), "empty"),
        (msgpack.packb([1, "c", [msgpack.Timestamp(1, 0)]]), "bad value"),
        (b"\x93\x01\xa1\xff\x90", "not UTF-8"),
        (b"\x93\x01\xa1c\x91" + b"\x91" * 60 + b"\x90", "bad value"),
        (b"\x91" * 5000 + b"\x90", "too deep"),
        (msgpack.packb([1, "c", [0] * (MOST_COLUMNS + 1)]), "too many columns"),
        (b"\x00" * (DEFAULT_LIMITS.frame + 1), "too large"),
    ],
    ids=lambda v: v if isinstance(v, str) else repr(v[:12]),
)
def test_garbage_has_a_reason(data: bytes, reason: str) -> None:
    assert decode(data) == Packet((), (reason,))


def test_a_wrong_message_does_not_spoil_its_neighbours() -> None:
    good, late = encode("a", (1,)), encode("b", (2,))
    wrong = msgpack.packb([1, "c", [{}]])
    assert decode(good + wrong + late) == Packet((Message("a", (1,)), Message("b", (2,))), ("bad value",))


def test_a_message_without_end_spoils_the_packet() -> None:
    assert decode(encode("a", (1,)) + b"\x93\x01") == Packet((), ("incomplete",))


def test_sets_nest_only_so_deep() -> None:
    value: Any = frozenset()
    for _ in range(7):
        value = frozenset([value])
    assert decode(encode("c", (value,))).messages == (Message("c", (value,)),)
    with pytest.raises(NotSentError, match="nested more than 8 deep"):
        encode("c", (frozenset([value]),))
    inner = b"\x90"
    for _ in range(9):
        inner = msgpack.packb([msgpack.ExtType(1, inner)])
    assert decode(b"\x93\x01\xa1c" + inner) == Packet((), ("too deep",))


@pytest.mark.parametrize("name", LATTICES)
def test_lattices_are_read_as_they_were_written(name: str) -> None:
    made: Any = LATTICES[name]
    width = len(made.bottom().columns)
    last = True if "lbool" in name else 3
    rows = [(*[key] * (width - 1), last) for key in (1, 2)]
    for value in (made.bottom(), made.merge_all([made.of_row(row) for row in rows])):
        assert decode(encode("c", (value, frozenset([value])))).messages[0].row == (value, frozenset([value]))


@pytest.mark.parametrize(
    "content",
    [[], ["lmax"], ["nothing", []], [["lmax"], []], ["lmax", [[1, 2]]], ["lmax", 5], ["lbag", [["x", "y"]]]],
    ids=repr,
)
def test_what_is_no_lattice_is_garbage(content: Any) -> None:
    data = msgpack.packb([1, "c", [msgpack.ExtType(2, msgpack.packb(content))]])
    assert decode(data) == Packet((), ("bad value",))


def test_announced_items_that_are_not_there_take_no_memory() -> None:
    """Each of 500 nested headers announces 65,535 items: built one by one, they would take 250 MB."""
    data = b"\x93\x01\xa1c" + b"\xdc\xff\xff" * 500
    decode(data)
    tracemalloc.start()
    try:
        assert decode(data) == Packet((), ("incomplete",))
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("header", [b"\xdd\x7f\xff\xff\xff", b"\xdc\xff\xff", b"\xc6\x7f\xff\xff\xff"])
@pytest.mark.parametrize("size", [20, 99, 101, 1000])
def test_extensions_announce_as_much_as_they_like(header: bytes, size: int) -> None:
    inner = header * (size // len(header))
    data = b"\x93\x01\xa1c\x91" + msgpack.packb(msgpack.ExtType(1, inner))
    decode(data)
    tracemalloc.start()
    try:
        assert decode(data).messages == ()
        assert tracemalloc.get_traced_memory()[1] < 200_000
    finally:
        tracemalloc.stop()


def test_small_values_are_checked_as_those_of_columns_are() -> None:
    """Two ways to refuse values: that of rows that arrive, and that of rows that are inserted."""
    for value in _edge_values():
        data = b"\x93\x01\xa1c" + msgpack.packb([value], default=_extension_of)
        try:
            wanted: Any = freeze_row([value])
        except BadValueError:
            wanted = None
        found = decode(data).messages
        assert (found[0].row if found else None) == wanted


def _extension_of(value: Any) -> Any:
    return msgpack.ExtType(1, msgpack.packb(list(value), default=_extension_of))


def _edge_values() -> list[Any]:
    scalars: list[Any] = [None, True, 0, LARGEST_INTEGER, LARGEST_INTEGER + 1, -LARGEST_INTEGER - 1, "", b"", 1.5]
    scalars += [float("nan"), float("inf"), {}, {"a": 1}, msgpack.Timestamp(1, 0), ()]
    nested: list[Any] = []
    for depth in (1, 49, 50, 51, 52):
        for scalar in (1, float("nan"), ()):
            value: Any = scalar
            for _ in range(depth):
                value = (value,)
            nested.append(value)
    sets = [frozenset([s]) for s in scalars if not isinstance(s, dict)]
    return [*scalars, *[(s,) for s in scalars], *sets, *nested]


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ((object(),), "object cannot be written down"),
        (("\ud800",), "surrogates not allowed"),
        (tuple(range(MOST_COLUMNS + 1)), "1001 columns, more than 1000"),
        ((b"x" * DEFAULT_LIMITS.frame,), "more than 1048576"),
    ],
    ids=["object", "surrogate", "columns", "size"],
)
def test_what_cannot_be_sent_says_why(row: tuple[Any, ...], why: str) -> None:
    with pytest.raises(NotSentError, match=why):
        encode("c", row)


def test_the_bytes_do_not_depend_on_hashes() -> None:
    script = (
        "from clew.bloom.network.wire import pack\n"
        "print(pack((frozenset(['a', 'b', 'c', 'd', 1, None]),)).hex())"
    )
    made = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(made) == 1


@given(st.lists(st.binary(max_size=20), max_size=5), st.integers(1, 7))
def test_frames_come_out_whole_whatever_pieces_they_arrive_in(packets: list[bytes], piece: int) -> None:
    stream = b"".join(map(make_frame, packets))
    frames = Frames()
    found = [p for at in range(0, len(stream), piece) for p in frames.feed(stream[at : at + piece])]
    assert found == packets
    assert frames.waiting == 0


def test_a_frame_that_is_too_large_is_refused_by_its_header() -> None:
    frames = Frames()
    with pytest.raises(GarbageError, match="too large"):
        list(frames.feed((DEFAULT_LIMITS.frame + 1).to_bytes(4, "big")))


def test_a_frame_in_the_middle_is_incomplete() -> None:
    frames = Frames()
    assert list(frames.feed(make_frame(b"abc")[:-1])) == []
    assert frames.waiting == 6


def test_stored_rows_are_read_alone() -> None:
    assert unpack(pack((1, "a", (2.5, None)))) == (1, "a", (2.5, None))
    for data, reason in [(pack(1), "no message"), (pack((1,)) * 2, "not one value"), (b"\xc1", "not msgpack")]:
        with pytest.raises(GarbageError, match=reason):
            unpack(data)
