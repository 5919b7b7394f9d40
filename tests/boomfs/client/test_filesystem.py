"""What users of fsspec rely on, the same on local files and on ``boomfs://``.

With ``--thorough`` also with several partitions, and with several NameNodes.
"""

from __future__ import annotations

import pickle
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from random import Random
from shutil import SameFileError
from typing import Any
from uuid import uuid4

import fsspec
import pytest
from fsspec.implementations.local import LocalFileSystem

from clew.boomfs.client.errors import UnansweredError
from clew.boomfs.client.filesystem import BoomFileSystem
from clew.boomfs.local_cluster import LocalCluster

#: More than three chunks, and a bit.
CONTENT = Random(1).randbytes(1_000_003)


@pytest.fixture(
    params=[
        "local",
        "shared",
        pytest.param("partitioned", marks=pytest.mark.long),
        pytest.param("replicated", marks=pytest.mark.long),
    ]
)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Any, str]]:
    """A file system, and a folder in it."""
    if request.param == "local":
        yield LocalFileSystem(), str(tmp_path)
        return
    fs = request.getfixturevalue(request.param)
    folder = f"/{uuid4().hex}"
    fs.mkdir(folder)
    yield fs, folder
    fs.rm(folder, recursive=True)


def test_bytes_come_back(place: tuple[Any, str]) -> None:
    fs, folder = place
    for size in (0, 1, 299_999, 300_000, 300_001, 600_000, len(CONTENT)):
        fs.pipe_file(f"{folder}/x", CONTENT[:size])
        assert fs.cat_file(f"{folder}/x") == CONTENT[:size]
        assert fs.info(f"{folder}/x")["size"] == fs.size(f"{folder}/x") == size


def test_ranges_across_chunks(place: tuple[Any, str]) -> None:
    fs, folder = place
    fs.pipe_file(f"{folder}/x", CONTENT)
    random = Random(2)
    for _ in range(30):
        begin, end = sorted(random.choices(range(len(CONTENT) + 1), k=2))
        assert fs.cat_file(f"{folder}/x", begin, end) == CONTENT[begin:end]
    assert fs.cat_file(f"{folder}/x", -10, None) == CONTENT[-10:]
    paths = [f"{folder}/x"] * 3
    assert fs.cat_ranges(paths, [0, 299_990, 700_000], [5, 300_010, 700_001]) == [
        CONTENT[:5],
        CONTENT[299_990:300_010],
        CONTENT[700_000:700_001],
    ]
    assert fs.head(f"{folder}/x", 7) == CONTENT[:7]
    assert fs.tail(f"{folder}/x", 7) == CONTENT[-7:]


