"""A NameNode without a network: requests go in, and the answers that leave it come out, step by step."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from clew.boomfs.namenode.node import NameNode
from clew.boomfs.settings import DEFAULT_POLICY, Policy

#: A command with its path and argument.
Command = tuple[str, str, Any]


class TickingNameNode:
    def __init__(self, policy: Policy = DEFAULT_POLICY, partition: int = 0, partitions: int = 1) -> None:
        self.node = NameNode("nn", policy=policy, partition=partition, cluster=[["nn"]] * partitions)
        self.now = 1000.0
        self.sent: list[tuple[str, tuple[Any, ...]]] = []
        self.refused: list[Any] = []
        self._numbers: dict[str, int] = {}
        self._beats = 0
        self.wait(0.25)

    def run(self) -> None:
        """Run steps until nothing is left to do."""
        for step in self.node.until_quiet(10_000):
            self.sent += step.sent
            self.refused += step.refused

    def wait(self, seconds: float) -> None:
        """Let the timer go off for some time."""
        for _ in range(round(seconds * 4)):
            self.now += 0.25
            self.node.machine.deliver("timer", (round(self.now * 4), self.now))
            self.run()

    def take(self, channel: str) -> list[tuple[Any, ...]]:
        """Return what was sent to a channel, without whom it is for, and forget it."""
        found = [row[1:] for name, row in self.sent if name == channel]
        self.sent = [(name, row) for name, row in self.sent if name != channel]
        return found

    # -- clients -------------------------------------------------------------------------------------------------

    def ask_together(self, commands: Iterable[Command]) -> list[tuple[bool, Any]]:
        """Ask for several things in one step, each in a session of its own, in order."""
        asked = list(commands)
        for place, (command, path, arg) in enumerate(asked):
            self.repeat(f"s{place:04}", self._number(f"s{place:04}"), command, path, arg)
        self.run()
        answers = {row[0]: (row[4], row[5]) for row in self.take("response")}
        return [answers[f"s{place:04}"] for place in range(len(asked))]

    def ask(self, command: str, path: str = "/", arg: Any = None) -> tuple[bool, Any]:
        (answer,) = self.ask_together([(command, path, arg)])
        return answer

    def repeat(self, session: str, number: int, command: str, path: str, arg: Any) -> None:
        self.node.machine.deliver("request", ("nn", "client", session, number, command, path, arg))

    def _number(self, session: str) -> int:
        self._numbers[session] = self._numbers.get(session, 0) + 1
        return self._numbers[session]

    # -- DataNodes -----------------------------------------------------------------------------------------------

    def beat(self, *addrs: str, free: int = 10**9, pages: Iterable[tuple[int, str]] = ()) -> None:
        """Let DataNodes send heartbeats; ``a`` serves its bytes at ``A``."""
        self._beats += 1
        for addr in addrs:
            row = ("nn", addr, self._beats, addr.upper(), free, frozenset(pages))
            self.node.machine.deliver("heartbeat", row)
        self.run()

    def report(self, addr: str, page: int, chunks: Iterable[tuple[int, int]], digest: str = "digest") -> None:
        self.node.machine.deliver("page_report", ("nn", addr, page, digest, frozenset(chunks)))
        self.run()

    def add_chunk(self, path: str, excluded: tuple[str, ...] = ()) -> tuple[bool, Any]:
        fileid = self.ask("stat", path)[1][0]
        return self.ask("add_chunk", path, (fileid, excluded))

    def write(self, path: str, length: int = 100) -> tuple[int, tuple[str, ...]]:
        """Add a chunk to a file as a client does; return its number, and who has it."""
        _, (chunk, places) = self.add_chunk(path)
        assert self.ask("seal", path, (chunk, length, places)) == (True, None)
        return chunk, places
