"""Scenario files: what can be wrong with them, and what of them is known."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from clew.errors import UsageError
from clew.simulation import Node, Scenario
from clew.simulation.loading import as_loaded, load_scenario
from scenario_files import CALM, TOKENS, scenario_file


@pytest.mark.parametrize(
    ("text", "name", "says", "line"),
    [
        ("x = 1\n", "", "defines no Scenario", None),
        (CALM + "other = scenario\n", "", "defines 2 scenarios", None),
        (CALM, "missing", "defines no scenario 'missing'", None),
        ("\nraise RuntimeError('boom')\n", "", "the scenario cannot be imported: RuntimeError: boom", 2),
        ("import sys\nsys.exit(0)\n", "", "the scenario cannot be imported: SystemExit: 0", 2),
        ("x = = 1\n", "", "not Python: invalid syntax", 1),
        ("import no_such_module_at_all\n", "", "No module named 'no_such_module_at_all'", 1),
        ("from clew.simulation import *\ns = Scenario(nodes={})\n", "", "the scenario has no node", None),
        ("def f(: pass\n", "", "not Python", 1),
        ("\0", "", "null bytes", None),
    ],
)
def test_files_that_are_refused(text: str, name: str, says: str, line: int | None, tmp_path: Path) -> None:
    file = scenario_file(tmp_path, text)
    with pytest.raises(UsageError) as caught:
        load_scenario(f"{file}:{name}" if name else file)
    assert says in caught.value.message and caught.value.remedy
    assert (caught.value.position and caught.value.position.line) == line


def test_the_line_to_blame_may_be_in_another_file(tmp_path: Path) -> None:
    scenario_file(tmp_path, "def f():\n    return 1 / 0\n", "helper_of_a_test.py")
    with pytest.raises(UsageError) as caught:
        load_scenario(scenario_file(tmp_path, "from helper_of_a_test import f\nf()\n"))
    position = caught.value.position
    assert position is not None
    assert (Path(position.file).name, position.line) == ("helper_of_a_test.py", 2)


@pytest.mark.parametrize("where", ["missing.py", "missing.py:name", "", "no:thing"])
def test_no_such_file(where: str) -> None:
    with pytest.raises(UsageError, match="no such file"):
        load_scenario(where)


def test_a_folder_is_no_file() -> None:
    with pytest.raises(UsageError, match=r"\.: not a regular file"):
        load_scenario(".")


def test_several_scenarios_are_listed(tmp_path: Path) -> None:
    file = scenario_file(tmp_path, CALM + "other = scenario\n")
    with pytest.raises(UsageError) as caught:
        load_scenario(file)
    assert caught.value.remedy == f"say which: {file}:scenario, {file}:other"
    assert load_scenario(f"{file}:other").name == "other"


def test_what_is_known_of_a_scenario(tmp_path: Path) -> None:
    scenario_file(tmp_path, "LIMIT = 3\n", "limits_of_a_test.py")
    text = TOKENS.replace("LIMIT = 40\n", "from limits_of_a_test import LIMIT\nimport limits_of_a_test\n")
    file = scenario_file(tmp_path, text)
    loaded = load_scenario(file)
    assert (loaded.file, loaded.name) == (file, "scenario")
    assert {"Token", "Hello", "Colour"} <= set(loaded.types)
    assert [Path(module).name for module in loaded.modules] == ["limits_of_a_test.py", "s.py"]
    assert load_scenario(file).scenario is loaded.scenario
    assert len(loaded.code) == 64
    scenario_file(tmp_path, "LIMIT = 4\n", "limits_of_a_test.py")
    assert load_scenario(file).code != loaded.code


def test_classes_inside_classes_are_known(tmp_path: Path) -> None:
    inner = """\


@dataclass(frozen=True)
class Outer:
    class Inner:
        @dataclass(frozen=True)
        class Message:
            number: int

    alias = Inner
    node = Node
"""
    types = load_scenario(scenario_file(tmp_path, "from dataclasses import dataclass\n" + CALM + inner)).types
    assert sorted(name for name in types if name.startswith("Outer")) == ["Outer", "Outer.Inner.Message"]


def test_a_scenario_that_was_made_in_python() -> None:
    loaded = as_loaded(Scenario(nodes={"a": Node}))
    assert (loaded.file, loaded.name, len(loaded.code)) == ("", "", 64)
    assert as_loaded(loaded) is loaded


def test_code_behind_a_partial_is_the_code_that_counts() -> None:
    plain, bound = (as_loaded(Scenario(nodes={"a": maker})) for maker in (Node, partial(Node)))
    assert (bound.modules, bound.code) == (plain.modules, plain.code)


def test_a_file_that_changed_is_loaded_again(tmp_path: Path) -> None:
    for steps in (11, 22, 33):
        text = CALM.replace("before=[", f"steps={steps}, before=[")
        assert load_scenario(scenario_file(tmp_path, text)).scenario.steps == steps