def test_seeking_and_lines(place: tuple[Any, str]) -> None:
    fs, folder = place
    with fs.open(f"{folder}/t", "w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"line {k} ä\n" for k in range(50_000))
    with fs.open(f"{folder}/t", "r", encoding="utf-8") as file:
        assert sum(1 for line in file if line.startswith("line ")) == 50_000
    with fs.open(f"{folder}/t", "rb") as file:
        assert file.readline() == "line 0 ä\n".encode()
        assert (file.tell(), file.seek(-4, 2)) == (10, fs.size(f"{folder}/t") - 4)
        assert file.read() == " ä\n".encode()
        assert file.read() == b""
        file.seek(5)
        assert file.read(3) == b"0 \xc3"


def test_appending(place: tuple[Any, str]) -> None:
    fs, folder = place
    expected = b""
    for k in range(5):
        with fs.open(f"{folder}/log", "ab") as file:
            assert fs.protocol != "boomfs" or file.tell() == len(expected)  # a local file says 0
            file.write(CONTENT[: 100_000 * k] + b"end")
        expected += CONTENT[: 100_000 * k] + b"end"
    assert fs.cat_file(f"{folder}/log") == expected


def test_many_small_writes(place: tuple[Any, str]) -> None:
    fs, folder = place
    with fs.open(f"{folder}/x", "wb") as file:
        for begin in range(0, len(CONTENT), 7_919):
            file.write(CONTENT[begin : begin + 7_919])
    assert fs.cat_file(f"{folder}/x") == CONTENT


def test_what_is_written_over_is_gone(place: tuple[Any, str]) -> None:
    fs, folder = place
    fs.pipe_file(f"{folder}/x", CONTENT)
    before = fs.info(f"{folder}/x")
    fs.pipe_file(f"{folder}/x", b"new")
    assert fs.cat_file(f"{folder}/x") == b"new"
    assert fs.ukey(f"{folder}/x") != before
    fs.touch(f"{folder}/x", truncate=True)
    assert fs.size(f"{folder}/x") == 0
    with pytest.raises(FileExistsError):
        fs.open(f"{folder}/x", "xb")


def test_folders(place: tuple[Any, str]) -> None:
    fs, folder = place
    fs.makedirs(f"{folder}/a/b/c")
    fs.makedirs(f"{folder}/a/b/c", exist_ok=True)
    for again in (fs.makedirs, fs.mkdir):
        with pytest.raises(FileExistsError):
            again(f"{folder}/a/b/c")
    fs.touch(f"{folder}/a/b/x")
    fs.pipe_file(f"{folder}/a/y", b"12345")
    assert sorted(fs.ls(f"{folder}/a", detail=False)) == [f"{folder}/a/b", f"{folder}/a/y"]
    assert sorted(
        (e["name"], e["type"], e["size"]) for e in fs.ls(f"{folder}/a", detail=True) if e["type"] == "file"
    ) == [(f"{folder}/a/y", "file", 5)]
    assert fs.ls(f"{folder}/a/y", detail=False) == [f"{folder}/a/y"]
    assert fs.ls(f"{folder}/a/b/c") == []
    assert fs.isdir(f"{folder}/a") and not fs.isfile(f"{folder}/a") and fs.exists(f"{folder}/a/y")
    assert fs.find(folder) == [f"{folder}/a/b/x", f"{folder}/a/y"]
    assert fs.glob(f"{folder}/**/x") == [f"{folder}/a/b/x"]
    assert fs.du(folder) == 5
    with pytest.raises(OSError, match="not empty"):
        fs.rmdir(f"{folder}/a/b")
    fs.rmdir(f"{folder}/a/b/c")
    assert not fs.exists(f"{folder}/a/b/c")


def test_what_is_not_there(place: tuple[Any, str]) -> None:
    fs, folder = place
    for act in (fs.info, fs.ls, fs.cat_file, fs.rm, fs.open):
        with pytest.raises(FileNotFoundError):
            act(f"{folder}/nothing")
    with pytest.raises(FileNotFoundError):
        fs.mv(f"{folder}/nothing", f"{folder}/something")
    assert not fs.exists(f"{folder}/nothing")
    fs.touch(f"{folder}/file")
    with pytest.raises((NotADirectoryError, FileExistsError)):
        fs.mkdir(f"{folder}/file/in")
    with pytest.raises((IsADirectoryError, FileExistsError)):
        fs.open(folder, "wb")


def test_moving(place: tuple[Any, str]) -> None:
    fs, folder = place
    fs.makedirs(f"{folder}/a/b")
    fs.pipe_file(f"{folder}/a/b/x", CONTENT)
    fs.mv(f"{folder}/a/b/x", f"{folder}/y")
    assert fs.cat_file(f"{folder}/y") == CONTENT and not fs.exists(f"{folder}/a/b/x")
    fs.mv(f"{folder}/y", f"{folder}/a/b")
    assert fs.find(folder) == [f"{folder}/a/b/y"]
    fs.mv(f"{folder}/a", f"{folder}/z", recursive=True)
    assert fs.find(folder) == [f"{folder}/z/b/y"]
    assert fs.cat_file(f"{folder}/z/b/y") == CONTENT
    fs.pipe_file(f"{folder}/other", b"other")
    fs.mv(f"{folder}/other", f"{folder}/z/b/y")
    assert fs.cat_file(f"{folder}/z/b/y") == b"other"
    fs.makedirs(f"{folder}/p/z")
    with pytest.raises(OSError, match="exists"):
        fs.mv(f"{folder}/z", f"{folder}/p", recursive=True)
    assert fs.find(folder) == [f"{folder}/z/b/y"]


def test_copying(place: tuple[Any, str]) -> None:
    fs, folder = place
    fs.pipe_file(f"{folder}/x", CONTENT)
    fs.cp_file(f"{folder}/x", f"{folder}/y")
    assert fs.cat_file(f"{folder}/y") == CONTENT
    fs.rm(f"{folder}/x")
    assert fs.cat_file(f"{folder}/y") == CONTENT


def test_a_file_is_not_copied_to_itself(place: tuple[Any, str]) -> None:
    fs, folder = place
    fs.pipe_file(f"{folder}/x", CONTENT)
    with pytest.raises(SameFileError):
        fs.cp_file(f"{folder}/x", f"{folder}/x")
    assert fs.cat_file(f"{folder}/x") == CONTENT


def test_putting_and_getting(place: tuple[Any, str], tmp_path: Path) -> None:
    fs, folder = place
    (tmp_path / "here" / "deep").mkdir(parents=True)
    (tmp_path / "here" / "deep" / "x").write_bytes(CONTENT)
    fs.put(str(tmp_path / "here"), f"{folder}/there", recursive=True)
    fs.get(f"{folder}/there", str(tmp_path / "back"), recursive=True)
    assert (tmp_path / "back" / "deep" / "x").read_bytes() == CONTENT
    fs.rm(f"{folder}/there", recursive=True)
    assert not fs.exists(f"{folder}/there")


def test_transactions(place: tuple[Any, str]) -> None:
    fs, folder = place
    fs.pipe_file(f"{folder}/old", b"old")
    with fs.transaction:
        for name in ("old", "new"):
            with fs.open(f"{folder}/{name}", "wb") as file:
                file.write(CONTENT)
        assert fs.cat_file(f"{folder}/old") == b"old"
        assert not fs.exists(f"{folder}/new")
    assert fs.cat_file(f"{folder}/old") == fs.cat_file(f"{folder}/new") == CONTENT
    with pytest.raises(ZeroDivisionError), fs.transaction:
        with fs.open(f"{folder}/old", "wb") as file:
            file.write(b"never")
        raise ZeroDivisionError
    assert fs.cat_file(f"{folder}/old") == CONTENT
    assert len(fs.ls(folder)) == 2


def test_odd_names(place: tuple[Any, str]) -> None:
    fs, folder = place
    for name in ("with space", "ä ö", "a+b=c&d", "%41", "x" * 255, "tab\there"):
        fs.pipe_file(f"{folder}/{name}", name.encode())
        assert fs.cat_file(f"{folder}/{name}") == name.encode()
    assert len(fs.ls(folder)) == 6


# -- of boomfs:// only -------------------------------------------------------------------------------------------


def test_urls_name_the_cluster(cluster: LocalCluster, folder: str) -> None:
    url = f"boomfs://{cluster.namenodes}{folder}/x"
    with fsspec.open(url, "wb") as file:
        file.write(b"by url")
    with fsspec.open(url, "rb") as file:
        assert file.read() == b"by url"
    fs, path = fsspec.url_to_fs(url)
    assert (type(fs), path) == (BoomFileSystem, f"{folder}/x")
    assert fs.unstrip_protocol(path) == url
    assert fs is fsspec.filesystem("boomfs", namenodes=cluster.namenodes)


def test_the_environment_names_the_cluster(
    cluster: LocalCluster, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOOMFS_NAMENODES", cluster.namenodes)
    with fsspec.open(f"boomfs://{folder}/y", "wb") as file:
        file.write(b"by environment")
    assert fsspec.filesystem("boomfs").cat_file(f"{folder}/y") == b"by environment"
    monkeypatch.delenv("BOOMFS_NAMENODES")
    with pytest.raises(ValueError, match="no NameNode is named"):
        BoomFileSystem(skip_instance_cache=True)


def test_file_systems_and_files_are_pickled(shared: BoomFileSystem, folder: str) -> None:
    shared.pipe_file(f"{folder}/x", CONTENT)
    assert pickle.loads(pickle.dumps(shared)).cat_file(f"{folder}/x") == CONTENT
    with shared.open(f"{folder}/x", "rb") as file:
        file.seek(500_000)
        with pickle.loads(pickle.dumps(file)) as other:
            assert other.read(10) == CONTENT[500_000:500_010]


@pytest.mark.parametrize("path", ["/../etc/passwd", "/a/../../b", "/nul\0", "/" + "x" * 256])
def test_paths_that_lead_out_are_refused(shared: BoomFileSystem, path: str) -> None:
    for act in (shared.info, shared.mkdir, shared.ls, lambda p: shared.open(p, "wb")):
        with pytest.raises(ValueError, match="is not a path"):
            act(path)


def test_a_reader_keeps_the_file_that_it_opened(shared: BoomFileSystem, folder: str) -> None:
    """What is appended later is not part of it, and a new file of that name is another one."""
    shared.pipe_file(f"{folder}/x", CONTENT)
    with shared.open(f"{folder}/x", "rb") as file:
        with shared.open(f"{folder}/x", "ab") as more:
            more.write(b"more")
        assert file.read() == CONTENT
    assert shared.size(f"{folder}/x") == len(CONTENT) + 4


def test_what_was_seen_of_a_file_stays_while_many_append(
    cluster: LocalCluster, shared: BoomFileSystem, folder: str
) -> None:
    """Nobody waits for others, nothing is lost, and no line comes before one that was there."""
    path = f"{folder}/log"
    seen: list[bytes] = [b""]
    failures: list[BaseException] = []

    def append(name: str) -> None:
        own = BoomFileSystem(cluster.namenodes, skip_instance_cache=True)
        try:
            for k in range(5):
                # The file is made by whoever comes first.
                with own.open(path, "ab") as file:
                    file.write(f"{name}{k}\n".encode())
                seen.append(own.cat_file(path))
        except BaseException as error:
            failures.append(error)
        finally:
            own.close()

    writers = [threading.Thread(target=append, args=(name,)) for name in "abc"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert failures == []
    end = shared.cat_file(path)
    assert sorted(end.split()) == sorted(f"{name}{k}".encode() for name in "abc" for k in range(5))
    assert all(end.startswith(part) for part in seen)


def test_who_writes_a_file_that_was_replaced_fails(shared: BoomFileSystem, folder: str) -> None:
    old: Any = shared.open(f"{folder}/x", "wb")
    old.write(CONTENT[:300_000])
    with shared.open(f"{folder}/x", "wb") as new:
        new.write(b"new")
        old.write(b"never")
    with pytest.raises(OSError, match="Stale file handle"):
        old.close()
    old.closed = True
    assert shared.cat_file(f"{folder}/x") == b"new"


@pytest.mark.parametrize("address", ["nowhere", "127.0.0.1", "127.0.0.1:", "127.0.0.1:99999", ":7000"])
def test_what_is_no_address_is_refused_at_once(address: str) -> None:
    with pytest.raises(ValueError, match="is not the address of a NameNode"):
        BoomFileSystem(address, skip_instance_cache=True)


@pytest.mark.parametrize("ask", ["exists", "lexists", "isdir", "isfile"])
def test_what_nobody_answers_is_no_answer(ask: str) -> None:
    """Or a job would take what is out of reach for what is not there, and write it anew."""
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{nobody.getsockname()[1]}"
        fs = BoomFileSystem(address, patience=0.3, skip_instance_cache=True)
        try:
            with pytest.raises(UnansweredError):
                getattr(fs, ask)("/x")
        finally:
            fs.close()


def test_what_cannot_be_there_is_not(shared: BoomFileSystem, folder: str) -> None:
    shared.pipe_file(f"{folder}/x", b"1")
    for path in (f"{folder}/y", f"{folder}/x/below", "/nul\0"):
        assert not (shared.exists(path) or shared.isdir(path) or shared.isfile(path))
    assert [shared.exists(p) and (shared.isdir(p), shared.isfile(p)) for p in (folder, f"{folder}/x")] == [
        (True, False),
        (False, True),
    ]
