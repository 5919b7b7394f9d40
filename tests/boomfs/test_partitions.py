"""The scalability revision: files at the partition of their path's hash, folders everywhere."""

from __future__ import annotations

from collections import Counter
from uuid import uuid4

import pytest

from clew.boomfs.client.filesystem import BoomFileSystem
from clew.boomfs.paths import partition_of


@pytest.fixture
def place(partitioned: BoomFileSystem) -> str:
    path = f"/{uuid4().hex}"
    partitioned.mkdir(path)
    return path


def _at(fs: BoomFileSystem, partition: int, path: str) -> list[str]:
    return sorted(entry[0] for entry in fs._sessions.all("ls", partition, path))


def test_files_are_at_one_partition_and_folders_at_all(partitioned: BoomFileSystem, place: str) -> None:
    for k in range(30):
        partitioned.pipe_file(f"{place}/{k}", str(k).encode())
    partitioned.mkdir(f"{place}/folder")
    found = [_at(partitioned, partition, place) for partition in range(3)]
    assert Counter(name for names in found for name in names) == {str(k): 1 for k in range(30)} | {"folder": 3}
    for partition, names in enumerate(found):
        assert all(partition_of(f"{place}/{name}", 3) == partition for name in names if name != "folder")
    assert len(partitioned.ls(place)) == 31
    assert [partitioned.cat_file(f"{place}/{k}") for k in range(30)] == [str(k).encode() for k in range(30)]


def test_making_a_folder_again_repairs_one_that_is_partial(partitioned: BoomFileSystem, place: str) -> None:
    """A client died in between: the folder is at its own partition, and has something in it."""
    path = f"{place}/half"
    home = partition_of(path, 3)
    partitioned._sessions.one("mkdir", home, path)
    near, far = (
        next(f"{path}/{k}" for k in range(100) if (partition_of(f"{path}/{k}", 3) == home) is here)
        for here in (True, False)
    )
    partitioned.auto_mkdir = False
    try:
        partitioned.pipe_file(near, b"near")
        with pytest.raises(FileNotFoundError):
            partitioned.pipe_file(far, b"far")
        assert partitioned.find(place) == [near]
        partitioned.makedirs(path, exist_ok=True)
        partitioned.pipe_file(far, b"far")
    finally:
        partitioned.auto_mkdir = True
    assert partitioned.cat(sorted([near, far])) == {near: b"near", far: b"far"}


def test_no_file_is_renamed_to_another_partition_but_moved(partitioned: BoomFileSystem, place: str) -> None:
    partitioned.pipe_file(f"{place}/x", b"content")
    home = partition_of(f"{place}/x", 3)
    far = next(f"{place}/{k}" for k in range(100) if partition_of(f"{place}/{k}", 3) != home)
    with pytest.raises(OSError, match="Invalid cross-device link"):
        partitioned.metadata.rename(f"{place}/x", far)
    partitioned.mv(f"{place}/x", far)
    assert partitioned.find(place) == [far]
    assert partitioned.cat_file(far) == b"content"


def test_a_file_and_a_folder_cannot_have_one_path(partitioned: BoomFileSystem, place: str) -> None:
    for k in range(6):
        partitioned.touch(f"{place}/{k}")
        with pytest.raises(FileExistsError):
            partitioned.mkdir(f"{place}/{k}")
        partitioned.mkdir(f"{place}/d{k}")
        with pytest.raises(IsADirectoryError):
            partitioned.touch(f"{place}/d{k}")
    assert len(partitioned.ls(place)) == 12
    with pytest.raises(OSError, match="not empty"):
        partitioned.rmdir(place)
    partitioned.rm(place, recursive=True)
    assert not partitioned.exists(place)
    assert all(place.strip("/") not in _at(partitioned, partition, "/") for partition in range(3))
