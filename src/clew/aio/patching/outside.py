"""What would leave the simulation, and is refused while a host runs: sockets, names, processes, threads."""

from __future__ import annotations

import _socket
import asyncio
import atexit
import os
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from clew.aio.fences import fence
from clew.aio.loop.sockets import SimulatedSocket
from clew.aio.patching.clocks import Replacement
from clew.aio.running import current_life

_HOST = "run the other program as a host of the simulation"
_LOOP = "use asyncio: streams, protocols, loop.getaddrinfo"


def replacements() -> Iterator[Replacement]:
    """Yield what stands in for functions that leave the process."""
    yield socket, "getaddrinfo", _make_getaddrinfo(socket.getaddrinfo)
    yield socket, "gethostbyname", _make_gethostbyname(socket.gethostbyname)
    for name in ("gethostbyaddr", "getnameinfo", "gethostbyname_ex"):
        yield socket, name, _refuse_inside(getattr(socket, name), f"socket.{name}()", _LOOP)
    for name in ("create_connection", "create_server", "socketpair"):
        yield socket, name, _refuse_inside(getattr(socket, name), f"socket.{name}()", _LOOP)
    for name in ("system", "popen", "fork", "posix_spawn", "execv", "execve", "kill"):
        if hasattr(os, name):
            yield os, name, _refuse_inside(getattr(os, name), f"os.{name}()", _HOST)
    yield subprocess.Popen, "__init__", _refuse_inside(subprocess.Popen.__init__, "subprocess.Popen()", _HOST)
    threads = "use asyncio.to_thread, loop.run_in_executor, or tasks"
    yield threading.Thread, "start", _refuse_inside(threading.Thread.start, "threading.Thread.start()", threads)
    yield socket.socket, "__new__", staticmethod(_make_socket)
    running = "it runs already: await the coroutine, or start it as a host (world.start)"
    yield asyncio, "run", _refuse_inside(asyncio.run, "asyncio.run()", running)
    yield asyncio.Runner, "run", _refuse_inside(asyncio.Runner.run, "asyncio.Runner.run()", running)
    yield signal, "signal", _ignore_inside(signal.signal)
    yield socket, "gethostname", _name_host(socket.gethostname)
    yield os, "getpid", _number_process(os.getpid)
    yield atexit, "register", _make_register(atexit.register)


def _make_getaddrinfo(original: Callable[..., Any]) -> Callable[..., Any]:
    def getaddrinfo(host: Any, port: Any, family: int = 0, type: int = 0, proto: int = 0, flags: int = 0) -> Any:
        life = current_life()
        if life is None:
            return original(host, port, family, type, proto, flags)
        return life.loop.resolve(host, port, family=family, type=type, proto=proto, flags=flags)

    return getaddrinfo


def _make_gethostbyname(original: Callable[[str], str]) -> Callable[[str], str]:
    def gethostbyname(hostname: str) -> str:
        life = current_life()
        found: str = original(hostname) if life is None else life.loop.resolve(hostname, 0)[0][4][0]
        return found

    return gethostbyname


def _make_socket(cls: Any, *args: Any, **kwargs: Any) -> Any:
    life = current_life()
    if life is None:
        return _socket.socket.__new__(cls)
    if cls not in (socket.socket, SimulatedSocket):
        fence(f"{cls.__module__}.{cls.__qualname__}()", _LOOP)
    return _socket.socket.__new__(SimulatedSocket)


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


def _make_register(original: Callable[..., Any]) -> Callable[..., Any]:
    def register(function: Any, /, *args: Any, **kwargs: Any) -> Any:
        life = current_life()
        if life is None:
            return original(function, *args, **kwargs)
        # Of this process: a host that has crashed must not come back at its end.
        life.at_exit.append(partial(function, *args, **kwargs))
        return function

    return register


def _number_process(original: Callable[[], int]) -> Callable[[], int]:
    def getpid() -> int:
        return original() if current_life() is None else 1

    return getpid
