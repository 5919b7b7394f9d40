"""``--json``, ``--junit`` and ``--report``: the same options, and the same care, wherever there is an answer."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest

from cli.in_process import run_clew
from command import ROOT, clew
from scenario_files import CRASH, scenario_file

SCHEMA = json.loads((ROOT / "docs" / "results.schema.json").read_text(encoding="utf-8"))

#: Two nodes, one message, which may be lost.
ONCE = "//! nodes=a,b eot=3 eff=2 crashes=0\nwant(a, b); got(Y)@async :- want(X, Y); got(X)@next :- got(X);\n"
WORDS = ROOT / "examples" / "blazes" / "word-count.yaml"

DEADLY = """\
import os
from clew.simulation import *

class Deadly(Node):
    def on_message(self, ctx, sender, message):
        os._exit(7)

scenario = Scenario(nodes={"a": Deadly}, running=["a"], before=[Send("a", "now")])
"""


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program, a scenario, a dataflow, a verdict and a recording."""
    folder = tmp_path_factory.mktemp("outputs")
    (folder / "p.ded").write_text(ONCE, encoding="utf-8")
    (folder / "t.ded").write_text(ONCE.replace("crashes=0", "expect=certified"), encoding="utf-8")
    (folder / "w.yaml").write_text(WORDS.read_text(encoding="utf-8"), encoding="utf-8")
    scenario_file(folder, CRASH)
    assert clew("check", "p.ded", "--json", "verdict.json", cwd=folder).returncode == 1
    assert clew("fuzz", "s.py", "-o", "rec.json", cwd=folder).returncode == 1
    return folder


@pytest.fixture
def folder(prepared: Path, tmp_path: Path) -> Path:
    shutil.copytree(prepared, tmp_path, dirs_exist_ok=True)
    return tmp_path


#: The commands by what their documents call themselves, with their exit codes.
COMMANDS = {
    "clew verdict": (("check", "p.ded"), 1),
    "clew run": (("run", "p.ded", "--lose", "a,b,1"), 1),
    "clew fuzz": (("fuzz", "s.py"), 1),
    "clew explore": (("explore", "s.py"), 1),
    "clew minimize": (("minimize", "rec.json"), 0),
    "clew replay": (("replay", "rec.json"), 1),
    "clew replayed verdict": (("replay", "verdict.json"), 1),
    "clew calm": (("calm", "p.ded"), 0),
    "clew blazes": (("blazes", "w.yaml"), 1),
    "clew test": (("test", "t.ded"), 1),
}


@pytest.mark.parametrize("kind", COMMANDS)
def test_all_three_beside_the_text(kind: str, folder: Path) -> None:
    command, code = COMMANDS[kind]
    plain = clew(*command, cwd=folder)
    files = ("--json", "out.json", "--junit", "out.xml", "--report", "out.html")
    done = clew(*command, *files, cwd=folder)
    assert (plain.returncode, done.returncode) == (code, code)
    assert done.stdout == plain.stdout
    assert done.stderr == plain.stderr + "the report is in out.html\n"
    document = json.loads((folder / "out.json").read_text(encoding="utf-8"))
    assert document["format"] == kind
    if "exit_code" in document:
        jsonschema.Draft202012Validator(SCHEMA).validate(document)
        assert document["exit_code"] == code
    suite = ElementTree.parse(folder / "out.xml").getroot()[0]
    assert (suite.attrib["failures"] != "0") == (code == 1)
    assert (folder / "out.html").read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize("kind", COMMANDS)
def test_json_on_standard_output_is_alone_there(kind: str, folder: Path) -> None:
    command, code = COMMANDS[kind]
    done = clew(*command, "--json", "-", cwd=folder)
    assert done.returncode == code
    assert json.loads(done.stdout)["format"] == kind
    again = clew(*command, "--json", "-", cwd=folder, PYTHONHASHSEED="1")
    shown = [[line for line in d.stdout.splitlines() if '"seconds"' not in line] for d in (done, again)]
    assert shown[0] == shown[1]


GOOD = ("no violation", "all explored")

#: Its handlers say more than a pipe holds, to both.
NOISY = """\
import sys
from clew.simulation import *

class Noisy(Node):
    def on_message(self, ctx, sender, message):
        for number in range(200):
            print("out", number, "." * 600)
            print("err", number, "." * 600, file=sys.stderr)

scenario = Scenario(nodes={"a": Noisy}, running=["a"], before=[Send("a", "now")])
"""


