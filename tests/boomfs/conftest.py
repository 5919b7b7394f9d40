"""A cluster of real processes for all tests of a worker that do not break it, and small ones for those that do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from clew.boomfs.client.filesystem import BoomFileSystem
from clew.boomfs.local_cluster import LocalCluster, make_plan
from clew.boomfs.settings import Policy

#: Small enough for files of some chunks.
CHUNK = 300_000


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    plan = make_plan(partitions=1, namenodes=1, datanodes=3, policy=Policy(chunk_size=CHUNK, replicas=2))
    with LocalCluster(tmp_path_factory.mktemp("cluster"), plan) as started:
        yield started


@pytest.fixture(scope="session")
def shared(cluster: LocalCluster) -> Iterator[BoomFileSystem]:
    fs = BoomFileSystem(cluster.namenodes, skip_instance_cache=True)
    yield fs
    fs.close()


@pytest.fixture(scope="session")
def partitioned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BoomFileSystem]:
    """A file system whose files are at three NameNodes, by the hashes of their paths."""
    plan = make_plan(partitions=3, namenodes=1, datanodes=2, policy=Policy(chunk_size=CHUNK, replicas=2))
    with LocalCluster(tmp_path_factory.mktemp("partitions"), plan) as started:
        fs = BoomFileSystem(started.namenodes.split(",")[0], skip_instance_cache=True)
        yield fs
        fs.close()


@pytest.fixture(scope="session")
def replicated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BoomFileSystem]:
    """A file system whose NameNode is three of them."""
    plan = make_plan(partitions=1, namenodes=3, datanodes=2, policy=Policy(chunk_size=CHUNK, replicas=2))
    with LocalCluster(tmp_path_factory.mktemp("replicated"), plan) as started:
        fs = BoomFileSystem(started.namenodes, skip_instance_cache=True)
        yield fs
        fs.close()


@pytest.fixture
def folder(shared: BoomFileSystem) -> str:
    """A folder of the shared cluster that nobody else knows."""
    path = f"/{uuid4().hex}"
    shared.mkdir(path)
    return path


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., tuple[LocalCluster, BoomFileSystem]]]:
    """Start a cluster that the test may break; it is ended after it."""
    started: list[tuple[LocalCluster, BoomFileSystem]] = []

    def begin(
        *,
        partitions: int = 1,
        namenodes: int = 1,
        datanodes: int = 3,
        capacity: int | None = None,
        policy: Policy = Policy(chunk_size=CHUNK, replicas=2, silence=2.0),  # noqa: B008  # frozen
    ) -> tuple[LocalCluster, BoomFileSystem]:
        plan = make_plan(
            partitions=partitions, namenodes=namenodes, datanodes=datanodes, policy=policy, capacity=capacity
        )
        cluster = LocalCluster(tmp_path / f"cluster{len(started)}", plan)
        cluster.start()
        fs = BoomFileSystem(cluster.namenodes, skip_instance_cache=True)
        started.append((cluster, fs))
        return cluster, fs

    yield begin
    for cluster, fs in started:
        fs.close()
        cluster.stop()
