"""The clocks of Python, as a host has them: all go by virtual time."""

from __future__ import annotations

import ctypes
import datetime
import gc
import time
from collections.abc import Callable, Iterator
from typing import Any

from clew.aio.fences import fence
from clew.aio.patching.resemblance import resemble
from clew.aio.running import current_life
from clew.aio.settings import EPOCH, UPTIME

#: What is put in the place of what: the owner, the name there, and what stands in.
Replacement = tuple[Any, str, Callable[..., Any]]

#: What the clock of a host is to be added to, for the time of day.
_EPOCH = EPOCH - UPTIME


def replacements() -> Iterator[Replacement]:
    """Yield what stands in for the functions of ``time``."""
    for name in ("time", "monotonic", "perf_counter", "process_time", "thread_time"):
        offset = _EPOCH if name == "time" else 0.0
        yield time, name, _make_clock(getattr(time, name), offset, is_whole=False)
        whole = getattr(time, f"{name}_ns")
        yield time, f"{name}_ns", _make_clock(whole, offset, is_whole=True)
    yield time, "clock_gettime", _make_clock_by_number(time.clock_gettime, is_whole=False)
    yield time, "clock_gettime_ns", _make_clock_by_number(time.clock_gettime_ns, is_whole=True)
    for name in ("localtime", "gmtime", "ctime"):
        yield time, name, _make_calendar(getattr(time, name))
    yield time, "strftime", _make_strftime(time.strftime)
    yield time, "sleep", _make_sleep(time.sleep)


def _make_clock(original: Callable[[], Any], offset: float, *, is_whole: bool) -> Callable[[], Any]:
    def read() -> Any:
        life = current_life()
        if life is None:
            return original()
        now = life.read_clock() + offset
        return round(now * 1_000_000) * 1000 if is_whole else now

    return _named(read, original)


def _make_clock_by_number(original: Callable[[int], Any], *, is_whole: bool) -> Callable[[int], Any]:
    def read(clock: int) -> Any:
        life = current_life()
        if life is None:
            return original(clock)
        now = life.read_clock() + (EPOCH if clock == time.CLOCK_REALTIME else 0.0)
        return round(now * 1_000_000) * 1000 if is_whole else now

    return _named(read, original)


def _make_calendar(original: Callable[..., Any]) -> Callable[..., Any]:
    def convert(seconds: float | None = None) -> Any:
        life = current_life()
        if seconds is None and life is not None:
            seconds = life.read_clock() + _EPOCH
        return original(seconds)

    return _named(convert, original)


def _make_strftime(original: Callable[..., str]) -> Callable[..., str]:
    def strftime(format: str, *when: Any) -> str:
        if not when and current_life() is not None:
            when = (time.localtime(),)
        return original(format, *when)

    return _named(strftime, original)


def _make_sleep(original: Callable[[float], None]) -> Callable[[float], None]:
    def sleep(seconds: float) -> None:
        if current_life() is not None:
            fence(f"time.sleep({seconds!r})", "it would stop the whole host: use await asyncio.sleep(...)")
        original(seconds)

    return _named(sleep, original)


def _named(stand_in: Callable[..., Any], original: Callable[..., Any]) -> Callable[..., Any]:
    stand_in.__name__ = original.__name__
    stand_in.__qualname__ = original.__name__
    stand_in.__doc__ = original.__doc__
    stand_in.__module__ = "time"
    return stand_in


def patch_datetime() -> None:
    """Let ``datetime.now`` and ``utcnow`` go by virtual time; ``today`` asks them, or ``time.time``.

    The class is in C and cannot be replaced, for everybody has it by name and compares types.  Its dictionary
    can be reached by what refers to it.
    """
    kind = datetime.datetime
    members = gc.get_referents(kind.__dict__)[0]
    real_now, real_utcnow = kind.now, kind.utcnow

    def now(cls: Any, tz: Any = None) -> Any:
        life = current_life()
        if life is None:
            return real_now(tz) if cls is kind else cls.fromtimestamp(time.time(), tz)
        return cls.fromtimestamp(life.read_clock() + _EPOCH, tz)

    def utcnow(cls: Any) -> Any:
        life = current_life()
        if life is None:
            return real_utcnow() if cls is kind else cls.utcfromtimestamp(time.time())
        return cls.fromtimestamp(life.read_clock() + _EPOCH, datetime.UTC).replace(tzinfo=None)

    resemble(now, real_now, "datetime")
    resemble(utcnow, real_utcnow, "datetime")
    members["now"] = classmethod(now)
    members["utcnow"] = classmethod(utcnow)
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))
