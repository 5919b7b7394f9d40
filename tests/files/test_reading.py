"""Files that are read: what has no end, or never begins, is refused at once, by every command."""

from __future__ import annotations

import ast
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from clew.files.reading import IrregularFileError, read_input, read_source
from command import ROOT, clew

SOURCE = ROOT / "src" / "clew"

#: What writes, what opens the null device or a file of the system, and the checker of proofs, which imports
#: nothing of Clew.
_OTHER_READERS = {
    # What nodes wrote to their simulated disks, and DataNodes to their real ones: chunks may have any size.
    "aio/disks/disk.py",
    "boomfs/datanode/chunk_store.py",
    # The end of what a process of its own has printed.
    "boomfs/local_cluster.py",
    # What processes of this very command write into its private folder, read within bounds.
    "bloom/tracing/counters.py",
    "bloom/tracing/record_lines.py",
    "files/naming.py",
    "files/reading.py",
    "files/writing.py",
    "model_tests/processes.py",
    "verify/archive.py",
    "cli/process/orphans.py",
    "cli/process/streams.py",
    "cli/process/supervision.py",
}


def _is_of_the_package(value: ast.expr) -> bool:
    """Tell whether this is a template that comes with Clew, which nobody has to be protected from."""
    return any(part in ast.unparse(value) for part in ("parts /", "files('clew."))


def _reads_files(path: Path) -> bool:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            match node.func:
                case ast.Name("open"):
                    return True
                case ast.Attribute(ast.Name("os"), "open"):
                    return True
                case ast.Attribute(value, "read_bytes" | "read_text") if not _is_of_the_package(value):
                    return True
                case ast.Attribute(value, "open") if "ath" in ast.unparse(value):
                    return True
    return False


def test_files_are_read_in_one_place() -> None:
    found = {p.relative_to(SOURCE).as_posix() for p in SOURCE.rglob("*.py") if _reads_files(p)}
    assert found <= _OTHER_READERS and "files/reading.py" in found


def test_regular_files_are_read_up_to_a_size(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"abcdef")
    assert read_input(file, 6) == b"abcdef"
    assert read_input(file, 2) == b"abc"
    assert read_source(file) == b"abcdef"
    with pytest.raises(ValueError, match="null"):
        read_input("a\0b", 6)


def test_what_was_given_open_is_read() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "clew", "check", "/dev/stdin"],
        input=(ROOT / "examples" / "kafka.ded").read_bytes(),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 1 and done.stdout.startswith(b"COUNTEREXAMPLE: 3 faults")
    with Path("/dev/zero").open("rb") as zeros:
        endless = subprocess.run(
            [sys.executable, "-m", "clew", "check", "/dev/stdin"], stdin=zeros, capture_output=True, check=False
        )
    assert endless.returncode == 2 and b"is larger than 1 MB" in endless.stderr


@pytest.fixture(scope="module")
def irregular(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("irregular")
    for ending in ("ded", "py", "json", "yaml", "zip"):
        os.mkfifo(folder / f"pipe.{ending}")
        (folder / f"device.{ending}").symlink_to("/dev/zero")
        (folder / f"folder.{ending}").mkdir()
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(str(folder / f"socket.{ending}"))
    (folder / "includes.ded").write_text('include "pipe.ded";\n')
    return folder


@pytest.mark.parametrize("name", ["pipe", "device", "socket"])
def test_the_reader_refuses_and_does_not_wait(name: str, irregular: Path) -> None:
    with pytest.raises(IrregularFileError) as refused:
        read_input(irregular / f"{name}.ded", 10, given_open=True)
    assert name in refused.value.kind
    with pytest.raises(IsADirectoryError):
        read_input(irregular / "folder.ded", 10)


@pytest.mark.parametrize("name", ["pipe", "device", "socket", "folder"])
def test_every_command_refuses_what_is_no_file(name: str, irregular: Path) -> None:
    given = ["check X.ded", "check X.py", "run X.ded", "run X.py", "fuzz X.py", "explore X.py", "replay X.json"]
    given += ["replay X.json X.py", "minimize X.json", "calm X.ded", "calm X.py", "blazes X.yaml", "blazes X.py:A"]
    given += ["verify X.zip", *(["check includes.ded"] if name == "pipe" else [])]
    for words in given:
        done = clew(*words.replace("X.", f"{name}.").split(), cwd=irregular, seconds=60)
        first, *rest = done.stderr.splitlines()
        assert done.returncode == 2, words
        assert "error: " in first and any(what in first for what in (name, "no regular file")), first
        assert rest and rest[-1].startswith("  remedy: "), words
