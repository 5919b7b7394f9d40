"""Follow what the events of hosts rest on, while a run is traced.

An event rests on the one that sent its packet, on those that set the timers that are due, on the latest step of
each task that goes on in it, and on those that last wrote what its code reads.  Code of the standard library and
of Clew is not looked into: what it keeps is behind what the program's own code touches.

That every event rests on everything before it at its host is right, too ("hosts" instead of "tasks"), and mostly
useless: a host that sends heartbeats connects everything with everything.
"""

from __future__ import annotations

import asyncio
import sys
import sysconfig
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from clew.aio.lineage.accesses import Access, Root, find_accesses
from clew.aio.lineage.cells import Cells

#: What is not looked into.  Libraries are, though they are below the standard library's folder.
_STANDARD = (sysconfig.get_path("stdlib"), str(Path(__file__).resolve().parents[2]), "<frozen", "<string>")
_LIBRARIES = (sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))

_CONTAINERS = (dict, list, set, bytearray)
_MISSING = object()


class Tracker:
    """What the events of one run rest on; it is shared by all hosts, for they may share objects."""

    def __init__(self, *, by_hosts: bool) -> None:
        self._by_hosts = by_hosts
        self._cells = Cells()
        self._steps: dict[int, tuple[Any, int]] = {}  # by task, the event of its latest step
        self._events: dict[str, list[int]] = {}  # by host, its events
        self._operations: list[int] = []  # the events that have added to the history of clients
        self._rests_on: set[int] = set()
        self._stepped: list[Any] = []
        self._before: Any = None
        self._host = ""

    # -- one event -----------------------------------------------------------------------------------------------

    def begin(self, host: str) -> None:
        """Look at what code of a host does from now on."""
        self._host = host
        self._before = sys.gettrace()
        if not self._by_hosts:
            sys.settrace(self._on_call)

    def pause(self) -> None:
        """Look no more: the event is over, or others are called meanwhile."""
        sys.settrace(self._before)

    def note(self, handle: Any) -> None:
        """Note that a callback is about to run."""
        self._rests_on.add(getattr(handle, "event", -1))
        owner = getattr(handle._callback, "__self__", None)
        if isinstance(owner, asyncio.Future):
            known = self._steps.get(id(owner))
            if known is not None:
                self._rests_on.add(known[1])
            self._stepped.append(owner)

    def touch_disk(self, host: str) -> None:
        """Note that the disk of a host is used: which of its events have written what is there, nobody follows."""
        self._rests_on.update(self._events.get(host, ()))

    def note_operation(self, number: int) -> None:
        """Note that an event adds to the history of what clients do."""
        self._operations.append(number)

    def read_history(self) -> None:
        """Note that the history is looked at: what is read rests on all that it contains."""
        self._rests_on.update(self._operations)

    def settle(self, host: str, number: int) -> set[int]:
        """Return the events that the one that is over rests on."""
        found = self._rests_on | self._cells.settle(number)
        of_host = self._events.setdefault(host, [])
        if self._by_hosts:
            found.update(of_host[-1:])
        of_host.append(number)
        for task in self._stepped:
            self._steps[id(task)] = task, number
        self._rests_on, self._stepped = set(), []
        return {each for each in found if 0 <= each < number}

    # -- what code does ------------------------------------------------------------------------------------------

    def _on_call(self, frame: FrameType, event: str, argument: Any) -> Any:
        if not _is_looked_into(frame.f_code):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self._on_instruction

    def _on_instruction(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "opcode":
            access = find_accesses(frame.f_code).get(frame.f_lasti)
            if access is not None:
                self._follow(frame, access)
        return self._on_instruction

    def _follow(self, frame: FrameType, access: Access) -> None:
        """Touch the cells of a chain of names."""
        root, name, attributes, binds = access
        touch = self._cells.touch
        if root is Root.GLOBAL:
            variables = frame.f_globals
            if name not in variables and not binds:
                return
            if binds or not callable(variables[name]):
                touch("variable", variables, name, _getter(variables, name), binds=binds and not attributes)
            value = variables.get(name)
        else:
            value = frame.f_locals.get(name, _MISSING)
            if root is Root.CELL:
                # The cell itself cannot be reached.  By its name: those of one name at a host are taken for one.
                file = frame.f_code.co_filename
                touch("variable", file, f"{self._host} {name}", _constant, binds=binds and not attributes)
        for place, attribute in enumerate(attributes):
            own = getattr(value, "__dict__", None)
            if not isinstance(own, dict) or isinstance(value, type):
                break
            is_last = place == len(attributes) - 1
            if attribute not in own and not (binds and is_last):
                return  # of the class: a method, or a property, which is code itself
            touch("attribute", own, attribute, _getter(own, attribute), binds=binds and is_last)
            value = own.get(attribute)
        if isinstance(value, _CONTAINERS):
            touch("content", value, "", partial(_same, value))
        elif isinstance(value, asyncio.Queue | asyncio.Event | asyncio.Future):
            touch("meeting", value, "", partial(_same, value))


def _same(value: Any) -> Any:
    return value


def _constant() -> None:
    """Stand for what changes only where it is bound."""


def _getter(variables: dict[str, Any], name: str) -> Callable[[], Any]:
    def look() -> Any:
        value = variables.get(name)
        # Its content is a cell of its own: to pass a container on is not to look into it.
        return id(value) if isinstance(value, _CONTAINERS) else value

    return look


_looked_into: dict[CodeType, bool] = {}


def _is_looked_into(code: CodeType) -> bool:
    found = _looked_into.get(code)
    if found is None:
        file = code.co_filename
        found = file.startswith(_LIBRARIES) or not file.startswith(_STANDARD)
        _looked_into[code] = found
    return found
