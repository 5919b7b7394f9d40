"""``import clew``: what it offers, that ``help(clew)`` tells the truth, and that it costs little."""

from __future__ import annotations

import ast
import doctest
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import clew
from command import ROOT


def test_the_examples_of_the_docstring_are_true(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are run where what they write does no harm, with the examples beside them."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    found = doctest.DocTestFinder().find(clew, "clew", globs={})
    (examples,) = (test for test in found if test.name == "clew")
    failed, tried = doctest.DocTestRunner(optionflags=doctest.REPORT_NDIFF).run(examples)
    assert (failed, tried >= 15) == (0, True)
    assert (tmp_path / "report.html").exists()


def test_there_is_an_example_of_every_function() -> None:
    functions = {name for name in clew.__all__ if name.islower()} - {"parse_program", "write_recording"}
    assert clew.__doc__ is not None
    assert all(f"clew.{name}(" in clew.__doc__ for name in functions)
    assert {"calm", "blazes", "check", "run", "fuzz", "minimize", "explore", "replay"} <= functions


def test_every_public_name_is_there_once_for_readers_and_once_for_type_checkers() -> None:
    tree = ast.parse((ROOT / "src" / "clew" / "__init__.py").read_text(encoding="utf-8"))
    (guarded,) = (node for node in tree.body if isinstance(node, ast.If))
    typed = {
        (node.module, alias.name)
        for node in guarded.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert typed == {(home, name) for home, names in clew._HOMES.items() for name in names}
    assert sorted(name for _, name in typed) == sorted(clew.__all__)
    for name in clew.__all__:
        assert getattr(clew, name) is not None
    assert set(clew.__all__) <= set(dir(clew))


def test_the_name_of_a_node_is_not_called_like_the_class_of_simulated_nodes() -> None:
    assert clew.NodeName == str | int
    with pytest.raises(AttributeError, match="no attribute 'Node'"):
        clew.Node  # noqa: B018


def test_to_import_clew_imports_nothing_else_of_it() -> None:
    script = "import sys, clew; print(*sorted(m for m in sys.modules if m.startswith('clew.') or m == 'clingo'))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
