"""A node on the network: steps by itself, when something arrives, is inserted, or a timer fires.

All of a run happens in one event loop, in one thread (``driver``); everything here may be called from any thread.
Whatever others do (garbage, rows that do not fit, peers that are not there) is counted in ``garbage`` or logged;
it does not end the run.  What is no part of the interface has an underscore: collections may have any other name.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from clew.bloom.ir.expressions import Expr
from clew.bloom.ir.function_code import NamesCollection
from clew.bloom.ir.program import Op
from clew.bloom.ir.schema import Kind
from clew.bloom.language.handles import CollectionHandle
from clew.bloom.network.access import TLS, check_access
from clew.bloom.network.driver import Driver, Settings, Watch
from clew.bloom.network.limits import DEFAULT_LIMITS, Limits
from clew.bloom.runtime.invariants import InvariantError
from clew.bloom.runtime.machine import Machine, StepResult
from clew.bloom.runtime.node import Node
from clew.bloom.values import Row
from clew.errors import UsageError

_log = logging.getLogger("clew.bloom")


class Bloom(Node):
    """What the classes of Bloom programs are derived from.

    ``address``: where it listens, "host:port"; with port 0 or without an address it is chosen when the node runs.
    ``data``: a folder, or a file, for durable tables.  ``printer``: gets the lines that are sent to stdio.
    ``peers``, ``secret``, ``tls``: who may talk to it, and ``limits``: what it spends on others (docs/network.md).

    ``tick()`` is one step, without a network.  ``run()`` steps until Ctrl-C, ``start()`` and ``stop()`` do so in
    the background (as ``with node:`` does), and ``run_async()`` in an event loop that is there already.
    """

    def __init__(
        self,
        address: str | None = None,
        *,
        data: str | Path | None = None,
        printer: Callable[[str], object] | None = None,
        peers: Sequence[str] | None = None,
        secret: str | bytes | None = None,
        tls: TLS | None = None,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        super().__init__(**({} if address is None else {"address": address}))
        self._access = check_access(peers, secret, tls)
        self._limits = limits
        self._data = data
        self._printer = printer or _log.info
        self._garbage: Counter[str] = Counter()
        self._given = address
        self._lock = threading.RLock()
        self._driver: Driver | None = None
        self._thread: threading.Thread | None = None
        self._watches: list[Watch] = []
        self._asking: dict[Future[Any], None] = {}
        self._failure: BaseException | None = None
        self._early: list[tuple[str, Op, Expr]] = []
        self._stepped = False

    # -- running -------------------------------------------------------------------------------------------------

    async def run_async(self, ready: Callable[[], object] = lambda: None) -> None:
        """Run in the current event loop until ``stop()``, or until it is cancelled.

        ``ready`` is called when the node listens and knows its address, before its first step.
        """
        if self._driver is not None:
            raise UsageError("the node runs already", remedy="stop() it first, or make another one")
        self._driver = Driver(self._settings(), ready)
        reason: Exception = UsageError("the node ended before there was an answer")
        try:
            await self._driver.run()
        except InvariantError as broken:
            reason = broken
            raise
        finally:
            with self._lock:
                self._driver = None
                for answer in self._asking:
                    _settle(answer, reason)

    def run(self, ready: Callable[[], object] = lambda: None) -> None:
        """Run until ``stop()``, Ctrl-C or SIGTERM."""
        with suppress(KeyboardInterrupt):
            asyncio.run(self._run_until_signal(ready))

    async def _run_until_signal(self, ready: Callable[[], object]) -> None:
        loop = asyncio.get_running_loop()
        with suppress(NotImplementedError, ValueError, RuntimeError):  # not in the main thread, or not this system
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(number, self.stop)
        await self.run_async(ready)

    def start(self) -> None:
        """Run in a thread.  When this returns, the node listens."""
        if self._driver is not None or self._thread is not None:
            raise UsageError("the node runs already", remedy="stop() it first, or make another one")
        opened: Future[None] = Future()

        def work() -> None:
            try:
                asyncio.run(self.run_async(lambda: opened.set_result(None)))
            except BaseException as error:
                if opened.done():
                    self._failure = error
                    _log.error("%s has ended: %s", type(self).__name__, error)
                else:
                    opened.set_exception(error)

        self._thread = threading.Thread(target=work, name=f"clew.bloom {type(self).__name__}")
        self._thread.start()
        try:
            opened.result()
        except BaseException:
            if self._driver is not None:  # Ctrl-C in this moment
                self._driver.finish()
            self._thread.join()
            self._thread = None
            raise

    def stop(self) -> None:
        """End the run.  Of one in the background, everything is given back when this returns.

        What ended a run in the background before is raised here.
        """
        driver, thread = self._driver, self._thread
        if driver is not None:
            driver.finish()
        if thread is not None and thread is not threading.current_thread():
            thread.join()
            self._thread = None
            failure, self._failure = self._failure, None
            if failure is not None:
                raise failure

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _settings(self) -> Settings:
        return Settings(
            self.program,
            self._given,
            self._data,
            self._printer,
            self._garbage,
            self._lock,
            self._watches,
            self._begin,
            self._limits,
            self._access,
        )

    def _begin(self, address: str | None, kept: Mapping[str, Sequence[Row]]) -> Machine:
        """Make the machine of a run: the address is known now, and what durable tables held."""
        own = address or self._address
        with self._lock:
            if self._stepped and (kept or own != self._address):
                raise UsageError(
                    "the node has stepped before it knew its address or its durable tables",
                    remedy="make another node to run",
                )
            if not self._stepped:
                self._address, self._given, self._machine = own, address, None
                for table, rows in kept.items():
                    self.machine.restore(table, rows)
                for full_name, op, expr in self._early:
                    super()._change(full_name, op, expr)
            self._early.clear()
            self._stepped = True
            return self.machine

    @property
    def garbage(self) -> Counter[str]:
        """Return what was dropped, by reason: packets and messages that arrived, or could not be sent."""
        return self._garbage

    @property
    def running(self) -> bool:
        return self._driver is not None

    def tick(self) -> StepResult:
        """Run one step, without a network."""
        if self._driver is not None:
            raise UsageError("the node steps by itself while it runs", remedy="insert rows and wait, or stop() it")
        self._stepped = True
        return super().tick()

    # -- what happens in it --------------------------------------------------------------------------------------

    def on(self, collection: Any, function: Callable[[Sequence[Any]], object]) -> Callable[[], None]:
        """Call the function after each step in which rows appear, with these rows.

        It is called in the thread of the node, which stands still meanwhile.  The result ends it.
        """
        watch = Watch(self._find_collection(collection), function)
        with self._lock:
            self._watches.append(watch)
        return lambda: self._unwatch(watch)

    def insert_and_wait(
        self,
        into: CollectionHandle,
        row: Sequence[Any],
        out: CollectionHandle,
        where: Callable[[Any], object] = lambda row: True,
        *,
        timeout: float = 5.0,
    ) -> Any:
        """Insert a row and wait for the first row of ``out`` for which ``where`` is true, from any thread.

        In a table a row that is there already will do.  TimeoutError after ``timeout`` seconds.
        """
        if self._driver is not None and self._driver.is_here:
            raise UsageError("the node would wait for itself", remedy="in its event loop, await node.call(...)")
        answer, forget = self._ask(into, row, out, where)
        try:
            return answer.result(timeout)
        except TimeoutError:
            raise TimeoutError(f"nothing in {out!r} answers {tuple(row)!r} after {timeout} seconds") from None
        finally:
            forget()

    async def call(
        self,
        into: CollectionHandle,
        row: Sequence[Any],
        out: CollectionHandle,
        where: Callable[[Any], object] = lambda row: True,
        *,
        timeout: float = 5.0,
    ) -> Any:
        """Do what ``insert_and_wait`` does, for coroutines of any event loop."""
        answer, forget = self._ask(into, row, out, where)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(answer), timeout)
        except TimeoutError:
            raise TimeoutError(f"nothing in {out!r} answers {tuple(row)!r} after {timeout} seconds") from None
        finally:
            forget()

    def _ask(
        self, into: CollectionHandle, row: Sequence[Any], out: CollectionHandle, where: Callable[[Any], object]
    ) -> tuple[Future[Any], Callable[[], None]]:
        answer: Future[Any] = Future()

        def answer_if_found(rows: Sequence[Any]) -> None:
            try:
                found = next((row for row in rows if where(row)), None)
            except Exception as error:
                _settle(answer, error)
                return
            if found is not None:
                _settle(answer, found)

        watch = Watch(self._find_collection(out), answer_if_found, everything=True)

        def forget() -> None:
            with self._lock:
                self._unwatch(watch)
                self._asking.pop(answer, None)

        with self._lock:  # no step comes between, so that the answer is not missed
            if self._driver is None:
                raise UsageError("the node does not run", remedy="start() it first; in tests, insert and tick()")
            into.insert(row)
            self._watches.append(watch)
            self._asking[answer] = None
        return answer, forget

    def _unwatch(self, watch: Watch) -> None:
        with self._lock:
            if watch in self._watches:
                self._watches.remove(watch)

    def _find_collection(self, collection: Any) -> Any:
        name = collection.name_to_read() if isinstance(collection, NamesCollection) else collection
        found = self.program.by_name.get(name) if isinstance(name, str) else None
        if found is None or found.kind is Kind.LATTICE:
            raise UsageError(
                f"{type(self).__name__} has no collection {collection!r} with rows to wait for",
                remedy="name a table, a scratch, a channel or an interface, such as node.kvget_response",
            )
        return found

    # -- from outside of rules -----------------------------------------------------------------------------------

    def _view(self, full_name: str) -> Any:
        return _LockedView(super()._view(full_name), self._lock)

    def _change(self, full_name: str, op: Op, expr: Expr) -> None:
        with self._lock:
            super()._change(full_name, op, expr)
            if not self._stepped:
                self._early.append((full_name, op, expr))  # for the machine that is made when the address is known
            driver = self._driver
        if driver is not None:
            driver.wake()


def _settle(answer: Future[Any], result: Any) -> None:
    """Give an answer, unless whoever waited has given up in this moment."""
    with suppress(InvalidStateError):
        if isinstance(result, Exception):
            answer.set_exception(result)
        else:
            answer.set_result(result)


class _LockedView:
    """A view that waits until no step is going on."""

    def __init__(self, view: Any, lock: threading.RLock) -> None:
        self._view = view
        self._lock = lock

    def __iter__(self) -> Iterator[Any]:
        with self._lock:
            return iter(list(self._view))

    def __len__(self) -> int:
        with self._lock:
            return len(self._view)

    def __contains__(self, row: object) -> bool:
        with self._lock:
            return row in self._view

    def __getattr__(self, name: str) -> Any:
        """Pass on ``row(key)`` of rows, ``value`` of a lattice."""
        with self._lock:
            return getattr(self._view, name)
