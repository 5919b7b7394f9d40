"""Documentation is run: every command in it, with the output it shows.

The commands of a page run in order in one scratch folder that has the examples, so that a command may read what an
earlier one wrote.  A line ``...`` stands for any number of lines that the page leaves out.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from command import ROOT, clew
from workers.cluster import start_cluster

#: Where pages say that the scheduler of a cluster is.
CLUSTER = "tcp://127.0.0.1:8786"
#: Libraries that the commands of a page need, and that there are not for every Python.
NEEDED = {"streams.md": "bytewax"}
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


@dataclass(frozen=True)
class Shown:
    """A command and the output that the page shows for it."""

    command: str
    output: str


def _shown(page: Path) -> list[Shown]:
    found = []
    for block in re.findall(r"```console\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found.append(Shown(command, output))
    return found


def _output(command: str, folder: Path) -> str:
    program, *arguments = shlex.split(command)
    if program == "cat":
        return "".join((folder / name).read_text(encoding="utf-8") for name in arguments)
    if program == "pytest":
        return _pytest_output(arguments, folder)
    assert program == "clew", "only clew commands, and the files that they write, are shown with their output"
    # A command that clew runs is one of this environment, as it is where a page is read.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    done = clew(*arguments, cwd=folder, seconds=300, PATH=path)
    assert done.returncode in (0, 1, 3), done.stderr
    return done.stdout


def _pytest_output(arguments: list[str], folder: Path) -> str:
    """Return what pytest prints, but how long it took, and the digits in the names of stored failures."""
    # In CI, pytest shows more; the terminal is as wide as that of a page.
    usual = {"CI": "", "BUILD_NUMBER": "", "COLUMNS": "80", "PY_COLORS": "0", "PYTEST_ADDOPTS": ""}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        env={**os.environ, **usual},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    text = re.sub(r"-[0-9a-f]{32}\.json", "-ID.json", done.stdout)
    return re.sub(r" in [\d.]+s( \([\d:]+\))?( =+)?$", " in TIME", text, flags=re.MULTILINE)


def _timeless(text: str) -> str:
    text = re.sub(r" in TIME =+$", " in TIME", text, flags=re.MULTILINE)
    return re.sub(r'"seconds": [\d.]+|\btime="[\d.]+"', "TIME", text).strip()


def _is_shown_by(output: str, shown: str) -> bool:
    pattern = "".join("(?:.*\n)*" if line == "..." else re.escape(line) + "\n" for line in shown.splitlines())
    return re.fullmatch(pattern, output + "\n") is not None


def test_a_page_may_leave_lines_out_and_change_none() -> None:
    assert _is_shown_by("a\nb\nc\nd", "a\n...\nd")
    assert _is_shown_by("a\nb\nc\nd", "a\n...")
    assert not _is_shown_by("a\nb\nc\nd", "a\n...\nc")
    assert not _is_shown_by("a\nb", "a\nc")
    assert not _is_shown_by("axb", "a.b")


@pytest.mark.parametrize("page", [page for page in PAGES if _shown(page)], ids=lambda page: page.name)
def test_commands_print_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    if page.name in NEEDED:
        pytest.importorskip(NEEDED[page.name], reason="there is no Bytewax for Python 3.13")
    # A copy, not a link: what a document names must really lie below the working directory.
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    # A block of Python that begins with the name of a file is that file.
    for name, content in re.findall(r"```python\n# (\w+\.py)\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
        (tmp_path / name).write_text(content, encoding="utf-8")
    with _cluster_of(page, tmp_path) as address:
        for shown in _shown(page):
            command = shown.command.replace(CLUSTER, address)
            output, expected = _timeless(_output(command, tmp_path)), _timeless(shown.output)
            # Compared as texts where nothing is left out: a difference is then shown line by line.
            assert output == expected or ("\n..." in expected and _is_shown_by(output, expected)), shown.command


@contextmanager
def _cluster_of(page: Path, folder: Path) -> Iterator[str]:
    """Start a cluster if a page has commands for one; give its address."""
    if not any(CLUSTER in shown.command for shown in _shown(page)):
        yield CLUSTER
        return
    with start_cluster(folder, 2) as cluster:
        yield cluster.address


def test_there_is_something_to_run() -> None:
    assert {page.name for page in PAGES if _shown(page)} >= {"README.md", "strategies.md", "json.md"}


def _printed_by(block: str, folder: Path) -> list[str]:
    """Return what a Python example of a page prints."""
    script = folder / "example.py"
    script.write_text(block, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)], cwd=ROOT, capture_output=True, text=True, timeout=300, check=True
    )
    return done.stdout.splitlines()


def test_the_python_example_of_the_readme(tmp_path: Path) -> None:
    block, _ = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert _printed_by(block, tmp_path)[0] == re.findall(r"faults\)\s+# (.*)", block)[0]


def test_the_first_python_example_of_the_guide_to_bloom(tmp_path: Path) -> None:
    block, *_ = re.findall(r"```python\n(.*?)```", (ROOT / "docs/bloom.md").read_text(encoding="utf-8"), re.DOTALL)
    assert _printed_by(block, tmp_path) == re.findall(r"row\.times\)\s+# (.*)", block)


def test_the_python_example_of_the_guide_to_simulation(tmp_path: Path) -> None:
    guide = (ROOT / "docs/simulation.md").read_text(encoding="utf-8")
    *_, block = re.findall(r"```python\n(.*?)```", guide, re.DOTALL)
    assert _printed_by(block, tmp_path) == re.findall(r"what\)\s+# (.*)", block)


def test_the_python_example_of_the_guide_to_code(tmp_path: Path) -> None:
    guide = (ROOT / "docs/code.md").read_text(encoding="utf-8")
    *_, block = re.findall(r"```python\n(.*?)```", guide, re.DOTALL)
    assert _printed_by(block, tmp_path) == re.findall(r"print\(.*\)\s+# (.*)", block)


def test_the_python_example_of_the_page_on_scale(tmp_path: Path) -> None:
    page = (ROOT / "docs/scale.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert _printed_by(block, tmp_path) == re.findall(r"print\(.*\)\s+# (.*)", block)


@pytest.mark.parametrize("name", ["broken", "traced"])
def test_the_python_examples_of_the_page_on_tracing(name: str, tmp_path: Path) -> None:
    page = (ROOT / "docs/tracing.md").read_text(encoding="utf-8")
    files = dict(re.findall(r"```python\n# (\w+)\.py\n(.*?)```", page, re.DOTALL))
    (tmp_path / "store.py").write_text(files["store"], encoding="utf-8")
    assert _printed_by(files[name], tmp_path) == re.findall(r"print\(.*\)\s+# (.*)", files[name])


def test_the_program_of_the_readme_is_broken_by_one_loss(tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"```dedalus\n(.*?)```", readme, re.DOTALL)
    (tmp_path / "broadcast.ded").write_text(program, encoding="utf-8")
    done = clew("check", "broadcast.ded", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "is lost" in done.stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_make_targets_that_are_shown_exist(page: Path) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^make (\w+)", page.read_text(encoding="utf-8"), re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_files_that_are_named_exist(page: Path) -> None:
    for name in re.findall(
        r"`((?:docs|examples|benchmarks|src|tests)/[\w./-]*)`", page.read_text(encoding="utf-8")
    ):
        assert (ROOT / name).exists(), name


def test_the_lock_of_the_language_page_breaks_without_any_fault(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "language.md").read_text(encoding="utf-8")
    (lock,) = (text for text in re.findall(r"```dedalus\n(.*?)```", page, re.DOTALL) if "never(X, Y)" in text)
    (tmp_path / "lock.ded").write_text(lock, encoding="utf-8")
    done = clew("check", "lock.ded", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "no fault is needed" in done.stdout


def test_the_inputs_and_the_choice_of_the_language_page_are_read(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "language.md").read_text(encoding="utf-8")
    texts = re.findall(r"```dedalus\n(.*?)```", page, re.DOTALL)
    declared, choosing = (text for text in texts if "input " in text or "choose(" in text)
    rules = (
        "read(C) :- timeout(C); replica(c, r); persist[replica]; kept(C, V)@next :- write(C, V); persist[kept];"
    )
    promise = "pre(C, V) :- kept(C, V); post(C, V) :- kept(C, V), notin get(_, C);"
    (tmp_path / "p.ded").write_text(f"{declared}{choosing}{rules}{promise}", encoding="utf-8")
    done = clew("check", "p.ded", "--eot", "5", "--eff", "0", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("COUNTEREXAMPLE: 2 inputs and no fault, within EOT 5")
