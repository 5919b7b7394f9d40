"""What fails under a cluster of real processes, and what its users notice of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from clew.boomfs.client.errors import LostChunkError
from clew.boomfs.client.filesystem import BoomFileSystem
from clew.boomfs.local_cluster import LocalCluster
from clew.boomfs.settings import Policy

Start = Callable[..., tuple[LocalCluster, BoomFileSystem]]
CONTENT = Random(3).randbytes(1_500_000)
#: More than any of it takes on a busy machine.
_DEADLINE = 60.0


def _wait_until(holds: Callable[[], object]) -> None:
    deadline = time.monotonic() + _DEADLINE
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def _replicas(cluster: LocalCluster) -> dict[int, set[int]]:
    """Return the DataNodes on whose disks a chunk is, by chunk."""
    found: dict[int, set[int]] = {}
    for number in range(len(cluster.plan.datanodes)):
        for path in (cluster.folder_of(f"datanode {number}") / "data").rglob("*.chunk"):
            found.setdefault(int(path.stem), set()).add(number)
    return found


def _status(fs: BoomFileSystem) -> dict[str, int]:
    ((tallies, _),) = fs.metadata.status()
    return dict(tallies)


def _damage(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def test_a_datanode_dies_while_it_is_written_to_and_read_from(start: Start) -> None:
    cluster, fs = start(datanodes=4, policy=Policy(chunk_size=300_000, replicas=3, silence=2.0))
    with fs.open("/x", "wb") as file:
        file.write(CONTENT[:700_000])
        cluster.kill("datanode 0")
        file.write(CONTENT[700_000:])
    assert fs.cat_file("/x") == CONTENT
    with fs.open("/x", "rb", block_size=100_000) as file:
        begin = file.read(200_000)
        cluster.kill("datanode 1")
        assert begin + file.read() == CONTENT
    # Two are left, and they come to have all of it.
    chunks = {chunk.number for chunk in fs.file_chunks.chunks("/x")}
    _wait_until(lambda: all({2, 3} <= _replicas(cluster)[chunk] for chunk in chunks))
    assert fs.cat_file("/x") == CONTENT


def test_a_datanode_comes_back_with_and_without_its_disk(start: Start) -> None:
    cluster, fs = start(datanodes=3)
    fs.pipe_file("/x", CONTENT)
    cluster.kill("datanode 0")
    _wait_until(lambda: len(fs.metadata.status()[0][1]) == 2)
    cluster.restart("datanode 0")
    _wait_until(lambda: len(fs.metadata.status()[0][1]) == 3)
    # With what was copied meanwhile there is one replica too many, and it goes.
    _wait_until(lambda: all(len(nodes) == 2 for nodes in _replicas(cluster).values()))
    cluster.kill("datanode 0")
    for path in (cluster.folder_of("datanode 0") / "data").rglob("*.*"):
        path.unlink()
    cluster.restart("datanode 0")
    _wait_until(lambda: all(len(nodes) == 2 for nodes in _replicas(cluster).values()))
    _wait_until(lambda: _status(fs).get("thin", 0) == 0)
    assert fs.cat_file("/x") == CONTENT


def test_a_flipped_byte_is_found_and_the_replica_replaced(start: Start) -> None:
    cluster, fs = start(datanodes=2, policy=Policy(chunk_size=10**7, replicas=2, silence=30.0))
    fs.pipe_file("/x", CONTENT)
    (chunk,) = fs.file_chunks.chunks("/x")
    damaged = sorted((cluster.folder / "datanode-0" / "data").rglob(f"{chunk.number}.chunk"))
    _damage(damaged[0])
    # Whichever replica is read first, what is read is what was written.
    for _ in range(3):
        assert fs.cat_file("/x") == CONTENT
    (where,) = [data for _, data in cluster.plan.datanodes[:1]]
    fs.file_chunks._data.complain(where, 0, chunk.number)
    _wait_until(lambda: _replicas(cluster)[chunk.number] == {0, 1} and damaged[0].read_bytes() == CONTENT)


def test_lost_chunks_are_reported_and_never_silent(start: Start) -> None:
    cluster, fs = start(datanodes=2, policy=Policy(chunk_size=10**7, replicas=1, silence=1.0))
    fs.file_chunks._patience = 3.0
    fs.pipe_file("/a", CONTENT)
    fs.pipe_file("/b", CONTENT[::-1])
    (lost,) = fs.file_chunks.chunks("/a")
    (holder,) = _replicas(cluster)[lost.number]
    (_damaged,) = (cluster.folder_of(f"datanode {holder}") / "data").rglob(f"{lost.number}.chunk")
    _damage(_damaged)
    with pytest.raises(LostChunkError, match=f"no replica of chunk {lost.number} can be read"):
        fs.cat_file("/a")
    _wait_until(lambda: fs.metadata.lost() == [("/a", lost.number)])
    assert fs.cat_file("/b") == CONTENT[::-1]


def test_a_full_datanode_is_left_out(start: Start) -> None:
    cluster, fs = start(datanodes=2, capacity=2_000_000, policy=Policy(chunk_size=300_000, replicas=1))
    fs.file_chunks._patience = 3.0
    with pytest.raises(OSError, match="No space left"), fs.open("/x", "wb") as file:
        for _ in range(20):
            file.write(CONTENT[:300_000])
    sizes = [
        sum(path.stat().st_size for path in cluster.folder_of(f"datanode {k}").rglob("*.chunk")) for k in range(2)
    ]
    assert all(900_000 <= size <= 2_000_000 for size in sizes), sizes
    # What was stored is there, and so is room once it is removed.
    assert fs.cat_file("/x") == CONTENT[:300_000] * (fs.size("/x") // 300_000)
    fs.rm("/x")
    _wait_until(lambda: not _replicas(cluster))
    time.sleep(1.5)  # until heartbeats have told of the room
    fs.file_chunks._patience = 30.0
    fs.pipe_file("/y", CONTENT)
    assert fs.cat_file("/y") == CONTENT


def test_a_namenode_that_is_killed_loses_nothing_that_it_acknowledged(start: Start) -> None:
    """Many clients at once, and a NameNode that is killed again and again in the midst of it."""
    cluster, fs = start(datanodes=2)
    acknowledged: list[str] = []
    removed: list[str] = []
    failures: list[BaseException] = []
    done = threading.Event()

    def work(name: str) -> None:
        own = BoomFileSystem(cluster.namenodes, skip_instance_cache=True)
        try:
            own.mkdir(f"/{name}")
            for k in range(10_000):
                if done.is_set():
                    return
                own.metadata.create(f"/{name}/{k}", overwrite=False)
                acknowledged.append(f"/{name}/{k}")
                if k % 3 == 2:
                    own.metadata.rename(f"/{name}/{k}", f"/{name}/renamed{k}")
                    acknowledged.append(f"/{name}/renamed{k}")
                    removed.append(f"/{name}/{k}")
                if k % 5 == 4 and k % 3 != 0:
                    own.metadata.remove(f"/{name}/{k - 1}", recursive=False)
                    removed.append(f"/{name}/{k - 1}")
        except BaseException as error:
            failures.append(error)
        finally:
            own.close()

    workers = [threading.Thread(target=work, args=(f"w{k}",)) for k in range(4)]
    for worker in workers:
        worker.start()
    random = Random(5)
    for _ in range(_KILLS):
        seen = len(acknowledged)
        _wait_until(lambda seen=seen: failures or len(acknowledged) > seen + 5)  # type: ignore[misc]
        time.sleep(random.random() * 0.3)
        cluster.kill("namenode 0 0")
        cluster.restart("namenode 0 0")
    done.set()
    for worker in workers:
        worker.join()
    # A request that was done and not answered is not done a second time: no file exists already, none is missing.
    assert failures == []
    assert set(fs.find("/")) == set(acknowledged) - set(removed)


#: The long version of it is in ``benchmarks``.
_KILLS = 4


def test_a_client_that_dies_while_writing_leaves_what_was_written(start: Start) -> None:
    _, fs = start(datanodes=2)
    file: Any = fs.open("/x", "wb")
    file.write(CONTENT[:700_000])
    file.closed = True  # nobody flushes or closes it
    assert fs.cat_file("/x") == CONTENT[:700_000] or fs.cat_file("/x") == CONTENT[: 2 * 300_000]
    fs.pipe_file("/x", b"somebody else")
    assert fs.cat_file("/x") == b"somebody else"
