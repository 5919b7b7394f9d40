"""What documents and programs name is not executed for that, and not quoted."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from command import ROOT, clew
from scenario_files import CRASH, scenario_file

#: Tells that it was executed.
MARKED = "from pathlib import Path\nPath('executed').touch()\n" + CRASH
SECRET = "root:x:0:0:SECRET:/root:/bin/sh"


def executed(folder: Path) -> bool:
    """Whether the scenario was, since the last time."""
    mark = folder / "executed"
    found = mark.exists()
    mark.unlink(missing_ok=True)
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """here/, with rec.json of here/s.py, and elsewhere/."""
    here = tmp_path / "here"
    (tmp_path / "elsewhere").mkdir()
    here.mkdir()
    scenario_file(here, MARKED)
    assert clew("fuzz", "s.py", "-o", "rec.json", cwd=here).returncode == 1
    assert executed(here)
    return here


def name_in_recording(folder: Path, scenario: str) -> None:
    document = json.loads((folder / "rec.json").read_text(encoding="utf-8"))
    document["scenario"] = scenario
    (folder / "rec.json").write_text(json.dumps(document), encoding="utf-8")


COMMANDS = [("replay",), ("replay", "--changed-code"), ("minimize",)]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("kind", ["absolute", "relative", "link"])
def test_a_recording_does_not_choose_a_file_elsewhere(folder: Path, words: tuple[str, ...], kind: str) -> None:
    evil = folder.parent / "elsewhere" / "s.py"
    (folder / "s.py").rename(evil)
    if kind == "link":
        (folder / "s.py").symlink_to(evil)
    name_in_recording(folder, {"absolute": str(evil), "relative": "../elsewhere/s.py", "link": "s.py"}[kind])
    done = clew(words[0], "rec.json", *words[1:], cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert "which is not below the working directory" in done.stderr and "--scenario FILE" in done.stderr
    assert not executed(folder)
    # Who names it wants it.
    for given in (["--scenario", str(evil)], [str(evil)]):
        named = clew(words[0], "rec.json", *words[1:], *given, cwd=folder)
        assert named.returncode == (0 if words[0] == "minimize" else 1), named.stderr
        assert executed(folder)


@pytest.mark.parametrize("command", ["replay", "minimize"])
@pytest.mark.parametrize("given", [(), ("--scenario", "s.py")])
def test_code_that_has_changed_is_not_executed(folder: Path, command: str, given: tuple[str, ...]) -> None:
    scenario_file(folder, MARKED + "# changed\n")
    done = clew(command, "rec.json", *given, cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: this is a recording of other code: s.py has changed since")
    assert not executed(folder)
    if command == "replay":
        assert clew(command, "rec.json", *given, "--changed-code", cwd=folder).returncode == 1
        assert executed(folder)


@pytest.mark.parametrize(
    "imported", ["import settings", "from settings import LIMIT", "from package.part import X"]
)
def test_modules_beside_the_scenario_are_compared_before_it_is_executed(tmp_path: Path, imported: str) -> None:
    (tmp_path / "settings.py").write_text("LIMIT = 1\n", encoding="utf-8")
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").touch()
    (tmp_path / "package" / "part.py").write_text("X = 1\n", encoding="utf-8")
    scenario_file(tmp_path, f"{imported}\n{MARKED}")
    assert clew("fuzz", "s.py", "-o", "rec.json", cwd=tmp_path).returncode == 1
    executed(tmp_path)
    part = tmp_path / ("package/part.py" if "package" in imported else "settings.py")
    files = json.loads((tmp_path / "rec.json").read_text(encoding="utf-8"))["files"]
    assert part.relative_to(tmp_path).as_posix() in files and "s.py" in files
    assert clew("replay", "rec.json", cwd=tmp_path).returncode == 1
    executed(tmp_path)
    part.write_text(part.read_text(encoding="utf-8") + "import pathlib; pathlib.Path('executed').touch()\n")
    assert clew("replay", "rec.json", cwd=tmp_path).returncode == 2
    assert not executed(tmp_path)


def test_one_scenario_is_named_once(folder: Path) -> None:
    done = clew("replay", "rec.json", "s.py", "--scenario", "s.py", cwd=folder)
    assert done.returncode == 2
    assert "2 files are given, and a recording is of one scenario" in done.stderr


def test_a_violation_elsewhere_is_replayed_with_the_printed_command(folder: Path) -> None:
    elsewhere = folder.parent / "elsewhere"
    done = clew("fuzz", "../here/s.py", "-o", "rec.json", cwd=elsewhere)
    assert "  replay:   clew replay rec.json --scenario ../here/s.py:scenario\n" in done.stdout
    again = clew("replay", "rec.json", "--scenario", "../here/s.py:scenario", cwd=elsewhere)
    assert again.returncode == 1


def test_a_verdict_does_not_choose_a_file_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    shutil.copytree(ROOT / "examples" / "assertions", tmp_path / "assertions")
    shutil.copy(ROOT / "examples" / "simple-deliv.ded", tmp_path / "p.ded")
    assert clew("check", "../p.ded", "--json", "v.json", cwd=tmp_path / "here").returncode == 1
    done = clew("replay", "v.json", cwd=tmp_path / "here")
    assert (done.returncode, done.stdout) == (2, "")
    assert "v.json: names '../p.ded', which is not below the working directory" in done.stderr
    assert clew("replay", "v.json", "../p.ded", cwd=tmp_path / "here").returncode == 1


@pytest.mark.parametrize("name", ["passwd", "passwd.ded", "passwd.py", "passwd.yaml", "passwd.json"])
@pytest.mark.parametrize("words", ["check", "run", "calm", "blazes", "fuzz", "explore", "replay", "minimize"])
def test_what_is_no_program_is_not_quoted(tmp_path: Path, words: str, name: str) -> None:
    """Also if a link makes it look like one."""
    (tmp_path / "passwd").write_text(f"{SECRET}\n", encoding="utf-8")
    if name != "passwd":
        (tmp_path / name).symlink_to("passwd")
    done = clew(words, name, cwd=tmp_path)
    assert done.returncode == 2, done.stdout
    assert "SECRET" not in done.stdout + done.stderr and "root" not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr and "remedy: " in done.stderr


def test_what_a_program_includes_is_not_quoted(tmp_path: Path) -> None:
    (tmp_path / "passwd").write_text(f"{SECRET}\n", encoding="utf-8")
    (tmp_path / "p.ded").write_text('include "passwd";\n', encoding="utf-8")
    done = clew("check", "p.ded", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == (
        "p.ded:1:9: error: passwd: is not a Dedalus program, and its name does not end in .ded\n"
        '    include "passwd";\n'
        "            ^\n"
        "  remedy: name a program; to see what is wrong in line 1, rename it\n"
    )


@pytest.mark.parametrize("content", ['"SECRET"', "12345", '{"SECRET": 1, "SECRET": 2}', '{"SECRET": 1}', "SECRET"])
def test_documents_of_others_are_not_quoted(tmp_path: Path, content: str) -> None:
    (tmp_path / "settings").write_text(content, encoding="utf-8")
    done = clew("replay", "settings", cwd=tmp_path)
    assert done.returncode == 2
    assert "SECRET" not in done.stderr and "12345" not in done.stderr
