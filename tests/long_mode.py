"""Cases of which the suite tries a few, and the long mode (``--thorough``) many."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from hypothesis import settings

#: More cases of a property than this are drawn in the long mode only.
_MOST_IN_SUITE = 1_000


def first_of(cases: Iterable[Any], number: int) -> list[Any]:
    """Return cases for ``pytest.mark.parametrize``; all but the first ``number`` are marked as long."""
    return [
        case if place < number else pytest.param(case, marks=pytest.mark.long) for place, case in enumerate(cases)
    ]


def pair_off(some: Sequence[Any], others: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Return all pairs, in an order in which the first ones have as many different parts as possible."""
    return [
        (one, others[(place + turn) % len(others)])
        for turn in range(len(others))
        for place, one in enumerate(some)
    ]


def few(number: int, part: int = 1) -> settings:
    """Draw so many cases of a property in the suite; in the long mode as many as of others, or a part of these."""
    usual = settings().max_examples
    return settings(max_examples=usual // part if usual > _MOST_IN_SUITE else min(number, usual))
