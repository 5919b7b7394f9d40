"""The replicated key-value store as three processes on the loopback interface: puts a second, and what is lost.

``python -m benchmarks.bloom_kvs`` starts three replicas of ``examples/bloom/kvs_cluster.py`` with files in a
temporary folder, and two clients that put 10,000 values, each with a window of unanswered ones.  In some runs a
replica is killed (SIGKILL) after a third of the acknowledgements and started again after two thirds.  At the end
the files are read: every acknowledged put must be in all three.  The clients share one process.
"""

from __future__ import annotations

import os
import queue
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parents[1] / "examples" / "bloom"
sys.path.insert(0, str(EXAMPLES))  # the examples import each other by name, as scripts in one folder do

from kvs_cluster import Replica, StoreClient  # noqa: E402

#: Not those that the system gives to who asks for any port: nobody gets one while its owner is down.
_PORTS = range(20_000, 32_000)
#: How long nothing may happen, in seconds, before a run is given up.
_PATIENCE = 60.0


def free_ports(number: int) -> list[int]:
    """Ports that are free for datagrams and for connections; each process searches in another place first."""
    start = os.getpid() * 8 % len(_PORTS)
    candidates = chain(_PORTS[start:], _PORTS[:start])
    return list(islice(filter(_is_free, candidates), number))


def _is_free(port: int) -> bool:
    for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
        with socket.socket(socket.AF_INET, kind) as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                return False
    return True


class ReplicaProcess:
    """One replica; it can be killed and started again."""

    def __init__(self, address: str, peers: Sequence[str], data: Path) -> None:
        self.address = address
        self.data = data
        self._peers = peers
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """When this returns, it listens."""
        arguments = ["--address", self.address, "--peers", ",".join(self._peers), "--data", str(self.data)]
        with self._log.open("a") as log:
            self._process = subprocess.Popen(
                [sys.executable, str(EXAMPLES / "kvs_cluster.py"), *arguments],
                stdout=subprocess.PIPE,
                stderr=log,  # a pipe could fill
                text=True,
            )
        assert self._process.stdout is not None
        said = self._process.stdout.readline()
        if said != f"listening at {self.address}\n":
            raise RuntimeError(f"the replica did not start: {said}{self.end(signal.SIGKILL)}")

    @property
    def _log(self) -> Path:
        return self.data.with_suffix(".log")

    def end(self, number: int) -> tuple[int, str, str]:
        """By this signal; the exit code, what it said since it listened, and the errors of all its lives."""
        process, self._process = self._process, None
        assert process is not None
        with process:
            process.send_signal(number)
            try:
                out, _ = process.communicate(timeout=20)
            finally:
                process.kill()
        return process.returncode, out, self._log.read_text(encoding="utf-8")

    def close(self) -> None:
        if self._process is not None:
            self.end(signal.SIGKILL)

    def rows(self) -> list[tuple[Any, ...]]:
        """What is in its file, when it does not run."""
        with Replica(data=self.data) as reader:
            return [tuple(row) for row in reader.kept]


@contextmanager
def replicas(folder: Path, number: int = 3) -> Iterator[list[ReplicaProcess]]:
    """Running; none is left behind."""
    addresses = [f"127.0.0.1:{port}" for port in free_ports(number)]
    with ExitStack() as stack:
        made = []
        for k, address in enumerate(addresses):
            peers = [other for other in addresses if other != address]
            made.append(ReplicaProcess(address, peers, folder / f"replica{k}"))
            stack.callback(made[-1].close)
            made[-1].start()
        yield made


# -- a run -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Plan:
    """``puts`` by two clients together.  ``killed`` is the number of the replica that is killed.

    Number 0 gets the puts of the first client, and number 1 those of the second, as long as they answer.
    """

    puts: int
    window: int = 100
    killed: int | None = None


@dataclass(frozen=True)
class Run:
    """``seconds`` to the last acknowledgement, ``settling`` from there to the last confirmation between replicas.

    ``lost`` are acknowledged puts that are missing in a file; ``exact``: all files hold the last put to each key.
    ``errors`` is what replicas logged.
    """

    acknowledged: int
    seconds: float
    settling: float
    lost: int
    exact: bool
    errors: str

    @property
    def per_second(self) -> float:
        return self.acknowledged / self.seconds


@dataclass(frozen=True)
class _Put:
    key: str
    stamp: tuple[int, str]
    value: str


