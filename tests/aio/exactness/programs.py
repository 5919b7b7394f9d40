"""Small asyncio programs, drawn: hosts that ask each other over streams and datagrams, and what they do meanwhile.

A program is data, so that it can be printed and made smaller; ``Host`` executes it as ordinary asyncio code.  What
a client has found out at the end is promised to be what it is without faults, or a part of that.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from typing import Any

from clew.aio import Settings, World
from clew.simulation import Faults

PORT, TELL_PORT = 7000, 7001
NAMES = ("a", "b", "c")
#: A message that was passed on so often is passed on no more.
MOST_HOPS = 2
FAILURES = (OSError, EOFError, TimeoutError)

#: Something that a host does: ``("ask", "b", 0, 300, 2, False)``; see ``Host``.
Act = tuple[Any, ...]
Body = tuple[Act, ...]


@dataclass(frozen=True)
class Program:
    """``handlers``: by host, what it does when it is asked for this number; ``beats``: what it does all the time.

    ``promised``: the places of what the client has found out that must be as without faults; ``assumed``: those
    that it must have found out at all.
    """

    number: int
    hosts: tuple[str, ...]
    handlers: dict[str, tuple[Body, ...]]
    boots: dict[str, Body]
    beats: dict[str, tuple[int, Act]]
    client: Body
    promised: tuple[int, ...]
    assumed: bool
    settings: dict[str, Any]
    faults: dict[str, Any]


class Host:
    """One life of a host."""

    def __init__(self, program: Program, name: str) -> None:
        self.program, self.name = program, name
        self.x = 0
        self.found: list[int] = []
        self.lock = asyncio.Lock()
        self.event = asyncio.Event()
        self.queue: asyncio.Queue[int] = asyncio.Queue(maxsize=2)
        self.tasks: set[asyncio.Task[None]] = set()
        self.kept: dict[str, tuple[asyncio.StreamReader, asyncio.StreamWriter]] = {}
        self.teller: asyncio.DatagramTransport | None = None

    async def serve(self) -> None:
        loop = asyncio.get_running_loop()
        self.teller, _ = await loop.create_datagram_endpoint(lambda: Told(self), local_addr=("0.0.0.0", TELL_PORT))
        server = await asyncio.start_server(self.connected, port=PORT)
        await self.run(self.program.boots.get(self.name, ()), 0)
        every, act = self.program.beats.get(self.name, (0, ()))
        while every:
            await asyncio.sleep(every / 1000)
            await self.run((act,), MOST_HOPS)
        async with server:
            await server.serve_forever()

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(*FAILURES):
            while line := await reader.readline():
                handler, hops, value = map(int, line.split())
                await self.handle(handler, hops, value)
                writer.write(b"%d\n" % self.x)
                await writer.drain()
        writer.close()

    async def handle(self, handler: int, hops: int, value: int) -> None:
        if handler >= 0:
            self.x += value
            await self.run(self.program.handlers[self.name][handler], hops)

    def begin(self, coroutine: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(coroutine)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def run(self, body: Body, hops: int) -> None:
        for name, *rest in body:
            await getattr(self, f"do_{name}")(hops, *rest)

    # -- what hosts do

    async def do_add(self, hops: int, number: int) -> None:
        self.x += number

    async def do_double(self, hops: int) -> None:
        self.x *= 2

    async def do_sleep(self, hops: int, milliseconds: int) -> None:
        await asyncio.sleep(milliseconds / 1000)

    async def do_draw(self, hops: int, most: int) -> None:
        self.x += random.randrange(most)

    async def do_thread(self, hops: int, number: int) -> None:
        await asyncio.to_thread(self.add_in_thread, number)

    def add_in_thread(self, number: int) -> None:
        self.x += number

    async def do_lock(self, hops: int, *body: Act) -> None:
        async with self.lock:
            before = self.x
            await self.run(body, hops)
            self.x = max(self.x, before + 1)

    async def do_spawn(self, hops: int, *body: Act) -> None:
        self.begin(self.run(body, hops))

    async def do_both(self, hops: int, *acts: Act) -> None:
        async with asyncio.TaskGroup() as group:
            for act in acts:
                group.create_task(self.run((act,), hops))

    async def do_first(self, hops: int, *acts: Act) -> None:
        """Take whichever is done first, and leave the others."""
        tasks = {asyncio.create_task(self.run((act,), hops)) for act in acts}
        _, left = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in left:
            task.cancel()

    async def do_shield(self, hops: int, limit: int, *body: Act) -> None:
        task = asyncio.ensure_future(self.run(body, hops))
        try:
            async with asyncio.timeout(limit / 1000):
                await asyncio.shield(task)
        except TimeoutError:
            self.x += 7
        finally:
            self.x += 1

    async def do_fire(self, hops: int) -> None:
        self.event.set()

    async def do_await(self, hops: int, limit: int) -> None:
        try:
            await asyncio.wait_for(self.event.wait(), limit / 1000)
            self.x += 3
        except TimeoutError:
            self.x -= 1

    async def do_put(self, hops: int, number: int) -> None:
        if not self.queue.full():
            self.queue.put_nowait(number)

    async def do_take(self, hops: int, limit: int) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(limit / 1000):
                self.x += await self.queue.get()

    async def do_unless(self, hops: int, least: int, *body: Act) -> None:
        if self.x < least:
            await self.run(body, hops)

    async def do_tell(self, hops: int, target: str, handler: int, value: int) -> None:
        if hops < MOST_HOPS and self.teller is not None:
            self.teller.sendto(b"%d %d %d" % (handler, hops + 1, value), (target, TELL_PORT))

    async def do_ask(
        self, hops: int, target: str, handler: int, value: int, limit: int, tries: int, keep: bool
    ) -> None:
        """Ask another host, on a connection that is kept or one of its own; several times, if need be."""
        answer = -1
        for _ in range(tries if hops < MOST_HOPS else 0):
            try:
                async with asyncio.timeout(limit / 1000):
                    reader, writer = await self.connect(target, keep)
                    try:
                        writer.write(b"%d %d %d\n" % (handler, hops + 1, value))
                        answer = int(await reader.readline() or b"-1")
                    finally:
                        if not keep:
                            writer.close()
            except FAILURES:
                if keep and target in self.kept:
                    self.kept.pop(target)[1].close()
                continue
            if answer >= 0:
                break
        self.found.append(answer)
        self.x += max(answer, 0) % 5

    async def connect(self, target: str, keep: bool) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if not keep:
            return await asyncio.open_connection(target, PORT)
        if target not in self.kept:
            self.kept[target] = await asyncio.open_connection(target, PORT)
        return self.kept[target]


class Told(asyncio.DatagramProtocol):
    def __init__(self, host: Host) -> None:
        self.host = host

    def datagram_received(self, data: bytes, addr: Any) -> None:
        self.host.begin(self.host.handle(*map(int, data.split())))


async def serve(program: Program, name: str) -> None:
    await Host(program, name).serve()


#: What the client finds out, of one run; None where it did not come so far.
Found = list[int]


def scenario_function(
    program: Program, expected: Found | None = None, tell: Callable[[Found], None] = lambda found: None
) -> Callable[[World], Coroutine[Any, Any, None]]:
    """Return the scenario; ``tell`` gets what the client has found out."""

    async def scenario(world: World) -> None:
        for name in program.hosts:
            world.start(name, serve, program, name)
        await asyncio.sleep(0.1)
        client = Host(program, "client")
        await client.run(program.client, 0)
        for name in program.hosts:
            await client.do_ask(0, name, -1, 0, 400, 1, False)
        found = [*client.found, client.x]
        tell(found)
        if program.assumed:
            world.assume(min(found) >= 0)
        for place in program.promised:
            kept = expected is None or found[place] == expected[place]
            world.promise(f"result {place}", kept, "" if kept else f"it is {found[place]}")

    return scenario


def settings_of(program: Program) -> Settings:
    return Settings(**program.settings, faults=Faults(**program.faults))


@dataclass
class Drawer:
    """Draws a program, and nothing but that: the same number is the same program everywhere."""

    random: Random
    hosts: tuple[str, ...] = ()
    handlers: dict[str, int] = field(default_factory=dict)

    def chance(self, likely: float) -> bool:
        return self.random.random() < likely

    def act(self, name: str, depth: int = 0) -> Act:
        random = self.random
        others = [host for host in self.hosts if host != name] or list(self.hosts)
        match random.choice(_ACTS if depth < 2 else _PLAIN):
            case "ask" if others:
                target = random.choice(others)
                handler = random.randrange(self.handlers[target])
                limit, tries = random.choice((150, 300)), random.choice((1, 1, 2))
                return ("ask", target, handler, random.randrange(3), limit, tries, self.chance(0.3))
            case "tell" if others:
                target = random.choice(others)
                return ("tell", target, random.randrange(self.handlers[target]), random.randrange(1, 3))
            case "lock" | "spawn" | "both" | "first" as kind:
                return (kind, *(self.act(name, depth + 1) for _ in range(random.randint(1, 2))))
            case "shield":
                return ("shield", random.choice((50, 200)), self.act(name, depth + 1))
            case "unless":
                return ("unless", random.randint(1, 4), self.act(name, depth + 1))
            case "await" | "take" as kind:
                return (kind, random.choice((50, 200)))
            case "put" | "add" | "thread" as kind:
                return (kind, random.randint(1, 3))
            case "sleep":
                return ("sleep", random.choice((1, 20, 150)))
            case "draw":
                return ("draw", 4)
            case "fire" | "double" as kind:
                return (kind,)
        return ("add", 1)

    def body(self, name: str, most: int) -> Body:
        return tuple(self.act(name) for _ in range(self.random.randint(1, most)))


_PLAIN = ("add", "add", "double", "sleep", "draw", "thread", "fire", "put", "await", "take", "tell")
_ACTS = (*_PLAIN, "ask", "ask", "ask", "tell", "tell", "lock", "spawn", "both", "first", "shield", "unless")


def draw_program(number: int) -> Program:
    random = Random(number)
    drawer = Drawer(random)
    drawer.hosts = NAMES[: random.choice((1, 1, 2, 2, 3))]
    drawer.handlers = {host: random.randint(1, 2) for host in drawer.hosts}
    handlers = {host: tuple(drawer.body(host, 2) for _ in range(drawer.handlers[host])) for host in drawer.hosts}
    boots = {host: drawer.body(host, 1) for host in drawer.hosts if drawer.chance(0.2)}
    beats = {host: (random.choice((70, 130)), drawer.act(host)) for host in drawer.hosts if drawer.chance(0.15)}
    client = drawer.body("client", 3)
    places = sum(act[0] == "ask" for act in client) + len(drawer.hosts)
    promised = tuple(sorted(random.sample(range(places), random.randint(1, places))))
    settings = {
        "unit": random.choice(("connection", "connection", "request", "segment")),
        "lineage": random.choice(("tasks", "hosts")),
        "latency": random.choice((0.01, 0.01, (0.001, 0.03))),
        "drift": random.choice((0.0, 0.0, 0.05)),
        "segment": random.choice((65536, 65536, 3)),
        "until": 8.0,
    }
    faults = draw_faults(random)
    return Program(
        number, drawer.hosts, handlers, boots, beats, client, promised, drawer.chance(0.5), settings, faults
    )


def draw_faults(random: Random) -> dict[str, Any]:
    kinds = ("losses", "crashes", "restarts", "partitions", "duplicates")
    weights = (5, 3, 2, 2, 1)
    chosen = set(random.choices(kinds, weights, k=random.randint(1, 2)))
    faults: dict[str, Any] = {kind: random.choice((1, 1, 2)) if kind in chosen else 0 for kind in kinds}
    faults["total"] = random.choice((1, 2, 2))
    faults["until"] = random.choice((None, None, 0.2, 0.5))
    faults["outages"] = random.choice(((0.3,), (0.05, 1.0)))
    return faults