@pytest.mark.parametrize(
    "command", [("fuzz", "n.py", "--runs", "3"), ("explore", "n.py")], ids=["fuzz", "explore"]
)
def test_what_your_code_prints_is_not_in_the_json(command: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "n.py").write_text(NOISY, encoding="utf-8")
    done = clew(*command, "--json", "-", cwd=tmp_path)
    assert (done.returncode, json.loads(done.stdout)["verdict"] in GOOD) == (0, True)
    assert "out 199" in done.stderr and "err 199" in done.stderr


@pytest.mark.parametrize("command", ["fuzz n.py --runs 3", "explore n.py"])
@pytest.mark.parametrize(
    ("where", "code"),
    [("| head -1", 0), ("> /dev/full", 4), ("2> /dev/full", 0), ("2>&1 >/dev/full | head -1", 4), (">&- 2>&-", 0)],
)
def test_what_your_code_prints_to_nobody_is_no_violation(
    command: str, where: str, code: int, tmp_path: Path
) -> None:
    (tmp_path / "n.py").write_text(NOISY, encoding="utf-8")
    script = f"{{ {sys.executable} -m clew {command} --json j.json; echo $? > code; }} {where}"
    subprocess.run(["sh", "-c", script], cwd=tmp_path, capture_output=True, timeout=60, check=False)
    assert int((tmp_path / "code").read_text(encoding="utf-8")) == code
    assert json.loads((tmp_path / "j.json").read_text(encoding="utf-8"))["verdict"] in GOOD


@pytest.mark.parametrize("kind", COMMANDS)
@pytest.mark.parametrize("flag", ["--json", "--junit", "--report"])
def test_a_path_that_cannot_be_written_is_refused_before_anything_is_done(
    kind: str, flag: str, folder: Path
) -> None:
    command, _ = COMMANDS[kind]
    done = run_clew(folder, (*command, flag, "nowhere/out"))
    assert (done.code, done.out) == (2, "")
    assert "nowhere/out cannot be written (No such file or directory)" in done.err
    if flag != "--json":
        done = run_clew(folder, (*command, flag, "-"))
        assert (done.code, done.out) == (2, "")
        assert f"{flag} writes a file, not standard output" in done.err


def test_a_run_that_ends_its_process_is_in_all_of_them(tmp_path: Path) -> None:
    scenario_file(tmp_path, DEADLY)
    files = ("--json", "out.json", "--junit", "out.xml", "--report", "out.html")
    done = clew("fuzz", "s.py", "-o", "rec.json", *files, cwd=tmp_path)
    assert done.returncode == 1
    document = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    assert (document["verdict"], document["coverage"]) == ("violation", None)
    assert document["violation"]["invariant"] == "the process goes on"
    assert "ended by itself (exit code 7)" in document["violation"]["what"]
    assert "ended by itself (exit code 7)" in (tmp_path / "out.xml").read_text(encoding="utf-8")
    assert "clew replay rec.json" in (tmp_path / "out.html").read_text(encoding="utf-8")
    again = clew("replay", "rec.json", "--json", "-", cwd=tmp_path)
    assert again.returncode == 1
    document = json.loads(again.stdout)
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    assert (document["exit_code"], document["violation"]["invariant"]) == (1, "the process goes on")


def test_a_proof_that_is_accepted_and_one_that_is_refused(tmp_path: Path) -> None:
    certified = "examples/redun-deliv.ded"
    proof = str(tmp_path / "proof.zip")
    assert clew("check", certified, "--proof", proof).returncode == 0
    done = clew("verify", proof, "--program", certified, "--json", "-")
    accepted = json.loads(done.stdout)
    jsonschema.Draft202012Validator(SCHEMA).validate(accepted)
    assert (done.returncode, accepted["verdict"], accepted["exit_code"]) == (0, "accepted", 0)
    assert accepted["spec"]["eot"] == 11
    file = tmp_path / "answer.json"
    done = clew("verify", proof, "--program", "examples/simple-deliv.ded", "--json", str(file))
    assert done.stdout.startswith("REFUSED: ")
    refused = json.loads(file.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(SCHEMA).validate(refused)
    assert (done.returncode, refused["verdict"], refused["exit_code"]) == (1, "refused", 1)
    assert refused["reason"]
    assert clew("verify", proof, "--json", "nowhere/out").returncode == 2
