"""Parts of a proof's file without the file, and files of changed parts."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

from clew.proof.archive import write_archive
from clew.proof.refuting import Refutation
from clew.verify.archive import Parts, read_archive


def archive_of(refutation: Refutation) -> bytes:
    """Return the file of a refutation."""
    archive = write_archive(refutation)
    assert isinstance(archive, bytes)
    return archive


def parts_of(refutation: Refutation) -> Parts:
    """Return what is read from the file of a refutation."""
    return read_archive(io.BytesIO(archive_of(refutation)))


def contents(archive: bytes) -> dict[str, bytes]:
    """Return the parts of a file by their names."""
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def write_parts(file: Path, parts: Mapping[str, bytes]) -> Path:
    """Write a file with these parts."""
    with zipfile.ZipFile(file, "w") as opened:
        for name, content in parts.items():
            opened.writestr(name, content)
    return file
