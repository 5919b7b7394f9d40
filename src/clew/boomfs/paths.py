"""Paths of the file system: what one is, and which partition of the namespace a path belongs to.

A path begins with ``/`` and has no component that is empty, ``.`` or ``..``.  Clients normalise what users write;
NameNodes refuse whatever is not normal, so that no path leads out of the file system.
"""

from __future__ import annotations

from hashlib import sha256

#: As most file systems have it, so that whatever is here can be copied to a disk.
LONGEST_NAME = 255
LONGEST_PATH = 4096


def normalize_path(path: str) -> str:
    """Return a path as it is named everywhere; ValueError if it is none."""
    if not isinstance(path, str):
        raise ValueError(f"{path!r} is not a path")
    parts = [part for part in path.split("/") if part not in ("", ".")]
    normal = "/" + "/".join(parts)
    if not is_normal_path(normal):
        raise ValueError(
            f"{path!r} is not a path: no '..' and no NUL, and a name has at most {LONGEST_NAME} bytes"
        )
    return normal


def is_normal_path(path: object) -> bool:
    """Tell whether something is a normal path, whoever sent it."""
    if not isinstance(path, str) or not path.startswith("/") or len(path) > LONGEST_PATH:
        return False
    return path == "/" or all(map(is_name, path[1:].split("/")))


def is_name(name: object) -> bool:
    """Tell whether something may be the name of a file."""
    if not isinstance(name, str) or name in ("", ".", "..") or "/" in name or "\0" in name:
        return False
    try:
        return len(name.encode()) <= LONGEST_NAME
    except UnicodeEncodeError:
        return False


def parent_of(path: str) -> str:
    """Return the path of the folder that a path is in; that of the root is the root."""
    return path.rpartition("/")[0] or "/"


def name_of(path: str) -> str:
    return path.rpartition("/")[2]


def is_inside(path: str, folder: str) -> bool:
    """Tell whether a path is a folder, or leads into it."""
    return path == folder or folder == "/" or path.startswith(folder + "/")


def partition_of(path: str, partitions: int) -> int:
    """Return the partition that a file belongs to: the hash of its path, the same for everybody, forever."""
    if partitions == 1:
        return 0
    return int(sha256(path.encode()).hexdigest(), 16) % partitions
