"""One run of a node: its sockets, its timers and its durable tables, in one event loop.

A step takes everything that has arrived.  Its changes to durable tables are written first; then its messages
leave, and callbacks are called.  If it leaves something for the next step (``<+``), the next step is written, too,
before anything is told: what a message acknowledges in the same step is in the file.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clew.bloom.ir.program import BloomProgram
from clew.bloom.ir.schema import Collection, Kind
from clew.bloom.network.access import Access
from clew.bloom.network.addresses import Address, parse_address
from clew.bloom.network.durable import DurableTables, file_for
from clew.bloom.network.limits import LimitedLog, Limits
from clew.bloom.network.transport import Transport
from clew.bloom.network.wire import NotSentError, decode, encode
from clew.bloom.runtime.calls import row_type
from clew.bloom.runtime.invariants import InvariantError
from clew.bloom.runtime.machine import Machine, StepResult
from clew.bloom.values import Row
from clew.errors import UsageError

_log = logging.getLogger("clew.bloom")

#: Where a node listens that has channels and was given no address: for this machine only.
ANY_PORT = Address("127.0.0.1", 0)


@dataclass(eq=False)
class Watch:
    """A callback for what appears in a collection.

    ``everything``: at first all that is there, and only then what appears.
    """

    collection: Collection
    callback: Callable[[Sequence[Any]], object]
    everything: bool = False

    def rows(self, machine: Machine, stepped: StepResult) -> Sequence[Any]:
        name = self.collection.name
        if self.collection.kind is not Kind.TABLE or self.everything:
            self.everything = False
            return list(machine.rows(name))
        if name not in stepped.changes:
            return ()
        return [row_type(self.collection.schema.columns)(row) for row in stepped.changes[name].added]


@dataclass(frozen=True)
class _Effects:
    """What the world is told of a step."""

    stepped: StepResult
    watched: Sequence[tuple[Watch, Sequence[Any]]]


@dataclass(frozen=True)
class Settings:
    """What a node is run with.  ``lock`` is held by whoever uses the machine, the watches or what ``begin`` gave.

    ``begin`` is told the address and what durable tables held, and gives the machine.
    """

    program: BloomProgram
    address: str | None
    data: str | Path | None
    printer: Callable[[str], object]
    garbage: Counter[str]
    lock: AbstractContextManager[object]
    watches: list[Watch]
    begin: Callable[[str | None, Mapping[str, Sequence[Row]]], Machine]
    limits: Limits
    access: Access


class Driver:
    """``ready`` is called when the node listens, before its first step."""

    def __init__(self, settings: Settings, ready: Callable[[], object]) -> None:
        self._settings = settings
        self._ready = ready
        self._program = settings.program
        self._garbage = settings.garbage
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._lines = LimitedLog(_log, settings.limits.log_lines, self._loop.call_later)
        self._finished: asyncio.Future[None] = self._loop.create_future()
        self._transport: Transport | None = None
        self._tables: DurableTables | None = None
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._scheduled = False
        self._arrived: dict[str, list[Row]] = {}
        self._locations = _locations(self._program)
        self._held: list[_Effects] = []
        self._own: str | None = None

    @property
    def is_here(self) -> bool:
        """Tell whether the caller is in the thread of the event loop."""
        return threading.get_ident() == self._thread

    async def run(self) -> None:
        """Run until ``finish``, or until durable tables cannot be written."""
        try:
            await self._open()
            self._ready()
            self._wake()
            await self._finished
        finally:
            await self._close()

    def finish(self) -> None:
        """End the run, from any thread.  The step that is going on is completed."""
        self._call(self._finish)

    def wake(self) -> None:
        """Make a step soon, from any thread: there is something to do."""
        self._call(self._wake)

    def _call(self, function: Callable[[], None]) -> None:
        if self.is_here:
            function()
            return
        try:
            self._loop.call_soon_threadsafe(function)
        except RuntimeError:  # the loop was closed in this moment
            _log.debug("the node has just ended")

    def _finish(self, error: BaseException | None = None) -> None:
        if self._finished.done():
            return
        if error is None:
            self._finished.set_result(None)
        else:
            self._finished.set_exception(error)

    # -- opening and closing -------------------------------------------------------------------------------------

    async def _open(self) -> None:
        settings, collections = self._settings, self._program.collections
        tables = self._durable_tables()
        if settings.address is not None or any(c.kind is Kind.CHANNEL for c in collections):
            self._transport = Transport(
                self._receive, self._garbage, settings.limits, settings.access, self._lines
            )
            self._own = str(await self._transport.open(_require_address(settings.address)))
        if tables and settings.data is not None:
            self._tables = DurableTables(file_for(settings.data, self._program.name), tables)
        kept = {table.name: self._tables.rows(table.name) for table in tables} if self._tables is not None else {}
        self._machine = settings.begin(self._own, kept)
        for timer in self._program.collections:
            if timer.kind is Kind.PERIODIC and timer.period is not None:
                self._set(timer, 1, self._loop.time() + timer.period)

    def _durable_tables(self) -> list[Collection]:
        found = [c for c in self._program.collections if c.durable]
        if found and self._settings.data is None:
            raise UsageError(
                f"{self._program.name} has the durable table '{found[0].name}' and nowhere to keep it",
                position=found[0].position,
                remedy=f'give the node a folder: {self._program.name}(..., data="folder")',
            )
        return found

    async def _close(self) -> None:
        for handle in self._timers.values():
            handle.cancel()
        if self._transport is not None:
            await self._transport.close()
        if self._tables is not None:
            self._tables.close()
        self._lines.tell()

    # -- what makes a step ---------------------------------------------------------------------------------------

    def _wake(self) -> None:
        if not self._scheduled and not self._finished.done():
            self._scheduled = True
            # Not at once: everything that has arrived in this turn of the loop goes into one step.
            self._loop.call_soon(self._step)

    def _receive(self, data: bytes) -> bool:
        """Take the rows of a packet; return False if there is not even a message in it."""
        packet = decode(data, self._settings.limits)
        for reason in packet.garbage:
            self._garbage[reason] += 1
        for message in packet.messages:
            collection = self._program.by_name.get(message.channel)
            if collection is None or collection.kind is not Kind.CHANNEL:
                self._garbage["unknown channel"] += 1
                self._lines.write("unknown channel", "rejected a row for the unknown channel %r", message.channel)
            elif len(message.row) != len(collection.schema.columns):
                self._garbage["wrong width"] += 1
                wanted = len(collection.schema.columns)
                self._lines.write(
                    "wrong width",
                    "rejected a row of %d columns for '%s', which has %d",
                    len(message.row),
                    message.channel,
                    wanted,
                )
            else:
                self._note_arrival(message.channel, message.row)
        return bool(packet.messages)

    def _note_arrival(self, collection: str, row: Row) -> None:
        self._arrived.setdefault(collection, []).append(row)
        self._wake()

    def _set(self, timer: Collection, number: int, due: float) -> None:
        self._timers[timer.name] = self._loop.call_at(due, self._fire, timer, number, due)

    def _fire(self, timer: Collection, number: int, due: float) -> None:
        """Let a timer go off; the next one is due at a multiple of the period, and missed ones are left out."""
        assert timer.period is not None
        self._note_arrival(timer.name, (number, time.time()))
        # Not one after the other: after a long step, a burst of them would make the next step late, too.
        missed = int((self._loop.time() - due) / timer.period)
        self._set(timer, number + 1, due + (missed + 1) * timer.period)

    # -- a step --------------------------------------------------------------------------------------------------

    def _step(self) -> None:
        self._scheduled = False
        if self._finished.done():
            return
        try:
            taken = self._take_step()
            if taken is not None:
                self._keep_and_tell(*taken)
        except Exception as error:
            self._finish(error)

    def _take_step(self) -> tuple[_Effects, bool] | None:
        """Take a step; return what it tells the world, and whether another one has something to do."""
        arrived, self._arrived = self._arrived, {}
        with self._settings.lock:
            try:
                for name, rows in arrived.items():
                    self._machine.insert(name, rows)
                stepped = self._machine.step()
            except InvariantError:
                raise  # the node ends, and whoever runs it is told: its own state is not what it must be
            except Exception:
                # It may be what somebody sent.  The changes so far are kept, and written with the next step.
                self._garbage["failed step"] += 1
                self._lines.write("failed step", "%s: a step failed", self._program.name, exc_info=True)
                return None
            watched = [(watch, watch.rows(self._machine, stepped)) for watch in self._settings.watches]
            return _Effects(stepped, watched), self._machine.pending

    def _keep_and_tell(self, effects: _Effects, pending: bool) -> None:
        for refused in effects.stepped.refused:
            self._lines.write("refused row", "%s: refused: %s", self._program.name, refused)
        told, self._held = [*self._held, effects], []
        if self._tables is not None:
            self._write(self._tables, effects.stepped)
            if pending:
                # What this step tells may rest on rows that the next one writes: it is told after that.
                self._held = [told.pop()]
        for one in told:
            self._tell(one)
        if pending:
            self._wake()

    def _write(self, tables: DurableTables, stepped: StepResult) -> None:
        by_name = self._program.by_name
        tables.write(
            (name, change.added, change.removed)
            for name, change in stepped.changes.items()
            if by_name[name].durable
        )

    def _tell(self, effects: _Effects) -> None:
        self._send(effects.stepped.sent)
        for row in effects.stepped.printed:
            self._call_user("the printer", self._settings.printer, " ".join(map(str, row)))
        for watch, rows in effects.watched:
            if rows:
                self._call_user(f"a callback for '{watch.collection.name}'", watch.callback, rows)

    def _call_user(self, who: str, function: Callable[[Any], object], argument: Any) -> None:
        try:
            function(argument)
        except Exception:
            self._lines.write(who, "%s failed", who, exc_info=True)

    def _send(self, sent: Sequence[tuple[str, Row]]) -> None:
        destinations: dict[Any, list[tuple[str, Row]]] = {}
        for channel, row in sent:
            destinations.setdefault(row[self._locations[channel]], []).append((channel, row))
        for destination, messages in destinations.items():
            if destination == self._own:
                for channel, row in messages:
                    self._note_arrival(channel, row)  # no network is needed, and nothing can get lost
            else:
                self._send_to(destination, messages)

    def _send_to(self, destination: Any, messages: Sequence[tuple[str, Row]]) -> None:
        assert self._transport is not None
        address = parse_address(destination)
        data: list[bytes] = []
        for channel, row in messages:
            try:
                if address is None:
                    raise NotSentError(f"{destination!r} is not an address such as 'localhost:4000'")
                data.append(encode(channel, row, self._settings.limits))
            except NotSentError as error:
                self._garbage["not sent"] += 1
                self._lines.write("not sent", "a row for '%s' was not sent: %s", channel, error)
        if address is not None:
            self._transport.send(address, data)


def _locations(program: BloomProgram) -> dict[str, int]:
    """Return, for each channel, the column that says where a row goes."""
    schemas = {c.name: c.schema for c in program.collections if c.kind is Kind.CHANNEL}
    return {name: s.index(s.location) for name, s in schemas.items() if s.location is not None}


def _require_address(address: str | None) -> Address:
    if address is None:
        return ANY_PORT
    found = parse_address(address)
    if found is None:
        raise UsageError(f"{address!r} is not an address", remedy="give a host and a port: 'localhost:4000'")
    return found
