"""Recordings of version 3, which have no digest of each file, are still read.

``version_3`` has a recording as commit 54079cb wrote it, its scenario in two files, and what ``clew replay`` of
that commit said.  Nothing in it may be edited or formatted: the recording has a digest of these files.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from clew.simulation.recordings.reading import open_recording
from clew.simulation.recordings.recording import write_recording
from command import clew

DOCUMENTS = Path(__file__).parent / "version_3"


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    """A copy, so that nothing is written beside the originals."""
    return Path(shutil.copytree(DOCUMENTS, tmp_path / "documents"))


def test_a_replay_says_what_it_said(documents: Path) -> None:
    assert json.loads((documents / "replicas.json").read_text(encoding="utf-8"))["version"] == 3
    replayed = clew("replay", "replicas.json", cwd=documents)
    assert (replayed.returncode, replayed.stderr) == (1, "")
    assert replayed.stdout == (documents / "replicas.replay.txt").read_text(encoding="utf-8")


def test_it_is_written_as_it_was(documents: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(documents)
    opened = open_recording("replicas.json")
    assert opened.same_code
    assert write_recording(opened.recording) == (documents / "replicas.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("changed", ["replicas.py", "store.py"])
def test_other_code_is_refused_without_the_name_of_the_file(documents: Path, changed: str) -> None:
    with (documents / changed).open("a", encoding="utf-8") as file:
        file.write("\nprint('executed')\n")
    refused = clew("replay", "replicas.json", cwd=documents)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith(
        "error: this is a recording of other code: replicas.py has changed since, or a module that it uses\n"
    )


def test_minimized_it_is_a_recording_of_today(documents: Path) -> None:
    done = clew("minimize", "replicas.json", "-o", "min.json", "--brief", cwd=documents)
    assert done.returncode == 0
    document = json.loads((documents / "min.json").read_text(encoding="utf-8"))
    assert document["version"] == 4 and list(document["digests"]) == document["files"]
    assert clew("replay", "min.json", cwd=documents).returncode == 1
