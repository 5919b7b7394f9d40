"""Raises an exception in one function of Clew after the other, and tells how the command ends each time.

Executed as a script, in a process without threads: every try is a fork of it, which has everything imported.  It
reads requests, a JSON object a line: the ``arguments`` of the command, how many of the functions that it calls are
tried (``some``; 0 for all), and the ``exceptions`` in turn.  The answer to each is a line, a JSON list of tries.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import pkgutil
import select
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from types import CodeType, FrameType
from typing import Any

import clew

_PACKAGE = os.path.dirname(clew.__file__) + os.sep  # noqa: PTH120
#: Where a process begins: whatever fails before it cannot be told by anybody.
_BEGINNING = {os.path.join(_PACKAGE, "cli", "entry.py")}  # noqa: PTH118
_SECONDS = 60

_raise = ctypes.pythonapi.PyErr_SetObject
_raise.restype = None

EXCEPTIONS: dict[str, Callable[[], BaseException]] = {
    "RuntimeError": lambda: RuntimeError("injected"),
    "KeyError": lambda: KeyError("injected"),
    "MemoryError": lambda: MemoryError(),
    "OSError": lambda: OSError(errno.ENOSPC, "injected"),
    "SystemExit": lambda: SystemExit("injected"),
}


def functions_called(arguments: list[str]) -> list[list[Any]]:
    """Return the functions of Clew that a command executes, in the order of their first calls, and how often."""
    # By identity: to hash code takes much longer than most calls do, and this is done in each of them.
    seen: dict[int, CodeType] = {}
    counts: dict[int, int] = {}

    def record(frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        if event == "call":
            seen.setdefault(id(code), code)
            counts[id(code)] = counts.get(id(code), 0) + 1

    def result() -> str:
        found: dict[tuple[str, str, int], int] = {}
        for identity, code in seen.items():
            if _is_target(code):
                found[_key(code)] = found.get(_key(code), 0) + counts[identity]
        return json.dumps([[*key, count] for key, count in found.items()])

    _, output = _in_child(arguments, record, result)
    found: list[list[Any]] = json.loads(output)
    return found


def end_with_failure_in(
    function: tuple[str, str, int], exception: str, arguments: list[str], calls: int = 0
) -> tuple[int, str]:
    """Return the exit code and the output of a command in which a function raises, after so many calls of it."""
    *_, line = function
    left = calls

    def fail(frame: FrameType, event: str, argument: object) -> None:
        nonlocal left
        if frame.f_code.co_firstlineno == line and event == "call" and _key(frame.f_code) == function:
            left -= 1
            if left < 0:
                error = EXCEPTIONS[exception]()
                # As C code does, that was called with something wrong: a 'raise' might be meant.
                _raise(ctypes.py_object(type(error)), ctypes.py_object(error))

    # The frame that raises is one of Clew, as far as those can see who look for the culprit.
    fail.__code__ = fail.__code__.replace(co_filename=_PACKAGE + function[0])
    return _in_child(arguments, fail, None)


def _is_target(code: CodeType) -> bool:
    file = code.co_filename
    return file.startswith(_PACKAGE) and file not in _BEGINNING and code.co_name != "<module>"


def _key(code: CodeType) -> tuple[str, str, int]:
    return code.co_filename.removeprefix(_PACKAGE), code.co_qualname, code.co_firstlineno


def _in_child(arguments: list[str], trace: Any, result: Any) -> tuple[int, str]:
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        os.setpgid(0, 0)
        _perform(arguments, trace, result, writing)
    os.close(writing)
    output = b"".join(_read(reading, child))
    _, status = os.waitpid(child, 0)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(status), output.decode(errors="replace")


def _read(reading: int, child: int) -> Iterator[bytes]:
    while True:
        ready, _, _ = select.select([reading], [], [], _SECONDS)
        if not ready:
            os.kill(child, signal.SIGKILL)
            return
        data = os.read(reading, 65536)
        if not data:
            os.close(reading)
            return
        yield data


def _perform(arguments: list[str], trace: Any, result: Any, writing: int) -> None:
    """In the child: run the command as a process does; then tell the result, if there is one to tell."""
    from clew.cli.process.entry import run

    target = os.open(os.devnull, os.O_WRONLY) if result else writing
    os.dup2(target, 1)
    os.dup2(target, 2)
    sys.stdout, sys.stderr = (open(number, "w", encoding="utf-8", closefd=False) for number in (1, 2))  # noqa: SIM115
    code = 70  # nothing that a command ends with
    with tempfile.TemporaryDirectory() as folder:
        # A child of the command would end without what this process wants to tell.
        sys.argv = ["clew", *(argument.replace("{folder}", folder) for argument in arguments), "--in-process"]
        threading.settrace(trace)
        sys.settrace(trace)
        try:
            run()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 71
        except BaseException as error:
            print(f"escaped: {error!r}")
            code = 1  # as Python does
        finally:
            sys.settrace(None)
    if result:
        os.write(writing, result().encode())
    with suppress(OSError, ValueError):
        sys.stdout.flush()
    os._exit(code)


def _import_everything() -> None:
    for module in pkgutil.walk_packages(clew.__path__, "clew."):
        if not module.name.endswith("__main__"):
            import_module(module.name)


def try_failures(arguments: list[str], some: int, exceptions: list[str]) -> Iterator[dict[str, Any]]:
    """Yield how a command ends with one function that fails after the other."""
    functions = functions_called(arguments)
    every = max(1, len(functions) // some) if some else 1
    for number in range(every // 2, len(functions), every):
        *function, count = functions[number]
        exception = exceptions[number % len(exceptions)]
        # Every other in the midst of its calls: a first call is often one of those that make something ready.
        # Where it goes on with a generator, it may only end it, and nobody hears of what is raised there.
        calls = 3 * count // 4 if number % 2 and "<genexpr>" not in function[1] else 0
        code, output = end_with_failure_in(tuple(function), exception, arguments, calls)
        found = {"function": function[:2], "calls": calls, "exception": exception}
        yield {**found, "code": code, "output": output}


def main() -> None:
    _import_everything()
    for line in sys.stdin:
        print(json.dumps(list(try_failures(**json.loads(line)))), flush=True)


if __name__ == "__main__":
    main()
