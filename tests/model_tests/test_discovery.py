"""Which files are looked at: those below a folder, and none that are elsewhere or of somebody else."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from clew.errors import UsageError
from clew.model_tests.discovery import Candidate, discover
from model_files import write


def found(*paths: str) -> list[str]:
    return [candidate.file for candidate in discover(paths).candidates]


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_files_are_found_in_the_order_of_their_names(tmp_path: Path) -> None:
    for name in ("z.ded", "b/y.py", "b/a.ded", "a/c/d.ded", "B.ded", "readme.md", "x.ded.txt", "ded"):
        write(tmp_path, name, "")
    assert found(".") == ["B.ded", "z.ded", "a/c/d.ded", "b/a.ded", "b/y.py"]
    assert found("b", "z.ded", ".") == ["b/a.ded", "b/y.py", "z.ded", "B.ded", "a/c/d.ded"]
    assert found(str(tmp_path)) == [str(tmp_path / name) for name in found(".")]


def test_folders_of_others_are_left_out(tmp_path: Path) -> None:
    for folder in (".git", ".venv", "__pycache__", "node_modules", "lib/site-packages", "env", "own"):
        write(tmp_path, f"{folder}/m.ded", "")
    write(tmp_path, "env/pyvenv.cfg", "")
    write(tmp_path, ".hidden.ded", "")
    assert found(".") == ["own/m.ded"]
    assert found(".git", "env") == [".git/m.ded", "env/m.ded"]  # what is named is meant


def test_links_are_not_followed_and_that_is_said(tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    write(outside, "m.ded", "")
    write(inside, "own.ded", "")
    (inside / "folder").symlink_to(outside)
    (inside / "m.ded").symlink_to(outside / "m.ded")
    (inside / "again.ded").symlink_to(inside / "own.ded")
    (inside / "round").symlink_to(inside)
    discovery = discover(["inside"])
    assert [candidate.file for candidate in discovery.candidates] == ["inside/own.ded"]
    (notice,) = discovery.notices()
    links = "inside/folder, inside/round, inside/again.ded, ..."
    assert notice.message == f"not followed: 4 symbolic links ({links}); name what is to be tested"
    assert found("inside/m.ded", "inside/folder") == ["inside/m.ded"]  # named, and one file with two names


def test_a_file_is_found_once(tmp_path: Path) -> None:
    write(tmp_path, "m.py", "")
    assert discover(["m.py:A", "m.py:B", "m.py:A"]).candidates == [Candidate("m.py", "A"), Candidate("m.py", "B")]
    assert discover(["m.py", "./m.py", "m.py:A"]).candidates == [Candidate("m.py")]


def test_a_folder_that_cannot_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "closed/m.ded", "")
    write(tmp_path, "own.ded", "")
    scandir = os.scandir

    def refuse(path: str) -> Any:  # not by its mode: root may read everything
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    discovery = discover(["."])
    assert [candidate.file for candidate in discovery.candidates] == ["own.ded"]
    (notice,) = discovery.notices()
    assert notice.message == "not tested: 1 file or folder (./closed) that cannot be read"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("no.ded", "no.ded: no such file or folder"),
        ("", ": no such file or folder"),
        ("no.py:A", "no.py:A: no such file or folder"),
        ("a\0b", "a\0b: no such file or folder"),
        ("notes.txt", "notes.txt: its name ends neither in .ded nor in .py"),
        ("pipe.ded", "pipe.ded: not a regular file"),
    ],
)
def test_what_cannot_be_a_model_is_refused(tmp_path: Path, path: str, message: str) -> None:
    write(tmp_path, "notes.txt", "")
    os.mkfifo(tmp_path / "pipe.ded")
    with pytest.raises(UsageError) as caught:
        discover([path])
    assert caught.value.message == message
    assert caught.value.remedy == "name a model, or a folder with models"
