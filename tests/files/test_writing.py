"""Files are written whole or not at all, and nothing else in their folder is touched."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from clew.files.naming import name_file
from clew.files.writing import refuse_unwritable_path, write_whole

#: Writes a file again and again, each time with one letter many times over.
WRITER = """
import sys
from clew.files.writing import write_whole
path, letter, times = sys.argv[1], sys.argv[2], int(sys.argv[3])
for number in range(times):
    write_whole(path, letter * (20_000 + number) + "\\n")
"""


def test_three_processes_that_write_one_file_leave_one_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "verdict.json"
    write_whole(path, "a" * 20_000 + "\n")
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), letter, "300"], stderr=subprocess.PIPE)
        for letter in "abc"
    ]
    reads = 0
    while reads < 100 or any(writer.poll() is None for writer in writers):
        assert_whole(path)
        reads += 1
    for writer in writers:
        assert (writer.wait(), writer.communicate()[1]) == (0, b"")
    assert_whole(path)
    assert names(tmp_path) == ["verdict.json"]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def assert_whole(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.endswith("\n") and len(text) > 20_000
    assert set(text) == {text[0], "\n"} and text.count("\n") == 1


def test_a_link_that_somebody_put_in_the_way_is_not_written_through(tmp_path: Path) -> None:
    path, victim = tmp_path / "verdict.json", tmp_path / "victim"
    victim.write_text("precious", encoding="utf-8")
    (tmp_path / "verdict.json.part").symlink_to(victim)
    write_whole(path, "new")
    assert victim.read_text(encoding="utf-8") == "precious"
    assert (tmp_path / "verdict.json.part").is_symlink()
    assert path.read_text(encoding="utf-8") == "new"


def test_files_of_others_are_not_deleted(tmp_path: Path) -> None:
    path, other = tmp_path / "verdict.json", tmp_path / "verdict.json.part"
    other.write_text("of somebody else", encoding="utf-8")
    refuse_unwritable_path(path)
    assert not path.exists()
    write_whole(path, "new")
    assert other.read_text(encoding="utf-8") == "of somebody else"
    assert names(tmp_path) == ["verdict.json", "verdict.json.part"]


@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002])
def test_a_new_file_has_the_permissions_of_any_new_file(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        write_whole(tmp_path / "verdict.json", "new")
    finally:
        assert os.umask(before) == umask
    assert stat.S_IMODE((tmp_path / "verdict.json").stat().st_mode) == 0o666 & ~umask


def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "verdict.json"
    path.write_text("old", encoding="utf-8")
    path.chmod(0o640)
    write_whole(path, "new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_links_stay_and_what_they_lead_to_is_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    target, link, second = folder / "target", tmp_path / "link", tmp_path / "second"
    link.symlink_to("elsewhere/target")
    second.symlink_to(link)
    write_whole(second, "first")
    kept = target.stat().st_ino
    write_whole(second, "again")
    assert (link.is_symlink(), second.is_symlink(), target.is_symlink()) == (True, True, False)
    assert target.read_text(encoding="utf-8") == "again"
    assert target.stat().st_ino != kept
    assert names(folder) == ["target"]


def test_a_write_that_fails_leaves_what_was_there_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "verdict.json"
    path.write_text("old", encoding="utf-8")

    def fail(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, "new")
    assert path.read_text(encoding="utf-8") == "old"
    assert names(tmp_path) == ["verdict.json"]


@pytest.mark.parametrize("existed", [True, False])
def test_file_and_folder_are_brought_to_the_disk_in_this_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, existed: bool
) -> None:
    path = tmp_path / "verdict.json"
    if existed:
        path.write_text("old", encoding="utf-8")
    done: list[str] = []
    fsync = os.fsync

    def synced(handle: int) -> None:
        done.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        fsync(handle)

    def named(handle: int, target: Path) -> bool:
        done.append("name")
        return name_file(handle, target)

    monkeypatch.setattr("os.fsync", synced)
    monkeypatch.setattr("clew.files.writing.name_file", named)
    write_whole(path, "new")
    assert done == ["file", "name", "folder"]
    assert path.read_text(encoding="utf-8") == "new"


SAY = "from clew.files.writing import write_whole; write_whole('/dev/stdout', 'said')"


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="there is no /dev/stdout here")
def test_standard_output_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    piped = subprocess.run([sys.executable, "-c", SAY], capture_output=True, text=True, check=True)
    assert piped.stdout == "said"
    path = tmp_path / "out"
    with path.open("w", encoding="utf-8") as out:
        kept = os.fstat(out.fileno()).st_ino
        subprocess.run([sys.executable, "-c", SAY], stdout=out, check=True)
    assert (path.read_text(encoding="utf-8"), path.stat().st_ino) == ("said", kept)
    assert names(tmp_path) == ["out"]


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="there is no /dev/null here")
def test_devices_stay_devices() -> None:
    refuse_unwritable_path("/dev/null")
    write_whole("/dev/null", "nobody reads this")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


@pytest.mark.parametrize("path", ["", "no/such/folder/x", "x" * 300, "."])
def test_what_cannot_be_written_is_known_before(tmp_path: Path, path: str) -> None:
    with pytest.raises(OSError):  # which one it is, the system says
        refuse_unwritable_path(tmp_path / path)
    assert names(tmp_path) == []


@pytest.mark.parametrize("anonymous", [True, False])
def test_a_writer_that_is_killed_leaves_no_file_where_files_can_be_without_a_name(
    tmp_path: Path, anonymous: bool
) -> None:
    """Killed before the file gets its name; where it must have one from the beginning, that may be left."""
    without = "" if anonymous else "os.O_TMPFILE = 0\n"
    code = f"import os\n{without}from clew.files.writing import write_whole\n"
    code += "os.fsync = lambda handle: os.kill(os.getpid(), 9)\n"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}write_whole('verdict.json', 'new')\n"], cwd=tmp_path, check=False
    )
    assert done.returncode == -9
    left = names(tmp_path)
    assert left == [] if anonymous else len(left) == 1 and left[0].startswith(".clew-")


def test_a_file_that_can_be_given_no_name_is_written_once_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object, **more: object) -> None:
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr("os.link", refuse)
    write_whole(tmp_path / "verdict.json", "new")
    assert (tmp_path / "verdict.json").read_text(encoding="utf-8") == "new"
    assert names(tmp_path) == ["verdict.json"]


def test_without_anonymous_files_the_laws_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.O_TMPFILE", 0)
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    test_a_link_that_somebody_put_in_the_way_is_not_written_through(first)
    test_a_file_that_is_replaced_keeps_its_permissions(first)
    test_a_write_that_fails_leaves_what_was_there_and_nothing_else(second, monkeypatch)
