"""A cluster of Dask: the same answer as here, also when a worker or the scheduler is killed in the middle."""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from clew.errors import UsageError
from clew.simulation.fuzzing.fuzz import fuzz
from clew.workers import dask_address
from clew.workers.dask import connect_cluster
from scenario_files import TOKENS, scenario_file
from workers.cluster import Cluster, kill, start_cluster

ENDLESS = TOKENS.replace("LIMIT = 40", "LIMIT = 10**9")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with start_cluster(tmp_path_factory.mktemp("cluster"), 2) as started:
        yield started


@pytest.fixture
def endless(tmp_path: Path) -> str:
    return scenario_file(tmp_path, ENDLESS)


def test_the_answer_is_the_same_as_here(cluster: Cluster, endless: str, tmp_path: Path) -> None:
    found = scenario_file(tmp_path, TOKENS, "found.py")
    with connect_cluster(cluster.address) as team:
        assert fuzz(endless, runs=60, executor=team) == fuzz(endless, runs=60)
        assert fuzz(found, seed=3, at_least=120, executor=team) == fuzz(found, seed=3, at_least=120)


def test_a_worker_that_is_killed_in_the_middle_loses_nothing(
    cluster: Cluster, endless: str, tmp_path: Path
) -> None:
    told = []

    def kill_one(runs: int, what: str) -> None:
        told.append(what)
        if runs > 30 and len(cluster.workers) == 2:
            kill(cluster.processes.pop(1))

    with connect_cluster(cluster.address) as team:
        fuzzed = fuzz(endless, runs=250, executor=team, progress=kill_one)
    assert fuzzed == fuzz(endless, runs=250)
    assert len(cluster.workers) == 1
    assert f"fuzzing on 2 workers at {cluster.address}, " in told[1]


def test_a_violation_is_the_earliest_also_when_a_worker_is_killed(cluster: Cluster, tmp_path: Path) -> None:
    file = scenario_file(tmp_path, TOKENS.replace("LIMIT = 40", "LIMIT = 60"))
    alone = fuzz(file)
    assert alone.run is not None and alone.run > 40
    cluster.add_worker(tmp_path)
    left = cluster.workers

    def kill_one(runs: int, what: str) -> None:
        if runs > 10 and len(cluster.workers) == len(left):
            kill(cluster.processes.pop(1))

    with connect_cluster(cluster.address) as team:
        assert fuzz(file, executor=team, progress=kill_one) == alone


def test_a_client_of_dask_is_an_executor_too(cluster: Cluster, endless: str) -> None:
    from distributed import Client

    alone = fuzz(endless, runs=20)
    with Client(cluster.address, set_as_default=False) as client:
        assert fuzz(endless, runs=20, executor=client) == alone
        assert fuzz(endless, runs=20, executor=client.get_executor()) == alone


def test_a_scheduler_that_is_killed_leaves_the_rest_to_this_process(endless: str, tmp_path: Path) -> None:
    with start_cluster(tmp_path, 1) as cluster, connect_cluster(cluster.address) as team:

        def kill_scheduler(runs: int, what: str) -> None:
            if runs > 10 and cluster.scheduler.poll() is None:
                kill(cluster.scheduler)

        fuzzed = fuzz(endless, runs=100, executor=team, progress=kill_scheduler)
    assert replace(fuzzed, notices=()) == fuzz(endless, runs=100)
    assert "were executed here once more, to the end: " in fuzzed.notices[0].message


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("tcp://127.0.0.1:9", "Connection refused"),
        ("localhost", "missing port number in address 'localhost'"),
        ("inproc://1", "'inproc' is neither tcp nor tls"),
    ],
)
def test_an_address_without_a_cluster_is_refused_at_once(address: str, why: str) -> None:
    with pytest.raises(UsageError) as caught, connect_cluster(address):
        pass
    assert caught.value.message == f"there is no cluster at {address}: {why}"


@pytest.mark.parametrize(
    ("greeting", "why"),
    [
        # Eight bytes of it would be taken for the length of a message, for which there is no memory.
        (b"SSH-2.0-OpenSSH_9.6\r\n", "is no scheduler of Dask"),
        (b"\x01", "is no scheduler of Dask"),
        (None, "accepts connections and says nothing"),
    ],
)
def test_what_is_no_scheduler_is_refused(
    greeting: bytes | None, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_address, "_REACH_SECONDS", 0.5)
    over = threading.Event()

    def answer() -> None:
        line, _ = server.accept()
        with line:
            if greeting is None:
                over.wait(30)
            else:
                line.sendall(greeting)

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=answer)
        thread.start()
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(UsageError) as caught, connect_cluster(address):
            pass
        over.set()
        thread.join()
    assert caught.value.message == f"what is at {address} {why}"


def test_encryption_without_certificates_is_refused(cluster: Cluster) -> None:
    address = cluster.address.replace("tcp:", "tls:")
    with pytest.raises(UsageError) as caught, connect_cluster(address):
        pass
    assert caught.value.message == f"{address} is encrypted, and Dask's configuration names no certificates"


def test_without_dask_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UsageError) as caught, connect_cluster("tcp://127.0.0.1:9"):
        pass
    assert caught.value.remedy == "pip install clew[dask]"
