"""``clew blazes FILE.py:flow``: dataflows of Bytewax, as a user names them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("bytewax", reason="there is no Bytewax for Python 3.13")

from command import ROOT, clew

WORD_COUNT = "examples/bytewax/wordcount.py"
FLOWS = """
import os

import bytewax.operators as op
from bytewax.dataflow import Dataflow
from bytewax.testing import TestingSink, TestingSource

import clew
from clew.bloom import Bloom

@clew.annotate("OW", ["word"])
def count(state, word):
    return (state or 0) + 1, (state or 0) + 1

def spell(word):
    return word

def make(seal=None, step=count):
    flow = Dataflow("flow")
    source = clew.annotate_source(seal=seal, attributes=["word", "text"])(TestingSource([]))
    words = op.input("words", flow, source)
    op.output("out", op.stateful_map("count", words, step), clew.annotate("CW")(TestingSink([])))
    return flow

sealed = make("word")
unsealed = make()

def unsaid():
    return make(step=spell)

def needs(number):
    return make()

def other():
    return 1

def fails():
    raise ValueError("no words")

def refuses():
    return clew.annotate("XY")

def ends():
    os._exit(0)

number = 1

class Shop(Bloom):
    pass
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "f.py").write_text(FLOWS, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "code", "label"), [("sealed", 0, "Async"), ("unsealed", 1, "Run"), ("make", 1, "Run")]
)
def test_a_dataflow_or_a_function_that_makes_one(folder: Path, name: str, code: int, label: str) -> None:
    done = clew("blazes", f"f.py:{name}", "--json", "-", cwd=folder)
    assert (done.returncode, done.stderr) == (code, "")
    document = json.loads(done.stdout)
    assert (document["file"], document["worst"]) == (f"f.py:{name}", label)
    assert [sink["stream"] for sink in document["sinks"]] == ["out"]


def test_the_only_dataflow_needs_no_name(folder: Path) -> None:
    (folder / "g.py").write_text("from f import sealed\n", encoding="utf-8")
    assert clew("blazes", "g.py", cwd=folder).returncode == 0


def test_what_if_a_stream_was_sealed(folder: Path) -> None:
    assert clew("blazes", "f.py:unsealed", "--seal", "words=word", cwd=folder).returncode == 0
    assert clew("blazes", "f.py:unsealed", "--seal", "words=text", cwd=folder).returncode == 1


@pytest.mark.parametrize(
    ("name", "message", "remedy"),
    [
        (
            ":unsaid",
            "f.py:15:1: error: the step 'count' (stateful_map) has no annotation\n    def spell(word):\n",
            'write @clew.annotate("CR") above spell if order makes no difference and nothing is stored',
        ),
        (":needs", "error: f.py: needs needs number", "name a function that needs no arguments"),
        (":other", "error: f.py: other() returns int, which is no Bytewax dataflow", "name a Dataflow"),
        (
            ":fails",
            "f.py:38:1: error: fails() has failed: ValueError: no words",
            "it must return a Bytewax dataflow",
        ),
        (":refuses", "f.py:41:1: error: the label 'XY' is unknown", "write one of C, CR, CW, OR, OW, OR*, OW*"),
        (":ends", "error: the process ended by itself (exit code 0)", ""),
        (":number", "error: f.py: makes no dataflow 'number'", "there are: f.py:sealed, f.py:unsealed"),
        (":nothing", "error: f.py: defines no Bloom class 'nothing'", "there are: f.py:Shop"),
    ],
)
def test_what_is_refused(folder: Path, name: str, message: str, remedy: str) -> None:
    done = clew("blazes", f"f.py{name}", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(message)
    assert remedy in done.stderr


@pytest.mark.parametrize(
    ("text", "message", "remedy"),
    [
        ("from f import sealed, unsealed\n", "error: g.py: makes 2 dataflows", "g.py:sealed, g.py:unsealed"),
        ("from bytewax.dataflow import Dataflow\n", "error: g.py: makes no dataflows", "g.py:FUNCTION"),
        ("def flow():\n    print('called')\n", "error: g.py: defines no Bloom class\n", "derive one"),
    ],
)
def test_what_has_not_one_dataflow(folder: Path, text: str, message: str, remedy: str) -> None:
    (folder / "g.py").write_text(text, encoding="utf-8")
    done = clew("blazes", "g.py", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(message)
    assert remedy in done.stderr


def test_a_function_of_a_file_without_bytewax_is_not_called(folder: Path) -> None:
    (folder / "g.py").write_text("def flow():\n    print('called')\n", encoding="utf-8")
    done = clew("blazes", "g.py:flow", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: g.py: defines no Bloom class 'flow'")


def test_bloom_classes_beside_dataflows_are_found(folder: Path) -> None:
    done = clew("blazes", "f.py:Shop", cwd=folder)
    assert done.returncode == 2
    assert "Shop has no path from an input to an output" in done.stderr


def test_without_bytewax_the_extra_is_named(folder: Path) -> None:
    (folder / "bytewax.py").write_text(
        "raise ModuleNotFoundError(\"No module named 'bytewax'\", name='bytewax')", encoding="utf-8"
    )
    done = clew("blazes", "f.py:sealed", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert "remedy: pip install clew[bytewax]\n" in done.stderr


@pytest.mark.parametrize(("options", "message"), [
    (["--variant", "count=A"], "--variant is for the variants of a dataflow file"),
    (["--synthesize", "seal"], "--synthesize is for Bloom programs"),
    (["--seal", "tweet=batch"], "--seal: there is no stream 'tweet'"),
])  # fmt: skip
def test_options_that_do_not_fit(options: list[str], message: str) -> None:
    done = clew("blazes", f"{WORD_COUNT}:unsealed", *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


@pytest.mark.parametrize("version", ["unsealed", "sealed", "ordered"])
def test_the_file_that_is_written_gets_the_same_verdict(tmp_path: Path, version: str) -> None:
    program = str(ROOT / WORD_COUNT)
    first = clew("blazes", f"{program}:{version}", "--emit-yaml", "flow.yaml", cwd=tmp_path)
    again = clew("blazes", "flow.yaml", cwd=tmp_path)
    assert (first.returncode, first.stderr) == (again.returncode, again.stderr) == (int(version == "unsealed"), "")
    assert first.stdout.splitlines()[1:] == again.stdout.splitlines()[1:]
    assert (tmp_path / "flow.yaml").read_text("utf-8").startswith(f"# Extracted from {program}:{version}.\n")


def test_pages_and_pictures(tmp_path: Path) -> None:
    program = str(ROOT / WORD_COUNT)
    done = clew(
        "blazes", f"{program}:unsealed", "--report", "r.html", "--svg", "p.svg", "--junit", "j.xml", cwd=tmp_path
    )
    assert done.returncode == 1
    assert "splitter" in (tmp_path / "r.html").read_text("utf-8")
    assert "seal on batch" in (tmp_path / "p.svg").read_text("utf-8")
    assert 'failures="1"' in (tmp_path / "j.xml").read_text("utf-8")


@pytest.mark.parametrize("output", [[], ["--emit-yaml", "-"], ["--json", "-"]])
def test_output_does_not_depend_on_the_hash_seed(output: list[str]) -> None:
    first, second = (clew("blazes", f"{WORD_COUNT}:ordered", *output, PYTHONHASHSEED=seed).stdout for seed in "12")
    assert first == second
    assert first
