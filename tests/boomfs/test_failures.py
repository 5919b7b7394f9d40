"""What fails under a cluster of real processes, and what its users notice of it."""

from __future__ import annotations

import subprocess
import sys
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


@pytest.mark.parametrize("kills", [4, pytest.param(50, marks=pytest.mark.long)])
def test_a_namenode_that_is_killed_loses_nothing_that_it_acknowledged(start: Start, kills: int) -> None:
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
    for _ in range(kills):
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


_WRITER = """
import sys, time
from clew.boomfs.client.filesystem import BoomFileSystem
fs = BoomFileSystem(sys.argv[1])
with fs.open("/x", "wb") as file:
    file.write(b"a" * 700_000)
    print("written", flush=True)
    time.sleep(600)
"""


def test_a_client_that_dies_while_writing_leaves_whole_chunks(start: Start) -> None:
    cluster, fs = start(datanodes=2, policy=Policy(chunk_size=300_000, replicas=2, silence=2.0, lease=1.0))
    writer = subprocess.Popen([sys.executable, "-c", _WRITER, cluster.namenodes], stdout=subprocess.PIPE)
    assert writer.stdout is not None
    assert writer.stdout.readline() == b"written\n"
    writer.kill()
    writer.wait()
    writer.stdout.close()
    # What was complete is there, and who comes next can append to it or write it anew.
    assert fs.cat_file("/x") == b"a" * 600_000
    with fs.open("/x", "ab") as file:
        file.write(b"end")
    assert fs.cat_file("/x") == b"a" * 600_000 + b"end"
    # A chunk that it had begun, and stored, is given up after the lease, and collected.
    home, number = 0, fs.metadata.stat("/x").number
    chunk, places = fs._sessions.one("add_chunk", home, "/x", number, ())
    assert len(fs._data.write(list(places), home, chunk, memoryview(b"begun"))) == 2
    _wait_until(lambda: chunk not in _replicas(cluster))
    assert fs.cat_file("/x") == b"a" * 600_000 + b"end"


def test_what_a_namenode_knows_of_files_and_datanodes_survives_kill_9(start: Start) -> None:
    """All relations of Table 2.2, with nobody there who could tell them again."""
    cluster, fs = start(datanodes=3, policy=Policy(chunk_size=300_000, replicas=2, silence=20.0))
    fs.makedirs("/a/b")
    fs.pipe_file("/a/b/x", CONTENT)
    (chunk, *_) = fs.file_chunks.chunks("/a/b/x")
    _wait_until(lambda: len(fs.metadata.status()[0][1]) == 3)

    def known() -> Any:
        addrs = [(addr, chunks) for addr, _, _, chunks in sorted(fs.metadata.status()[0][1])]
        return fs.find("/", withdirs=True, detail=True), fs.file_chunks.chunks("/a/b/x"), addrs

    for number in range(3):
        cluster.kill(f"datanode {number}")
    before, places = known(), fs._sessions.one("locations", 0, chunk.number)
    assert sum(chunks for _, chunks in before[2]) == 2 * len(before[1]) and len(places) == 2
    for _ in range(2):
        cluster.kill("namenode 0 0")
        cluster.restart("namenode 0 0")
        assert known() == before
        assert fs._sessions.one("locations", 0, chunk.number) == places


def test_a_job_ends_with_the_right_answer_while_namenodes_and_a_datanode_are_killed(start: Start) -> None:
    """Workers read and write all the time; the leader, another NameNode and a DataNode fail in the middle."""
    cluster, fs = start(namenodes=3, datanodes=3)
    parts = [CONTENT[k * 50_000 : (k + 1) * 50_000] for k in range(24)]
    for k, part in enumerate(parts):
        fs.pipe_file(f"/in/{k}", part)
    failures: list[BaseException] = []
    halfway = threading.Semaphore(0)

    def work(numbers: range) -> None:
        own = BoomFileSystem(cluster.namenodes, skip_instance_cache=True)
        try:
            for k in numbers:
                own.pipe_file(f"/out/{k}", own.cat_file(f"/in/{k}")[::-1])
                halfway.release()
        except BaseException as error:
            failures.append(error)
        finally:
            own.close()

    workers = [threading.Thread(target=work, args=(range(k, 24, 3),)) for k in range(3)]
    for worker in workers:
        worker.start()
    for victim in ("namenode 0 1", "datanode 2", "namenode 0 0"):
        for _ in range(4):
            halfway.acquire(timeout=_DEADLINE)
        cluster.kill(victim)
        if victim == "namenode 0 1":
            # Backup first, and back again before the primary goes: two of three must be there.
            cluster.restart(victim)
    for worker in workers:
        worker.join()
    assert failures == []
    assert [fs.cat_file(f"/out/{k}") for k in range(24)] == [part[::-1] for part in parts]
