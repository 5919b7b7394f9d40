"""The parts of a proof's file: a ZIP archive, read within limits and without writing anything."""

from __future__ import annotations

import json
import stat
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from clew.verify.refusals import UnreadableError

#: No file is longer, and no part of one: what is unpacked can be a thousand times what the archive is.
MOST_BYTES = 128_000_000

#: Nor has the archive more parts.
MOST_PARTS = 100

_VERSION = 1
_NUMBERS = ("eot", "eff", "crashes", "delays")
#: Only in files of searches that allow such faults.
_FURTHER = ("duplicates", "restarts", "pauses", "partitions", "stops", "inputs")
_LARGEST_BOUND = 1_000_000


@dataclass(frozen=True)
class Bounds:
    """Of which executions a file says that it speaks, and which version of clingo has grounded them."""

    nodes: tuple[str | int, ...]
    numbers: dict[str, int]
    grounder: str


@dataclass(frozen=True)
class Parts:
    """What a file says it proves, and how; ``program`` is the text that was grounded."""

    bounds: Bounds
    program: bytes
    ground: bytes
    definitions: bytes
    cnf: bytes
    proof: bytes


def read_parts(file: str | Path) -> Parts:
    """Read a proof's file, which nobody has to trust."""
    path = Path(file)
    if "\0" in str(file):  # said here, because versions of Python say it in different words
        raise UnreadableError("its name has a null byte")
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):  # a pipe or a device could have no end
            raise UnreadableError("it is no regular file")
        if status.st_size > MOST_BYTES:
            raise UnreadableError(f"it is longer than {MOST_BYTES // 1_000_000} MB")
        with path.open("rb") as stream:
            return read_archive(stream)
    except OSError as error:
        raise UnreadableError(error.strerror or str(error)) from None
    except ValueError as error:
        raise UnreadableError(str(error)) from None


def read_archive(stream: BinaryIO) -> Parts:
    """Read the parts of an open file."""
    try:
        with zipfile.ZipFile(stream) as archive:
            if len(archive.infolist()) > MOST_PARTS:
                raise UnreadableError(f"it has more than {MOST_PARTS} parts")
            bounds = _bounds(_part(archive, "about.json"))
            names = ("program.lp", "ground.aspif", "definitions.txt", "question.cnf", "proof.drat")
            return Parts(bounds, *(_part(archive, name) for name in names))
    except (zipfile.BadZipFile, zlib.error, ValueError, EOFError, NotImplementedError, RuntimeError) as error:
        # RuntimeError: encrypted; NotImplementedError: of a later version of the format.
        raise UnreadableError(f"it is no archive as clew check --proof writes it ({error})") from None


def _part(archive: zipfile.ZipFile, name: str) -> bytes:
    # Twice the same name: which of the two is read depends on the program, so the file could prove two things.
    if [entry.filename for entry in archive.infolist()].count(name) != 1:
        raise UnreadableError(f"it has no part {name}, or several")
    if archive.getinfo(name).compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise UnreadableError(f"{name} is compressed in an unusual way")
    with archive.open(name) as stream:
        content = stream.read(MOST_BYTES + 1)  # the size that the archive states may be wrong
    if len(content) > MOST_BYTES:
        raise UnreadableError(f"{name} is longer than {MOST_BYTES // 1_000_000} MB")
    return content


def _bounds(content: bytes) -> Bounds:
    try:
        about = json.loads(content)
    except RecursionError:
        raise UnreadableError("about.json is nested too deeply") from None
    if not isinstance(about, dict) or about.get("format") != "clew proof":
        raise UnreadableError("about.json is not that of a proof")
    if about.get("version") != _VERSION:
        raise UnreadableError(f"it has not version {_VERSION}, which is read here")
    bounds, grounder = about.get("bounds"), about.get("grounder")
    if not isinstance(bounds, dict) or not isinstance(grounder, str) or not _are_bounds(set(bounds)):
        raise UnreadableError("about.json does not state its bounds")
    nodes = bounds["nodes"]
    numbers = {name: bounds[name] for name in (*_NUMBERS, *_FURTHER) if name in bounds}
    # type(), not isinstance(): for Python, true is an integer.
    if not isinstance(nodes, list) or not all(type(node) in (str, int) for node in nodes):
        raise UnreadableError("about.json has nodes that are neither texts nor numbers")
    if not all(type(number) is int and 0 <= number <= _LARGEST_BOUND for number in numbers.values()):
        raise UnreadableError("about.json has bounds that are no numbers, or too large")
    return Bounds(tuple(nodes), numbers, grounder)


def _are_bounds(names: set[str]) -> bool:
    return {"nodes", *_NUMBERS} <= names <= {"nodes", *_NUMBERS, *_FURTHER}
