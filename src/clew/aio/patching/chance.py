"""Random numbers, as a host has them: seeded, and its own; what other hosts draw makes no difference."""

from __future__ import annotations

import os
import random
import uuid
from collections.abc import Callable, Iterator
from typing import Any

from clew.aio.patching.clocks import Replacement
from clew.aio.running import current_life

_LARGEST_SEED = 2**64


def replacements() -> Iterator[Replacement]:
    """Yield what stands in for sources of random numbers."""
    yield os, "urandom", _make_urandom(os.urandom)
    if hasattr(os, "getrandom"):
        yield os, "getrandom", _make_urandom(os.getrandom)
    # These are bound to the hidden instance behind the module, in C.
    for name in ("random", "getrandbits", "seed", "getstate", "setstate"):
        yield random, name, _make_drawing(name, getattr(random, name))


def _make_urandom(original: Callable[..., bytes]) -> Callable[..., bytes]:
    def urandom(size: int, *flags: Any) -> bytes:
        life = current_life()
        return original(size, *flags) if life is None else life.get_random().randbytes(size)

    return urandom


def _make_drawing(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    def draw(*args: Any, **kwargs: Any) -> Any:
        life = current_life()
        return original(*args, **kwargs) if life is None else getattr(life.get_random(), name)(*args, **kwargs)

    draw.__name__ = name
    return draw


def patch_generators() -> None:
    """Let the hidden instance behind ``random`` be that of the host that runs, and seed unseeded ones from it."""
    hidden: Any = random.random.__closure__ and random._inst  # type: ignore[attr-defined]
    # All its other functions are in Python, and ask these two of the instance.
    hidden.random = random.random
    hidden.getrandbits = random.getrandbits
    original = random.Random.seed

    def seed(self: random.Random, a: Any = None, version: int = 2) -> None:
        life = current_life()
        if a is None and life is not None:
            a = life.get_random().getrandbits(64)
        original(self, a, version)

    random.Random.seed = seed  # type: ignore[method-assign]
    vars(uuid)["_generate_time_safe"] = None  # it asks the real clock; without it, uuid1 asks time.time_ns
    vars(uuid)["_UuidCreate"] = None
