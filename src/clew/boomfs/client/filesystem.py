"""``boomfs://`` for fsspec, and so for everybody who uses it: pandas, pyarrow, Dask.

``boomfs://host:port/path`` names a NameNode of the cluster, or several, separated by commas; one that answers is
enough to learn the others.  Without a host it is the environment variable ``BOOMFS_NAMENODES`` that names them.
"""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from shutil import SameFileError
from typing import Any
from urllib.parse import urlsplit

from fsspec.spec import AbstractBufferedFile, AbstractFileSystem
from fsspec.utils import stringify_path

from clew.bloom.network.addresses import parse_address
from clew.boomfs.client.data_client import DataClient
from clew.boomfs.client.errors import error_for
from clew.boomfs.client.files import Chunk, FileChunks
from clew.boomfs.client.metadata import Entry, Metadata
from clew.boomfs.client.session import PATIENCE, Sessions
from clew.boomfs.paths import name_of, normalize_path, parent_of, partition_of

NAMENODES = "BOOMFS_NAMENODES"
_PREFIXES = ("boomfs://", "boomfs::")
#: Read at once, at least; a reader that goes on finds it there.
_READ_AHEAD = 4 * 2**20


class BoomFileSystem(AbstractFileSystem):  # type: ignore[misc]  # fsspec has no types
    """``namenodes``: addresses as text with commas, or a list.  ``secret``: that of the cluster, if it has one.

    ``auto_mkdir``: whoever makes a file makes the folders around it, as in HDFS.
    ``patience``: for how many seconds a NameNode may be away before a call fails.
    """

    protocol = "boomfs"
    root_marker = "/"

    def __init__(
        self,
        namenodes: str | Sequence[str] | None = None,
        *,
        secret: str | None = None,
        auto_mkdir: bool = True,
        patience: float = PATIENCE,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.auto_mkdir = auto_mkdir
        if namenodes is None:
            namenodes = os.environ.get(NAMENODES, "")
        given = [each for each in namenodes.split(",") if each] if isinstance(namenodes, str) else list(namenodes)
        if not given:
            raise ValueError(f"no NameNode is named: write boomfs://host:port/path, or set {NAMENODES}")
        for each in given:
            if parse_address(each) is None:
                raise ValueError(
                    f"{each!r} is not the address of a NameNode: give a host and a port, as host:7000"
                )
        self.namenodes = given
        self._sessions = Sessions(given, secret=secret, patience=patience)
        self._data = DataClient(secret)
        self.metadata = Metadata(self._sessions)
        self.file_chunks = FileChunks(self._sessions, self._data)

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        if isinstance(path, list):
            return [cls._strip_protocol(each) for each in path]
        path = stringify_path(path)
        if path.startswith("boomfs://"):
            path = path.removeprefix("boomfs://").partition("/")[2]
        return normalize_path(path.removeprefix("boomfs::"))

    @staticmethod
    def _get_kwargs_from_urls(path: str) -> dict[str, Any]:
        host = urlsplit(path).netloc if path.startswith("boomfs://") else ""
        return {"namenodes": host} if host else {}

    def unstrip_protocol(self, name: str) -> str:
        return f"boomfs://{','.join(self.namenodes)}{self._strip_protocol(name)}"

    def close(self) -> None:
        """Give sockets and threads back; the file system can be used again."""
        self._sessions.close()
        self._data.close()

    # -- what there is -------------------------------------------------------------------------------------------

    def info(self, path: str, **kwargs: Any) -> dict[str, Any]:
        return _describe(self.metadata.stat(self._strip_protocol(path)))

    # fsspec's own take every error for a "no": a job would write anew what is only out of reach.

    def exists(self, path: str, **kwargs: Any) -> bool:
        return self._find_type(path) is not None

    def isdir(self, path: str) -> bool:
        return self._find_type(path) == "directory"

    def isfile(self, path: str) -> bool:
        return self._find_type(path) == "file"

    def _find_type(self, path: str) -> str | None:
        """Return what is at a path, None if nothing is, or can be."""
        try:
            return str(self.info(path)["type"])
        except (FileNotFoundError, NotADirectoryError, ValueError):
            return None

    def ls(self, path: str, detail: bool = True, **kwargs: Any) -> list[Any]:
        path = self._strip_protocol(path)
        try:
            entries = self.metadata.ls(path)
        except NotADirectoryError:
            entries = [self.metadata.stat(path)]
        return [_describe(entry) for entry in entries] if detail else [entry.path for entry in entries]

    def modified(self, path: str) -> datetime:
        return datetime.fromtimestamp(self.info(path)["mtime"], UTC)

    # -- what is changed -----------------------------------------------------------------------------------------

    def mkdir(self, path: str, create_parents: bool = True, **kwargs: Any) -> None:
        path = self._strip_protocol(path)
        if create_parents and path != "/":
            self.metadata.make_folders(parent_of(path))
        if not self.metadata.mkdir(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        path = self._strip_protocol(path)
        if exist_ok:
            self.metadata.make_folders(path)
        else:
            self.mkdir(path)

    def rmdir(self, path: str) -> None:
        path = self._strip_protocol(path)
        if not self.metadata.stat(path).is_dir:
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
        self.metadata.remove(path, recursive=False)

    def rm_file(self, path: str) -> None:
        path = self._strip_protocol(path)
        if self.metadata.stat(path).is_dir:
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        self.metadata.remove(path, recursive=False)

    _rm = rm_file

    def rm(self, path: Any, recursive: bool = False, maxdepth: int | None = None) -> None:
        if maxdepth is not None:
            super().rm(path, recursive=recursive, maxdepth=maxdepth)
            return
        for each in self.expand_path(path):
            if not recursive:
                self.rm_file(each)
            else:
                self.metadata.remove(each, recursive=True)

    def mv(
        self, path1: str, path2: str, recursive: bool = False, maxdepth: int | None = None, **kwargs: Any
    ) -> None:
        """Rename, where that is possible; between partitions, copy and remove, which is not atomic."""
        try:
            source = self.metadata.stat(self._strip_protocol(path1))
            target = self._strip_protocol(path2)
        except FileNotFoundError:  # a pattern, or nothing at all
            super().mv(path1, path2, recursive=recursive, maxdepth=maxdepth, **kwargs)
            return
        if str(path2).endswith("/") or self.isdir(target):
            target = f"{target.rstrip('/')}/{name_of(source.path)}"
        if self.auto_mkdir and not self.exists(parent_of(target)):
            self.metadata.make_folders(parent_of(target))
        try:
            self.metadata.rename(source.path, target)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            if source.is_dir and self.exists(target):
                raise error_for("EEXIST", target) from None  # as within a partition: nothing is merged
            self._move_by_copying(source, target)

    def _move_by_copying(self, source: Entry, target: str) -> None:
        if source.is_dir:
            self.metadata.make_folders(target)
            for entry in self.metadata.ls(source.path):
                self._move_by_copying(entry, f"{target}/{name_of(entry.path)}")
        else:
            self.cp_file(source.path, target)
        self.metadata.remove(source.path, recursive=False)

    def cp_file(self, path1: str, path2: str, **kwargs: Any) -> None:
        path1, path2 = self._strip_protocol(path1), self._strip_protocol(path2)
        if path1 == path2:
            # The file would be empty before anything of it was read.
            raise SameFileError(errno.EINVAL, "a file cannot be copied to itself", path1)
        if self.metadata.stat(path1).is_dir:
            self.metadata.make_folders(path2)
            return
        self.metadata.make_folders(parent_of(path2))
        with self.open(path1, "rb", cache_type="none") as source, self.open(path2, "wb") as target:
            while data := source.read(_READ_AHEAD):
                target.write(data)

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **kwargs: Any) -> None:
        with self.open(path, "xb" if mode == "create" else "wb", **kwargs) as file:
            file.write(value)

    def _open(
        self,
        path: str,
        mode: str = "rb",
        block_size: int | None = None,
        autocommit: bool = True,
        cache_options: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> BoomFile:
        return BoomFile(self, path, mode, block_size, autocommit, cache_options=cache_options, **kwargs)


class BoomFile(AbstractBufferedFile):  # type: ignore[misc]  # fsspec has no types
    """A file that is read, or to which chunks are added.

    What is written is visible from chunk to chunk, and all of it when the file is closed.  In a transaction it
    goes to a file beside it, which takes its name at the end.
    """

    DEFAULT_BLOCK_SIZE = _READ_AHEAD
    buffer: io.BytesIO

    def __init__(
        self,
        fs: BoomFileSystem,
        path: str,
        mode: str = "rb",
        block_size: int | None = None,
        autocommit: bool = True,
        **kwargs: Any,
    ) -> None:
        self._files = fs.file_chunks
        self._metadata = fs.metadata
        self._target = path
        self._number = -1
        self._chunks: tuple[Chunk, ...] = ()
        begin = 0
        try:
            if mode == "rb":
                self._chunks = self._files.chunks(path)
                kwargs.setdefault("size", self._chunks[-1].end if self._chunks else 0)
            elif mode not in ("wb", "ab", "xb"):
                raise NotImplementedError(f"files are read, written and appended to, not opened with {mode!r}")
            elif mode == "ab" and (autocommit or fs.exists(path)):
                autocommit = True  # what is added is there at once, as nothing else could be
                begin = self._open_to_append(fs, path)
            else:
                self._create(fs, path, mode, autocommit)
            super().__init__(fs, path, mode, block_size or "default", autocommit, **kwargs)
        except BaseException:
            self.closed = True
            raise
        if mode != "rb":
            self.blocksize = fs._sessions.chunk_size
        self.loc = begin

    def _open_to_append(self, fs: BoomFileSystem, path: str) -> int:
        """Make sure that a file is there, whoever makes it; return its size."""
        if not fs.exists(path):
            with suppress(FileExistsError):
                self._create(fs, path, "ab", autocommit=True)
        entry = self._metadata.stat(path)
        if entry.is_dir:
            raise error_for("EISDIR", path)
        self._number = entry.number
        return entry.size

    def _create(self, fs: BoomFileSystem, path: str, mode: str, autocommit: bool) -> None:
        if autocommit:
            self._number = self._make(fs, path, overwrite=mode == "wb")
            return
        if mode == "xb" and fs.exists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
        # Beside it and in the same partition, so that it can be renamed.
        home = fs._sessions.home(path)
        number = 0
        while partition_of(self._target, fs._sessions.partitions) != home or self._target == path:
            self._target = f"{parent_of(path).rstrip('/')}/.{name_of(path)}.{os.getpid()}.{id(self):x}.{number}"
            number += 1
        self._number = self._make(fs, self._target, overwrite=True)

    def _make(self, fs: BoomFileSystem, path: str, *, overwrite: bool) -> int:
        """Create a file, and the folders around it if they are missing; return its number."""
        # What is there seldom is not asked for first: one request, and changes that replace nothing take effect
        # many at a time.  So files are created at 2,700 a second of the NameNode's processor, and not at 385.
        try:
            return self._metadata.create(path, overwrite=False)
        except FileExistsError:
            if not overwrite:
                raise
        except FileNotFoundError:
            if not fs.auto_mkdir:
                raise
            self._metadata.make_folders(parent_of(path))
        return self._metadata.create(path, overwrite=overwrite)

    def _fetch_range(self, start: int, end: int) -> bytes:
        return self._files.read(self.path, self._chunks, start, end)

    def _upload_chunk(self, final: bool = False) -> bool:
        size = self.blocksize
        data = self.buffer.getbuffer()
        begin = 0
        while len(data) - begin >= size or (final and begin < len(data)):
            self._files.append(self._target, self._number, data[begin : begin + size])
            begin += size
        rest = bytes(data[begin:])
        data.release()
        self.offset += min(begin, self.buffer.tell())
        # Of its own, since the rest of a chunk stays in it until there is more.
        self.buffer = io.BytesIO()
        self.buffer.write(rest)
        return False

    def commit(self) -> None:
        """Take the place of the file that was to be written."""
        if self._target != self.path:
            self._metadata.rename(self._target, self.path)
            self._target = self.path

    def discard(self) -> None:
        """Remove what was written in a transaction that failed."""
        if self._target != self.path:
            self._metadata.remove(self._target, recursive=False)
            self._target = self.path


def _describe(entry: Entry) -> dict[str, Any]:
    return {
        "name": entry.path,
        "size": entry.size,
        "type": "directory" if entry.is_dir else "file",
        "mtime": entry.time,
        "id": entry.number,
    }
