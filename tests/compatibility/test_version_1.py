"""Documents that an earlier version wrote are still read, with the same results.

``version_1`` has verdicts and recordings as commit 52467ee wrote them, the programs and scenarios they are of, and
what ``clew replay`` of that commit said about them.  Nothing in it may be edited or formatted: recordings have
digests of their scenarios.  The JSON of ``clew calm`` and ``clew blazes`` is not there: no command reads it back.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from clew.simulation.recordings.reading import open_recording
from clew.simulation.recordings.recording import write_recording
from command import clew

DOCUMENTS = Path(__file__).parent / "version_1"


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    """A copy, so that nothing is written beside the originals."""
    return Path(shutil.copytree(DOCUMENTS, tmp_path / "documents"))


def count_steps(file: Path) -> Counter[str]:
    """Count what is done, by what it is: the first word of a step."""
    steps: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))["steps"]
    return Counter(next(iter(step)) for step in steps)


def test_the_documents_are_of_the_first_version() -> None:
    versions = {json.loads(file.read_text(encoding="utf-8"))["version"] for file in DOCUMENTS.glob("*.json")}
    assert versions == {1}


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("counterexample", 1),
        ("every", 1),
        ("sweep-counterexample", 1),
        ("certificate", 2),
        ("sweep-certificate", 2),
        ("incomplete", 2),
        ("tokens", 1),
        ("tokens-minimized", 1),
    ],
)
def test_a_replay_says_what_it_said(documents: Path, name: str, code: int) -> None:
    replayed = clew("replay", f"{name}.json", cwd=documents)
    said = (documents / f"{name}.replay.txt").read_text(encoding="utf-8")
    # That a violation lasts was not said then.
    says = [line for line in replayed.stdout.splitlines(keepends=True) if not line.startswith("  lasts: ")]
    assert (replayed.returncode, "".join(says) + replayed.stderr) == (code, said)


def test_a_replay_step_by_step_shows_what_it_showed(documents: Path) -> None:
    """Then messages were called by their type; now by their fingerprint, which has a number."""
    replayed = clew("replay", "tokens-minimized.json", "--step", cwd=documents)
    says, numbers = re.subn(r"(?m)^( *\d+\. (?:send|deliver) Token) \d+ ", r"\1 ", replayed.stdout)
    assert numbers == 13
    assert says == (documents / "tokens-minimized.step.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["fragile", "explored"])
def test_an_exception_is_raised_again(documents: Path, name: str) -> None:
    """Only the traceback, which shows lines of Clew, is not what it was."""
    replayed = clew("replay", f"{name}.json", cwd=documents)
    assert replayed.returncode == 1
    assert "STILL FAILS: no uncaught exception at a" in replayed.stdout
    assert "All 3 events did what was recorded." in replayed.stdout


def test_a_recording_is_minimized_as_far_as_it_was(documents: Path) -> None:
    """Not to the same events: which of several smallest executions is found has changed since."""
    minimized = clew("minimize", "tokens.json", "-o", "now.json", "--report", "now.html", cwd=documents)
    assert minimized.returncode == 0, minimized.stderr
    assert count_steps(documents / "now.json") == count_steps(documents / "tokens-minimized.json")
    assert count_steps(documents / "now.json") == {"start": 2, "send": 4, "deliver": 9}
    assert "few" in (documents / "now.html").read_text(encoding="utf-8")
    # What is written is of today's version, and complete.
    assert json.loads((documents / "now.json").read_text(encoding="utf-8"))["version"] == 4
    assert clew("replay", "now.json", cwd=documents).returncode == 1


def test_recordings_are_written_as_they_were_read(documents: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(documents)
    for name in ("tokens", "tokens-minimized", "fragile", "explored"):
        opened = open_recording(f"{name}.json")
        assert opened.same_code
        assert write_recording(opened.recording) == (documents / f"{name}.json").read_text(encoding="utf-8")
    sys.modules.pop("messages")  # the scenario's own, which another test in this process may want from elsewhere


def test_what_is_recorded_is_compared(documents: Path) -> None:
    """A digest of an attribute that another value had."""
    file = documents / "tokens-minimized.json"
    file.write_text(file.read_text(encoding="utf-8").replace('"1ae359"', '"1ae358"'), encoding="utf-8")
    replayed = clew("replay", file.name, cwd=documents)
    assert replayed.returncode == 2
    assert "event 4 at b" in replayed.stderr and "the state differs in tokens" in replayed.stderr


@pytest.mark.parametrize("changed", ["tokens.py", "messages.py"])
def test_other_code_is_refused_before_it_is_executed(documents: Path, changed: str) -> None:
    """Also where it is in a module: this version does not list them, and they are found in the text."""
    with (documents / changed).open("a", encoding="utf-8") as file:
        file.write("\nprint('executed')\n")
    refused = clew("replay", "tokens.json", cwd=documents)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "this is a recording of other code: tokens.py has changed since" in refused.stderr
    tried = clew("replay", "tokens.json", "--changed-code", cwd=documents)
    assert tried.returncode == 1 and tried.stdout.startswith("executed\n")


def test_code_that_is_not_python_is_other_code(documents: Path) -> None:
    (documents / "tokens.py").write_text("def (:\n", encoding="utf-8")
    refused = clew("replay", "tokens.json", cwd=documents)
    assert refused.returncode == 2
    assert "this is a recording of other code" in refused.stderr


def test_modules_of_packages_are_found(documents: Path) -> None:
    """A package of the scenario's folder, and relative imports in it, count as code."""
    package = documents / "package"
    package.mkdir()
    (package / "__init__.py").write_text("from .inner import LIMIT\n", encoding="utf-8")
    (package / "inner.py").write_text("LIMIT = 1\n", encoding="utf-8")
    scenario = documents / "fragile.py"
    scenario.write_text("import package\n" + scenario.read_text(encoding="utf-8"), encoding="utf-8")
    recorded = clew("fuzz", "fragile.py", "-o", "now.json", cwd=documents)
    assert recorded.returncode == 1
    document = json.loads((documents / "now.json").read_text(encoding="utf-8"))
    assert document["files"] == ["fragile.py", "package/__init__.py", "package/inner.py"]
    # The same execution, as the second version would have written it: without the list.
    del document["files"], document["digests"]
    (documents / "second.json").write_text(json.dumps({**document, "version": 2}), encoding="utf-8")
    assert clew("replay", "second.json", cwd=documents).returncode == 1
    (package / "inner.py").write_text("LIMIT = 2\n", encoding="utf-8")
    assert clew("replay", "second.json", cwd=documents).returncode == 2
