"""What a Python file seems to contain is told by its text: nothing is executed for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from clew.model_tests.python_look import Look, find_imported_names, look_at
from model_files import write

IMPORT = "from clew.simulation import Scenario\n"


@pytest.mark.parametrize(
    ("text", "look"),
    [
        ("", Look.NOTHING),
        ("raise SystemExit  # expect, Scenario\n", Look.NOTHING),
        (IMPORT, Look.NOTHING),
        (f"{IMPORT}s = Scenario(nodes={{}})\n", Look.MODELS),
        (f"{IMPORT}s = Scenario(nodes={{}}, expect='violation')\n", Look.EXPECTATIONS),
        (f"{IMPORT}s = make(expect='violation')\n", Look.EXPECTATIONS),
        (f"{IMPORT}HOW = {{'expect': 'violation'}}\n", Look.EXPECTATIONS),
        ("import clew.bloom as b\nclass A(b.Bloom):\n    setting = b.checked(nodes=['a'])\n", Look.MODELS),
        ("import clew\nclew.x(expect=1)\n", Look.EXPECTATIONS),
        ("import clewless\nclewless.x(expect=1)\n", Look.NOTHING),
        ("import pexpect\npexpect.spawn('x').sendline(expect='x')\n", Look.NOTHING),
        ("from helper import make\ns = make(expect='violation')\n", Look.EXPECTATIONS),
        ("from other import make\ns = make(expect='violation')\n", Look.NOTHING),
        (f"{IMPORT}s = Scenario(expect='violation'\n", Look.EXPECTATIONS),  # a typing error is told, later
        ("s = (expect='x'\n", Look.NOTHING),
        (f"{IMPORT}s = {'(' * 500}{')' * 500}, 'expect'\n", Look.NOTHING),
    ],
)
def test_looks(tmp_path: Path, text: str, look: Look) -> None:
    write(tmp_path, "helper.py", f"{IMPORT}raise SystemExit\n")
    write(tmp_path, "other.py", "raise SystemExit\n")
    assert look_at(str(write(tmp_path, "model.py", text))) is look


def test_bytes_that_are_no_python_are_nothing(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_bytes(b"\xff\xfe expect Scenario \0")
    assert look_at(str(path)) is Look.NOTHING


def test_names_of_others_are_told() -> None:
    source = b"import a\nfrom b import c, d as e\ndef f():\n    from g import h\n"
    assert find_imported_names(source) == {"c", "e"}
