"""Random numbers, as a host has them: seeded, and its own; what other hosts draw makes no difference."""

from __future__ import annotations

import os
import random
import uuid
import zlib
from collections.abc import Callable, Iterator
from typing import Any

from clew.aio.patching.clocks import Replacement
from clew.aio.patching.resemblance import resemble
from clew.aio.running import current_life


def replacements() -> Iterator[Replacement]:
    """Yield what stands in for sources of random numbers."""
    yield os, "urandom", _make_urandom(os.urandom)
    if hasattr(os, "getrandom"):
        yield os, "getrandom", _make_urandom(os.getrandom)
    yield uuid, "getnode", _make_getnode(uuid.getnode)
    yield uuid, "uuid1", _make_uuid1(uuid.uuid1)
    # These are bound to the hidden instance behind the module.
    for name in ("random", "getrandbits", "seed", "getstate", "setstate"):
        yield random, name, _make_drawing(name, getattr(random, name))


def _make_urandom(original: Callable[..., bytes]) -> Callable[..., bytes]:
    def urandom(size: int, *flags: Any) -> bytes:
        life = current_life()
        return original(size, *flags) if life is None else life.get_random().randbytes(size)

    return urandom


def _make_getnode(original: Callable[[], int]) -> Callable[[], int]:
    def getnode() -> int:
        life = current_life()
        # With the bit that says that it is the address of no card.
        return original() if life is None else zlib.crc32(life.name.encode()) | 1 << 40

    return getnode


def _make_uuid1(original: Callable[..., uuid.UUID]) -> Callable[..., uuid.UUID]:
    def uuid1(node: int | None = None, clock_seq: int | None = None) -> uuid.UUID:
        life = current_life()
        if life is None:
            return original(node, clock_seq)
        # The module remembers the latest one, so that the next is later; here, each execution has its own.
        execution = vars(life.home)
        vars(uuid)["_last_timestamp"] = execution.get(_LATEST)
        made = original(node, clock_seq)
        execution[_LATEST] = made.time
        return made

    return uuid1


def _make_drawing(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    def draw(*args: Any, **kwargs: Any) -> Any:
        life = current_life()
        return original(*args, **kwargs) if life is None else getattr(life.get_random(), name)(*args, **kwargs)

    draw.__name__ = name
    return draw


def patch_generators() -> None:
    """Let generators that were made outside draw from the host that uses them.

    That is the hidden one behind the module, and those of libraries, which often stand in default arguments:
    whatever they are seeded with, they go on from execution to execution.  Those that a host has made are its
    own.
    """
    kind: Any = random.Random
    original_seed = kind.seed

    def seed(self: random.Random, a: Any = None, version: int = 2) -> None:
        life = current_life()
        if life is not None:
            vars(self)[_HOME] = life.home
            if a is None:
                a = life.get_random().getrandbits(64)
        original_seed(self, a, version)

    resemble(seed, original_seed, "random")
    kind.seed = seed
    for name in ("random", "getrandbits"):
        method = _make_method(name, getattr(kind, name))
        resemble(method, getattr(kind, name), "random")
        setattr(kind, name, method)
    vars(uuid)["_generate_time_safe"] = None  # it asks the real clock; without it, uuid1 asks time.time_ns
    vars(uuid)["_UuidCreate"] = None


#: The attribute of an execution that says when its latest identifier by time was made.
_LATEST = "_clew_uuid_time"
#: The attribute of a generator that says in which execution it was made.
_HOME = "_clew_home"


def _make_method(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    def draw(self: random.Random, *args: Any) -> Any:
        life = current_life()
        if life is None or vars(self).get(_HOME) is life.home:
            return original(self, *args)
        return getattr(life.get_random(), name)(*args)

    draw.__name__ = name
    return draw
