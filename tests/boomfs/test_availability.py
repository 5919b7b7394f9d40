"""The availability revision: NameNodes agree on every change, and any of them takes over."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from random import Random

from clew.boomfs.client.filesystem import BoomFileSystem
from clew.boomfs.local_cluster import LocalCluster

Start = Callable[..., tuple[LocalCluster, BoomFileSystem]]
CONTENT = Random(4).randbytes(700_000)


def _list(fs: BoomFileSystem, seen: list[list[str]]) -> None:
    seen.append(fs.find("/"))


def _touch(fs: BoomFileSystem, path: str, done: threading.Event) -> None:
    fs.touch(path)
    done.set()


def test_each_namenode_is_killed_and_comes_back(start: Start) -> None:
    """Whoever leads, leads no longer at some time; whatever was acknowledged is there at the end."""
    cluster, fs = start(namenodes=3, datanodes=2)
    written = []
    for name in ("namenode 0 0", "namenode 0 1", "namenode 0 2"):
        fs.pipe_file(f"/{name}", CONTENT)
        cluster.kill(name)
        fs.pipe_file(f"/{name} is away", CONTENT)
        written += [f"/{name}", f"/{name} is away"]
        cluster.restart(name)
    assert fs.find("/") == sorted(written)
    assert all(fs.cat_file(path) == CONTENT for path in written)


def test_a_new_reader_sees_what_was_acknowledged_while_the_leader_slept(start: Start) -> None:
    """A leader that was stopped for a while believes to lead still, and must not answer of what it knows."""
    cluster, fs = start(namenodes=3, datanodes=2)
    fs.touch("/first")
    for rank in range(3):
        cluster.pause(f"namenode 0 {rank}")
        fs.touch(f"/while {rank} slept")
        seen: list[list[str]] = []
        # Asked while it sleeps, and answered by nobody but it.
        impatient = BoomFileSystem(cluster.plan.namenodes[0][rank], skip_instance_cache=True)
        reader = threading.Thread(target=_list, args=(impatient, seen))
        reader.start()
        time.sleep(0.5)
        cluster.resume(f"namenode 0 {rank}")
        reader.join()
        impatient.close()
        assert seen == [sorted(["/first", *(f"/while {k} slept" for k in range(rank + 1))])]


def test_less_than_half_cannot_change_anything_and_go_on_when_others_come_back(start: Start) -> None:
    cluster, fs = start(namenodes=3, datanodes=2)
    fs.touch("/before")
    cluster.kill("namenode 0 0")
    cluster.kill("namenode 0 1")
    done = threading.Event()
    writer = threading.Thread(target=_touch, args=(fs, "/meanwhile", done))
    writer.start()
    assert not done.wait(3.0)
    cluster.restart("namenode 0 1")
    assert done.wait(30.0)
    writer.join()
    assert fs.find("/") == ["/before", "/meanwhile"]
