"""A cluster of processes on this machine, for trying and for tests: what it is made of is in a file in its folder.

The folder decides: whoever starts a cluster in it again gets the same addresses, and finds the files there.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from clew.boomfs.settings import Policy
from clew.errors import UsageError
from clew.files.reading import read_input

_PLAN = "cluster.json"
#: A plan is a few lines for each process; what is longer is cut, and is no JSON then.
_LARGEST_PLAN = 1_000_000
#: For a process to say that it listens, in seconds.
_START_SECONDS = 60.0


@dataclass(frozen=True)
class Plan:
    """Who there is: NameNodes by partition, DataNodes with the address of their rules and that of their bytes."""

    namenodes: tuple[tuple[str, ...], ...]
    datanodes: tuple[tuple[str, str], ...]
    policy: Policy
    capacity: int | None = None

    def write(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / _PLAN).write_text(json.dumps(asdict(self), indent=2) + "\n", encoding="utf-8")

    @staticmethod
    def read(folder: Path) -> Plan:
        """Read the plan of a folder; UsageError if there is none."""
        try:
            found = json.loads(read_input(folder / _PLAN, _LARGEST_PLAN))
            return Plan(
                tuple(tuple(group) for group in found["namenodes"]),
                tuple((rules, data) for rules, data in found["datanodes"]),
                Policy(**found["policy"]),
                found["capacity"],
            )
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UsageError(
                f"'{folder}' is not the folder of a cluster: {error}",
                remedy="make one with 'boomfs up --dir FOLDER'",
            ) from None


def make_plan(
    *, partitions: int, namenodes: int, datanodes: int, policy: Policy, capacity: int | None = None
) -> Plan:
    """Make a plan with free ports of this machine."""
    ports = iter(_free_ports(partitions * namenodes + 2 * datanodes))
    groups = tuple(tuple(f"127.0.0.1:{next(ports)}" for _ in range(namenodes)) for _ in range(partitions))
    nodes = tuple((f"127.0.0.1:{next(ports)}", f"127.0.0.1:{next(ports)}") for _ in range(datanodes))
    return Plan(groups, nodes, policy, capacity)


def _free_ports(count: int) -> list[int]:
    held: list[socket.socket] = []
    ports: list[int] = []
    try:
        while len(ports) < count:
            udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            tcp = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            held += [udp, tcp]
            udp.bind(("127.0.0.1", 0))
            try:
                tcp.bind(("127.0.0.1", udp.getsockname()[1]))
            except OSError:
                continue  # free for datagrams, but not for connections
            ports.append(udp.getsockname()[1])
    finally:
        for each in held:
            each.close()
    return ports


class LocalCluster:
    """The processes of a plan, by name: ``namenode 0 1`` is of partition 0 and rank 1, ``datanode 2`` a DataNode.

    They end with the process that started them, however it ends.
    """

    def __init__(self, folder: Path, plan: Plan, environment: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self.plan = plan
        self._environment = {**os.environ, **(environment or {})}
        self.processes: dict[str, subprocess.Popen[str]] = {}
        self._logged: dict[str, int] = {}

    @property
    def namenodes(self) -> str:
        """Return the addresses of all NameNodes, as clients are given them."""
        return ",".join(addr for group in self.plan.namenodes for addr in group)

    def names(self) -> list[str]:
        ranks = [(p, r) for p, group in enumerate(self.plan.namenodes) for r in range(len(group))]
        return [
            *(f"namenode {partition} {rank}" for partition, rank in ranks),
            *(f"datanode {number}" for number in range(len(self.plan.datanodes))),
        ]

    def start(self) -> None:
        """Start all processes, and wait until they listen."""
        self.plan.write(self.folder)
        try:
            for name in self.names():
                self._launch(name)
            for name in self.names():
                self._wait_for(name)
        except BaseException:
            self.stop()
            raise

    def restart(self, name: str) -> None:
        """Start a process that has ended."""
        self._launch(name)
        self._wait_for(name)

    def kill(self, name: str) -> None:
        """End a process as a power failure does, without a word to it."""
        process = self.processes.pop(name)
        process.kill()
        process.wait()
        _close_pipes(process)

    def pause(self, name: str) -> None:
        self.processes[name].send_signal(signal.SIGSTOP)

    def resume(self, name: str) -> None:
        self.processes[name].send_signal(signal.SIGCONT)

    def ended(self) -> list[str]:
        """Return the processes that have ended by themselves."""
        return [name for name, process in self.processes.items() if process.poll() is not None]

    def stop(self) -> None:
        processes, self.processes = list(self.processes.values()), {}
        for process in processes:
            process.send_signal(signal.SIGCONT)
            process.terminate()
        for process in processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            _close_pipes(process)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def folder_of(self, name: str) -> Path:
        return self.folder / name.replace(" ", "-")

    def _launch(self, name: str) -> None:
        self.folder_of(name).mkdir(parents=True, exist_ok=True)
        with (self.folder_of(name) / "log").open("a", encoding="utf-8") as log:
            self._logged[name] = log.tell()
            self.processes[name] = subprocess.Popen(
                [sys.executable, "-m", "clew.boomfs", *name.split(), "--dir", str(self.folder), "--until-eof"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=self._environment,
                # Ctrl-C is for the process that started them, which ends them in order.
                start_new_session=True,
            )

    def _wait_for(self, name: str) -> None:
        process = self.processes[name]
        assert process.stdout is not None
        deadline = time.monotonic() + _START_SECONDS
        line = process.stdout.readline()
        if not line.startswith("listening") or time.monotonic() > deadline:
            with (self.folder_of(name) / "log").open("rb") as file:
                file.seek(self._logged[name])
                said = file.read(2000).decode(errors="replace").strip().removeprefix("Error: ")
            raise UsageError(
                f"{name} has not started: {said or 'it says nothing'}",
                remedy="end what is at its address, perhaps the same cluster, or use another folder",
            )


def _close_pipes(process: subprocess.Popen[Any]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()


def describe(plan: Plan) -> Sequence[str]:
    """Return lines that say what a cluster is made of."""
    groups = len(plan.namenodes)
    ranks = len(plan.namenodes[0])
    of_paxos = f" of {ranks} NameNodes each" if ranks > 1 else ""
    return [
        f"{groups} partition{'s' if groups > 1 else ''}{of_paxos}, {len(plan.datanodes)} DataNodes, "
        f"{plan.policy.replicas} replicas, chunks of {plan.policy.chunk_size} bytes",
        f"  boomfs://{','.join(addr for group in plan.namenodes for addr in group)}/",
    ]
