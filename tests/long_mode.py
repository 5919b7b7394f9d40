"""Cases of which the suite tries the first ones, and the long mode (``--thorough``) all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def first_of(cases: Iterable[Any], number: int) -> list[Any]:
    """Return cases for ``pytest.mark.parametrize``; all but the first ``number`` are marked as long."""
    return [
        case if place < number else pytest.param(case, marks=pytest.mark.long) for place, case in enumerate(cases)
    ]
