"""Counting the values of a msgpack text without building them."""

from __future__ import annotations

from typing import Any

import msgpack  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.bloom.network.element_count import LONGEST_EXTENSION, has_more_elements

_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats()
    | st.text(max_size=40)
    | st.binary(max_size=40)
    | st.text(min_size=300, max_size=310)
)
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: (
        st.lists(inner, max_size=20)
        | st.frozensets(st.integers(), max_size=3).map(lambda s: _Extension(1, list(s)))
        | inner.map(lambda v: _Extension(2, [v]))
        | inner.map(lambda v: _Extension(9, [v]))
        | st.dictionaries(st.text(max_size=3), inner, max_size=17)
    ),
    max_leaves=30,
)


class _Extension:
    def __init__(self, code: int, content: list[Any]) -> None:
        self.code, self.content = code, content


def _pack(value: Any) -> bytes:
    def extended(found: Any) -> Any:
        return msgpack.ExtType(found.code, _pack(found.content))

    data: bytes = msgpack.packb(_clipped(value), default=extended)
    return data


def _clipped(value: Any) -> Any:
    """Numbers of sets may be any; msgpack has 64 bits."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value % 2**64
    return value if not isinstance(value, list) else [_clipped(v) for v in value]


def _count(value: Any) -> int:
    if isinstance(value, list):
        return 1 + sum(map(_count, value))
    if isinstance(value, dict):
        return 1 + sum(_count(k) + _count(v) for k, v in value.items())
    if isinstance(value, _Extension):
        return 1 + (_count(value.content) if value.code in (1, 2) else 0)
    return 1


@given(st.lists(_VALUES, min_size=1, max_size=4))
def test_it_counts_what_is_there(values: list[Any]) -> None:
    data = b"".join(map(_pack, values))
    count = sum(map(_count, values))
    assert not has_more_elements(data, count, (1, 2))
    assert has_more_elements(data, count - 1, (1, 2))


@given(st.binary(max_size=200), st.integers(0, 50))
def test_any_bytes_have_at_most_as_many_elements(data: bytes, limit: int) -> None:
    assert not has_more_elements(data, len(data), (1, 2)) or LONGEST_EXTENSION in data
    has_more_elements(data, limit, (1, 2))


@pytest.mark.parametrize("lie", [b"\xd4\x01\xdb", b"\xc7\x03\x01\xc6\xff\xff", b"\xd5\x02\xa5a", b"\xd4\x01\xc1"])
def test_an_extension_hides_nothing_behind_it(lie: bytes) -> None:
    """Its content says that it is longer than the extension, or is none."""
    assert has_more_elements(lie + b"\xc0" * 100, 100, (1, 2))


def test_what_msgpack_would_not_stop_at_is_too_much() -> None:
    """The length of this extension and the byte of its type are together 0 in 32 bits: what follows is read."""
    assert has_more_elements(b"\xc0" + LONGEST_EXTENSION, 100, (1, 2))
    assert has_more_elements(b"\x91" + LONGEST_EXTENSION + b"\x01" + b"\xc0" * 9, 100, (1, 2))
    # In bytes it is data, and in an extension the end of that.
    assert not has_more_elements(b"\xc4\x05" + LONGEST_EXTENSION, 100, (1, 2))
    assert not has_more_elements(b"\xc7\x05\x01" + LONGEST_EXTENSION, 100, (1, 2))
