"""A job queue with a visibility timeout, and a service that must not do twice what comes twice.

A shop puts the orders of its customers into a queue, again and again until the queue has accepted them.  The queue
keeps them on disk.  It hands each to one of two workers and hides it for ``VISIBILITY`` seconds; if the worker has
not reported it done by then, the queue hands it out again, to the next worker.  So a job is never lost, whoever
goes down, and it can be done more than once: "at least once" is all that a queue can say.  -> ``Shop``, ``Queue``

A worker asks the payment service to charge the customer, and reports the job done when it has.  The service knows
that it may be asked twice: each order has a key, and what has been charged under a key is only confirmed when it
is asked for again.  The charges themselves are in its book, which is on disk.  -> ``Worker``, ``Payments``

What is promised: each order of which the shop was told that it is accepted has been charged in the end, once, and
is no longer in the queue.

*The bug* (``cached``).  The keys are in a cache, and a restart empties it.  That is harmless for as long as
nothing is handed out again, and being handed out again is harmless while the service remembers.  It takes both:

    clew check examples/jobs/jobs.py:cached

*The cure* (``durable``): the keys are on disk, written together with the charge.  No two faults of four kinds
break that, whatever they hit in the first two seconds:

    clew check examples/jobs/jobs.py:durable --strategy exhaustive
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from clew.simulation import Context, Elapse, Faults, Node, Scenario, Send, VirtualTime

WORKERS = ("ann", "bob")
#: Seconds for which a job is hidden after it was handed out: longer than anything takes, or anybody is down.
VISIBILITY = 2.0
#: Seconds after which the shop sends again what has not been accepted.
AGAIN = 0.5


@dataclass(frozen=True)
class Keyed:
    """A message about one order; ``key`` is its identity."""

    key: str

    @property
    def label(self) -> str:
        return f"{type(self).__name__.lower()} {self.key}"


class Order(Keyed):
    """From outside to the shop, and from the shop to the queue."""


class Accepted(Keyed):
    """From the queue to the shop: it is on disk and will be done."""


class Job(Keyed):
    """From the queue to a worker: do this."""


class Done(Keyed):
    """From a worker to the queue: this need not be handed out again."""


class Charge(Keyed):
    """From a worker to the payment service."""


class Charged(Keyed):
    """From the payment service to a worker: that is done, now or earlier."""


class Shop(Node):
    """Puts orders into the queue until they are accepted."""

    def on_start(self, ctx: Context) -> None:
        self.waiting: tuple[str, ...] = ()
        self.accepted: tuple[str, ...] = ()

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        match message:
            case Order(key):
                self.waiting += (key,)
                self._put(ctx)
            case Accepted(key) if key in self.waiting:
                self.waiting = tuple(each for each in self.waiting if each != key)
                self.accepted += (key,)

    def on_timer(self, ctx: Context, name: str) -> None:
        self._put(ctx)

    def _put(self, ctx: Context) -> None:
        for key in self.waiting:
            ctx.send("queue", Order(key))
        if self.waiting:
            ctx.set_timer("again", after=AGAIN)


class Queue(Node):
    """Keeps jobs on disk until they are done; there is one timer for each, by its key, while it is hidden."""

    def on_start(self, ctx: Context) -> None:
        self.jobs: tuple[str, ...] = ctx.durable.get("jobs", ())
        self.known: frozenset[str] = ctx.durable.get("known", frozenset())
        self.turn = 0
        # What was hidden is visible again: which worker had it, only memory knew.
        for key in self.jobs:
            self._hand_out(ctx, key)

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        match message:
            case Order(key):
                if key not in self.known:
                    self._keep(ctx, (*self.jobs, key))
                    self.known = ctx.durable["known"] = self.known | {key}
                    self._hand_out(ctx, key)
                ctx.send(sender, Accepted(key))
            case Done(key):
                self._keep(ctx, tuple(each for each in self.jobs if each != key))
                ctx.cancel_timer(key)

    def on_timer(self, ctx: Context, name: str) -> None:
        self._hand_out(ctx, name)

    def _keep(self, ctx: Context, jobs: tuple[str, ...]) -> None:
        self.jobs = ctx.durable["jobs"] = jobs

    def _hand_out(self, ctx: Context, key: str) -> None:
        ctx.send(WORKERS[self.turn % len(WORKERS)], Job(key))
        self.turn += 1
        ctx.set_timer(key, after=VISIBILITY)


class Worker(Node):
    """Does one job after the other and remembers none: whatever goes wrong, the queue will hand it out again."""

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        match message:
            case Job(key):
                ctx.send("payments", Charge(key))
            case Charged(key):
                ctx.send("queue", Done(key))


class Payments(Node):
    """Charges customers, and does not do so again under the same key.

    ``book``: what customers have been charged for, on disk.  ``keys``: what must not be charged again, on disk if
    ``careful``.
    """

    def __init__(self, careful: bool) -> None:
        self._careful = careful

    def on_start(self, ctx: Context) -> None:
        self.book: tuple[str, ...] = ctx.durable.get("book", ())
        # The bug: without the second half, a restart forgets.
        self.keys: frozenset[str] = ctx.durable.get("keys", frozenset()) if self._careful else frozenset()

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        key = message.key
        if key not in self.keys:
            self.keys |= {key}
            self.book += (key,)
            # One event, so that no crash comes between the charge and its key.
            ctx.durable["book"], ctx.durable["keys"] = self.book, self.keys
        ctx.send(sender, Charged(key))


def something_was_accepted(nodes: Mapping[str, Any]) -> bool:
    """Tell whether the shop was told that an order is accepted: otherwise nobody was promised anything."""
    return "shop" in nodes and bool(nodes["shop"].accepted)


def accepted_orders_are_done_once(nodes: Mapping[str, Any]) -> str | None:
    """Check that what was accepted has been charged, once, and that the queue has let go of it."""
    for key in nodes["shop"].accepted:
        times = nodes["payments"].book.count(key)
        if times != 1:
            return f"{key} was accepted and charged {times} times"
        if key in nodes["queue"].jobs:
            return f"{key} was charged and is still in the queue"
    return None


def _scenario(careful: bool, **how: Any) -> Scenario:
    nodes: dict[str, Callable[[], Node]] = {
        "shop": Shop,
        "queue": Queue,
        **dict.fromkeys(WORKERS, Worker),
        "payments": partial(Payments, careful),
    }
    return Scenario(
        nodes=nodes,
        running=tuple(nodes),
        before=[Elapse(0.5), Send("shop", Order("o1")), Elapse(0.5), Send("shop", Order("o2"))],
        promises=[accepted_orders_are_done_once],
        assume=something_was_accepted,
        time=VirtualTime(latency=0.01, until=12),
        **how,
    )


# Whoever goes down is back: a queue that is gone for good does nothing, and that is no news.
cached = _scenario(
    careful=False,
    faults=Faults(losses=2, restarts=2, total=2),
    expect="counterexample",
    expect_faults=2,
)
durable = _scenario(
    careful=True,
    faults=Faults(losses=2, restarts=2, partitions=1, duplicates=1, total=2, until=2),
    expect="certified",
)
