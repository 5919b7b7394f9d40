"""``clew history`` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from command import ROOT, clew

STALE = "examples/histories/stale-read.jsonl"
GOOD = "examples/histories/register.jsonl"
BANK = "examples/histories/bank.edn"


@pytest.mark.parametrize(
    ("arguments", "code", "first"),
    [
        (
            (GOOD,),
            0,
            "LINEARIZABLE: 10 operations of 4 clients, as a register; 1 failed; 1 may have happened or not.",
        ),
        ((STALE,), 1, "NOT LINEARIZABLE: 5 operations of 3 clients, as a register."),
        ((GOOD, "--states", "1"), 3, "UNKNOWN: 10 operations of 4 clients, as a register; 1 failed; 1 may have"),
        ((BANK, "--model", "serializable"), 1, "NOT SERIALIZABLE: 4 transactions of 2 clients."),
    ],
)
def test_answers_and_exit_codes(arguments: tuple[str, ...], code: int, first: str) -> None:
    done = clew("history", *arguments)
    assert (done.returncode, done.stderr) == (code, "")
    assert done.stdout.startswith(first)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("none.jsonl",), "error: none.jsonl: no such file"),
        ((STALE, "--model", "regster"), "remedy: did you mean 'register'?"),
        ((STALE, "--model", "queue"), f"{STALE}:1:1: error: the model queue has no function 'write'"),
        ((STALE, "--states", "0"), "error: states is 0"),
        ((STALE, "--keyed"), "error: expected a pair of a key and a value, found 1"),
        ((STALE, "--model", "serializable"), "error: expected 'txn' as 'f', found 'write'"),
        ((STALE, "--model", "none.py"), "error: none.py: no such file"),
    ],
)
def test_bad_usage(arguments: tuple[str, ...], message: str) -> None:
    done = clew("history", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_files_are_written_and_are_the_same_bytes_whatever_hashes_are(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("h.json", "h.xml", "h.html")]
    written = []
    for hashed in ("1", "2"):
        arguments = ("--json", str(files[0]), "--junit", str(files[1]), "--report", str(files[2]))
        done = clew("history", BANK, "--model", "strict-serializable", *arguments, PYTHONHASHSEED=hashed)
        assert done.returncode == 1
        written.append([done.stdout, *(file.read_text(encoding="utf-8") for file in files)])
    assert written[0] == written[1]
    document = json.loads(written[0][1])
    assert [anomaly["name"] for anomaly in document["anomalies"]] == ["G2-item"]
    assert document["orders"] == ["what was read", "process", "realtime"]
    (suite,) = ElementTree.fromstring(written[0][2])
    assert suite.attrib["failures"] == "1"
    assert "T1 read :ann as [], without 1, which T2 appended" in written[0][3]


def test_a_model_of_a_user_that_fails_is_blamed(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(
        "class Odd:\n    initial = 0\n    def step(self, state, op):\n        return 1 / 0\n", encoding="utf-8"
    )
    (tmp_path / "h.jsonl").write_text('{"process": 0, "f": "go", "start": 0, "end": 1}\n', encoding="utf-8")
    done = clew("history", "h.jsonl", "--model", "model.py:Odd", cwd=tmp_path)
    assert done.returncode == 2
    assert "step of the model Odd raised ZeroDivisionError: division by zero" in done.stderr


MODEL = """
import os, sys

class Odd:
    initial = ()
    functions = ("push", "pop")

    def step(self, state, op):
        return [state]

class Raising(Odd):
    def __init__(self):
        raise ValueError("odd")

class State(tuple):
    def __hash__(self):
        raise ValueError("odd")

class Unhashable(Odd):
    initial = State()

class Generator(Odd):
    def step(self, state, op):
        raise GeneratorExit

class Numbered(Odd):
    functions = 7

class Leaving(Odd):
    def __init__(self):
        os.chdir("/")

class Large(Odd):
    def step(self, state, op):
        return [bytes(1 << 45)]

class Deep(Odd):
    def step(self, state, op):
        return self.step(state, op)
"""


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("Raising", "error: your code raised ValueError: odd, in __init__ at m.py:13\n"),
        ("Unhashable", "error: your code raised ValueError: odd, in __hash__ at m.py:17\n"),
        ("Generator", "error: your code raised GeneratorExit, in step at m.py:24\n"),
        ("Numbered", "error: functions of the model Numbered is int\n"),
    ],
)
def test_mistakes_of_a_model_are_none_of_clew(name: str, error: str, tmp_path: Path) -> None:
    """They ended with 4, and asked to be reported."""
    (tmp_path / "m.py").write_text(MODEL)
    (tmp_path / "h.jsonl").write_text((ROOT / "examples/histories/stack.jsonl").read_text())
    done = clew("history", "h.jsonl", "--model", f"m.py:{name}", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(error) and "\n  remedy: " in done.stderr


@pytest.mark.parametrize(
    ("name", "limit"), [("Large", "memory ran out"), ("Deep", "the work is nested too deeply for Python's stack")]
)
def test_memory_or_stack_that_a_model_does_not_get_is_incomplete(name: str, limit: str, tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(MODEL)
    (tmp_path / "h.jsonl").write_text((ROOT / "examples/histories/stack.jsonl").read_text())
    done = clew("history", "h.jsonl", "--model", f"m.py:{name}", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (3, "")
    assert f"\n  {limit}, in step of the model {name}, for push in []\n" in done.stdout


def test_a_model_that_goes_elsewhere_takes_no_file_with_it(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(MODEL)
    (tmp_path / "h.jsonl").write_text((ROOT / "examples/histories/stack.jsonl").read_text())
    done = clew("history", "h.jsonl", "--model", "m.py:Leaving", "--json", "o.json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads((tmp_path / "o.json").read_text())["model"] == "Leaving"
