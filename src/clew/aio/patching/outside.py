"""What would leave the simulation, and is refused while a host runs: sockets, names, processes, threads."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from typing import Any

from clew.aio.fences import fence
from clew.aio.patching.clocks import Replacement
from clew.aio.running import current_life

_HOST = "run the other program as a host of the simulation"
_LOOP = "use asyncio: streams, protocols, loop.getaddrinfo"


def replacements() -> Iterator[Replacement]:
    """Yield what stands in for functions that leave the process."""
    for name in ("getaddrinfo", "gethostbyname", "gethostbyaddr", "getnameinfo", "gethostbyname_ex"):
        yield socket, name, _refuse_inside(getattr(socket, name), f"socket.{name}()", _LOOP)
    for name in ("create_connection", "create_server", "socketpair"):
        yield socket, name, _refuse_inside(getattr(socket, name), f"socket.{name}()", _LOOP)
    for name in ("system", "popen", "fork", "posix_spawn", "execv", "execve", "kill"):
        if hasattr(os, name):
            yield os, name, _refuse_inside(getattr(os, name), f"os.{name}()", _HOST)
    for owner, name in ((subprocess.Popen, "__init__"), (threading.Thread, "start"), (socket.socket, "__init__")):
        remedy = {subprocess.Popen: _HOST, socket.socket: _LOOP}.get(owner, "use asyncio.to_thread, or tasks")
        call = {"start": "threading.Thread.start()"}.get(name, f"{owner.__module__}.{owner.__name__}()")
        yield owner, name, _refuse_inside(getattr(owner, name), call, remedy)
    yield signal, "signal", _ignore_inside(signal.signal)
    yield socket, "gethostname", _name_host(socket.gethostname)
    yield os, "getpid", _number_process(os.getpid)


def _refuse_inside(original: Callable[..., Any], call: str, remedy: str) -> Callable[..., Any]:
    def guard(*args: Any, **kwargs: Any) -> Any:
        if current_life() is not None:
            fence(call, remedy)
        return original(*args, **kwargs)

    guard.__name__ = getattr(original, "__name__", call)
    guard.__doc__ = original.__doc__
    guard.__wrapped__ = original  # type: ignore[attr-defined]
    return guard


def _ignore_inside(original: Callable[..., Any]) -> Callable[..., Any]:
    def handle(number: Any, handler: Any) -> Any:
        return signal.getsignal(number) if current_life() is not None else original(number, handler)

    return handle


def _name_host(original: Callable[[], str]) -> Callable[[], str]:
    def gethostname() -> str:
        life = current_life()
        return original() if life is None else life.name

    return gethostname


def _number_process(original: Callable[[], int]) -> Callable[[], int]:
    def getpid() -> int:
        return original() if current_life() is None else 1

    return getpid
