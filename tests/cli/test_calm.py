"""``clew calm`` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from command import clew

PROGRAMS = "tests/analysis/calm/programs.py"

TWO_LINES = """
from clew.bloom import Bloom, bloom, interface

class Copy(Bloom):
    given = interface.input("x")
    result = interface.output("x")

    @bloom
    def rules(self):
        self.result <= self.given{}
"""


@pytest.mark.parametrize(
    ("program", "code", "first"),
    [
        ("LocalCopy", 0, "CONSISTENT: LocalCopy (3 collections, 2 rules, 1 output)"),
        ("TablesJoined", 0, "CONSISTENT: TablesJoined (9 collections, 7 rules, 1 output)"),
        ("LocalCount", 3, "DEPENDS ON THE SEQUENCE OF STEPS: LocalCount (3 collections, 2 rules, 1 output)"),
        ("Absent", 1, "ORDER MATTERS: Absent (9 collections, 7 rules, 1 output)"),
        ("KVSProtocol", 1, "UNDERSPECIFIED: KVSProtocol (3 collections, 0 rules, 1 output)"),
    ],
)
def test_verdicts_and_exit_codes(program: str, code: int, first: str) -> None:
    done = clew("calm", f"{PROGRAMS}:{program}")
    assert (done.returncode, done.stderr) == (code, "")
    assert done.stdout.splitlines()[0] == first


def test_points_of_order_have_the_file_as_it_was_given() -> None:
    done = clew("calm", f"{PROGRAMS}:Absent")
    (place,) = (line for line in done.stdout.splitlines() if "notin guard2" in line)
    assert place.startswith(f"    {PROGRAMS}:")


def test_dedalus() -> None:
    done = clew("calm", "examples/simple-deliv.ded")
    assert done.returncode == 0
    assert "log: A, consistent without coordination" in done.stdout
    assert clew("calm", "examples/ack-deliv.ded").returncode == 1


def test_files_are_written(tmp_path: Path) -> None:
    svg, page, document = (tmp_path / name for name in ("flow.svg", "flow.html", "flow.json"))
    done = clew("calm", f"{PROGRAMS}:Absent", "--svg", str(svg), "--report", str(page), "--json", str(document))
    assert done.returncode == 1
    assert ElementTree.parse(svg).getroot().get("class") == "dataflow"
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert json.loads(document.read_text(encoding="utf-8"))["files"] == [f"{PROGRAMS}:Absent"]


def test_json_on_standard_output_is_nothing_else() -> None:
    done = clew("calm", f"{PROGRAMS}:LocalCopy", "--json", "-")
    assert json.loads(done.stdout)["consistent"] is True


def test_the_only_class_of_a_file_needs_no_name(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(TWO_LINES.format(""), encoding="utf-8")
    done = clew("calm", "program.py", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("CONSISTENT: Copy (2 collections, 1 rule, 1 output)\n")


def test_opaque_functions_are_named(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(TWO_LINES.format("(lambda g: (str(g.x),))"), encoding="utf-8")
    done = clew("calm", "program.py", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr.startswith("program.py:10:")
    assert "a function is not seen through" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message", "remedy"),
    [
        ([f"{PROGRAMS}:Nothing"], "defines no Bloom class 'Nothing'", "there are: "),
        ([PROGRAMS], "Bloom classes", "say which: "),
        (["missing.py"], "missing.py: no such file", "name a Python file"),
        (["missing.ded"], "missing.ded: no such file", "check the path"),
        (["tests/command.py"], "defines no Bloom class", "derive one"),
        ([PROGRAMS, "examples/kafka.ded"], "2 files are given", "give one Bloom program"),
        ([f"{PROGRAMS}:LocalCopy", "--svg", "-"], "--svg writes a file", "give a path"),
    ],
)
def test_mistakes_are_explained(arguments: list[str], message: str, remedy: str) -> None:
    done = clew("calm", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert f"remedy: {remedy}" in done.stderr


def test_output_does_not_depend_on_the_hash_seed() -> None:
    runs = [
        clew("calm", f"{PROGRAMS}:CompleteDestructiveCart", "--json", "-", PYTHONHASHSEED=seed).stdout
        for seed in ("1", "2")
    ]
    assert runs[0] == runs[1]
    assert runs[0]