def _puts(client: StoreClient, number: int) -> list[_Put]:
    """Each fifth to a key that the other client puts, too."""
    last, name = client.last_stamp
    return [
        _Put(f"shared {k % 50}" if k % 5 == 0 else f"{name} {k}", (last + 1 + k, name), f"value {k}")
        for k in range(number)
    ]


def measure(plan: Plan, folder: Path) -> Run:
    with replicas(folder) as cluster:
        addresses = [replica.address for replica in cluster]
        with StoreClient(addresses) as first, StoreClient([*addresses[1:], addresses[0]]) as second:
            clients = first, second
            for client in clients:
                client.connect()
            work = [_puts(client, plan.puts // 2) for client in clients]
            started = time.perf_counter()
            acknowledged = _perform(plan, clients, work, cluster)
            seconds = time.perf_counter() - started
            settling = settle(first)
        ended = [replica.end(signal.SIGTERM) for replica in cluster]
        if any(code != 0 for code, _, _ in ended):
            raise RuntimeError(f"a replica did not end as it should: {ended}")
        done = [put for puts in work for put in puts if put.stamp in acknowledged]
        lost, exact = _compared(done, [replica.rows() for replica in cluster])
        return Run(len(acknowledged), seconds, settling, lost, exact, "".join(err for _, _, err in ended))


def _perform(
    plan: Plan, clients: Sequence[StoreClient], work: Sequence[Sequence[_Put]], cluster: Sequence[ReplicaProcess]
) -> frozenset[tuple[int, str]]:
    """The stamps of the puts that were acknowledged."""
    due: dict[int, Callable[[], object]] = {}
    if plan.killed is not None:
        victim = cluster[plan.killed]
        due = {plan.puts // 3: lambda: victim.end(signal.SIGKILL), plan.puts * 2 // 3: victim.start}
    told: queue.SimpleQueue[tuple[int, str]] = queue.SimpleQueue()
    acknowledged: set[tuple[int, str]] = set()
    with ThreadPoolExecutor(len(clients)) as pool:
        running = []
        for client, puts in zip(clients, work, strict=True):
            _report(client, told)
            pairs = [(put.key, put.value) for put in puts]
            running.append(pool.submit(client.put_all, pairs, window=plan.window))
        while len(acknowledged) < plan.puts // 2 * 2:
            acknowledged.add(told.get(timeout=_PATIENCE))
            due.pop(len(acknowledged), lambda: None)()
        for put_all in running:
            put_all.result()
    return frozenset(acknowledged)


def _report(client: StoreClient, told: queue.SimpleQueue[tuple[int, str]]) -> None:
    _, name = client.last_stamp

    def tell(rows: Sequence[Any]) -> None:
        for row in rows:
            told.put((row.number, name))

    client.on(client.acknowledged, tell)


def settle(client: StoreClient) -> float:
    """Waits until each replica has every confirmation; the seconds that took."""
    started = time.perf_counter()
    while any(state.behind for state in client.states(timeout=_PATIENCE).values()):
        if time.perf_counter() - started > _PATIENCE:
            raise TimeoutError(f"the replicas have not settled after {_PATIENCE} seconds")
        time.sleep(0.02)
    return time.perf_counter() - started


def _compared(done: Sequence[_Put], files: Sequence[Sequence[tuple[Any, ...]]]) -> tuple[int, bool]:
    """How many acknowledged puts are missing, and whether there is nothing but the last one to each key."""
    newest: dict[str, _Put] = {}
    for put in sorted(done, key=lambda put: put.stamp):
        newest[put.key] = put
    wanted = {key: (put.stamp, put.value) for key, put in newest.items()}
    found = [{key: (stamp, value) for key, stamp, value in rows} for rows in files]
    # A put is there if it, or one with a larger stamp, is what the key has.
    missing = [put for put in done if any(put.key not in rows or rows[put.key][0] < put.stamp for rows in found)]
    return len(missing), all(rows == wanted for rows in found)


def main() -> None:
    plans = [Plan(10_000), Plan(10_000, killed=0), Plan(10_000, window=400), Plan(10_000, window=400, killed=0)]
    for plan in [*plans, Plan(1_000, window=1)]:
        with tempfile.TemporaryDirectory() as folder:
            run = measure(plan, Path(folder))
        fault = "no replica killed" if plan.killed is None else "a replica killed and restarted"
        print(
            f"{plan.puts} puts, window {plan.window}, {fault}: {run.acknowledged} acknowledged in "
            f"{run.seconds:.2f} s, {run.per_second:.0f} a second; settled {run.settling:.2f} s later; "
            f"{run.lost} lost; files {'as' if run.exact else 'NOT as'} expected"
        )


if __name__ == "__main__":
    main()
