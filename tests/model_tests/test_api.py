"""Tests of models from Python: what is found, checked, compared and passed over."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import clew
from clew.errors import BudgetExhaustedError, UsageError
from clew.expectation import Expectation
from clew.faults import FailureSpec
from clew.model_tests.model import Kind, ModelOutcome, Status
from clew.report.model_tests.words import bounds_words, show_command
from command import ROOT
from model_files import BLOOM, CHECKED, LOSSY, SAFE, SCENARIO, write, write_model

SCHEMA = json.loads((ROOT / "docs" / "results.schema.json").read_text(encoding="utf-8"))
ONE = "expect=counterexample faults=1"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def outcomes(*paths: str, **how: Any) -> dict[str, ModelOutcome]:
    tests = clew.check_models(paths or ".", workers=2, **how)
    return {outcome.model.name: outcome for outcome in tests.outcomes}


def test_all_kinds_of_models_are_tested(folder: Path) -> None:
    write_model(folder, "lossy.ded", LOSSY, ONE)
    write_model(folder, "safe.ded", SAFE, "expect=certified")
    write(folder, "sends.py", BLOOM.format(setting='eff=2, expect="counterexample", faults=1, '))
    write(
        folder,
        "counts.py",
        f"{SCENARIO}good = scenario(1, expect='no violation')\nbad = scenario(2, expect='violation')\n",
    )
    tests = clew.check_models(folder)
    assert (tests.answer.value, tests.exit_code, tests.reason, tests.notices) == ("as expected", 0, None, ())
    told = [(Path(o.model.name).name, o.model.kind, o.answer, o.faults, o.runs) for o in tests.outcomes]
    assert told == [
        ("counts.py:good", Kind.SCENARIO, "no violation", None, 3),
        ("counts.py:bad", Kind.SCENARIO, "violation", None, 1),
        ("lossy.ded", Kind.DEDALUS, "counterexample", 1, None),
        ("safe.ded", Kind.DEDALUS, "certified", None, None),
        ("sends.py:Sends", Kind.BLOOM, "counterexample", 1, None),
    ]


def test_differences_decide(folder: Path) -> None:
    write_model(folder, "fine.ded", LOSSY, ONE)
    write_model(folder, "more.ded", LOSSY, "expect=counterexample faults=2")
    write_model(folder, "safe.ded", SAFE, "expect=counterexample")
    write(folder, "counts.py", f"{SCENARIO}good = scenario(1, expect='violation')\n")
    tests = clew.check_models(".")
    assert (tests.answer.value, tests.exit_code) == ("differs", 1)
    assert tests.reason == "3 of 4 models are not as expected"
    assert [o.model.name for o in tests.of_status(Status.DIFFERS)] == ["counts.py:good", "more.ded", "safe.ded"]


def test_an_expectation_of_no_answer_can_be_met(folder: Path) -> None:
    rules = "pre(X) :- never(X);\npost(X) :- n(X);\nnever(X) :- n(X), notin n(X);\n"
    write(folder, "hollow.ded", f'//! eot=3 expect=incomplete\nn("a")@1;\n{rules}')
    (outcome,) = outcomes().values()
    assert (outcome.status, outcome.answer) == (Status.AS_EXPECTED, "incomplete")


def test_what_states_no_expectation_is_passed_over_and_listed(folder: Path) -> None:
    write_model(folder, "lossy.ded", LOSSY, ONE)
    write_model(folder, "silent.ded", LOSSY)
    write(folder, "fragment.ded", "pre(P) :- log(P);\n")
    write(
        folder, "counts.py", f"{SCENARIO}\n(__import__('pathlib').Path('executed')).touch()\ngood = scenario(1)\n"
    )
    found = outcomes()
    assert list(found) == ["counts.py", "fragment.ded", "lossy.ded", "silent.ded"]
    silent = [name for name, outcome in found.items() if outcome.status is Status.NO_EXPECTATION]
    assert silent == ["counts.py", "fragment.ded", "silent.ded"]
    assert not (folder / "executed").exists()  # nothing of it is wanted


def test_all_checks_also_what_states_no_expectation(folder: Path) -> None:
    write_model(folder, "lossy.ded", LOSSY, ONE)
    write_model(folder, "silent.ded", LOSSY)
    write(folder, "fragment.ded", "pre(P) :- log(P);\n")
    write(folder, "counts.py", f"{SCENARIO}good = scenario(1)\n")
    tests = clew.check_models(".", check_all=True)
    assert tests.exit_code == 0  # what was not expected decides nothing
    assert [(o.model.name, o.answer) for o in tests.of_status(Status.NO_EXPECTATION)] == [
        ("counts.py:good", "no violation"),
        ("fragment.ded", None),
        ("silent.ded", "counterexample"),
    ]
    only = clew.check_models("silent.ded", check_all=True)
    assert (only.answer.value, only.exit_code) == ("incomplete", 3)
    assert only.reason == "no model states an expectation, so that nothing was compared"


def test_a_file_without_expectations_that_cannot_be_loaded_decides_nothing(folder: Path) -> None:
    write_model(folder, "lossy.ded", LOSSY, ONE)
    write(folder, "m.py", f"import no_such_library\n{SCENARIO}good = scenario(1)\n")
    tests = clew.check_models(".", check_all=True)
    assert tests.exit_code == 0
    (outcome,) = tests.of_status(Status.NO_EXPECTATION)
    assert (outcome.reason or "").startswith("m.py:1:1: the model cannot be imported: ModuleNotFoundError")


def test_an_interrupt_while_files_are_looked_for_ends_that(folder: Path) -> None:
    write_model(folder, "lossy.ded", LOSSY, ONE)

    def interrupt(done: int, stage: str) -> None:
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(BudgetExhaustedError, match="interrupted"):
        clew.check_models(".", progress=interrupt)


def test_python_files_that_are_not_for_clew_are_not_executed(folder: Path) -> None:
    write_model(folder, "lossy.ded", LOSSY, ONE)
    write(folder, "setup.py", "raise SystemExit(7)\n")
    write(folder, "other.py", "import pexpect\npexpect.run(expect='Scenario')\n")
    assert list(outcomes()) == ["lossy.ded"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("raise ValueError('no')", "m.py:21:1: the model cannot be imported: ValueError: no"),
        ("import os; os._exit(0)", "the process ended by itself (exit code 0) while loading m.py"),
        ("import os; os.kill(os.getpid(), 9)", "the process was ended by SIGKILL while loading m.py"),
        ("raise SystemExit(0)", "m.py:21:1: the model cannot be imported: SystemExit: 0"),
        ("x = (", "m.py:21:5: not Python: '(' was never closed"),
    ],
)
def test_a_file_that_cannot_be_loaded_is_a_failed_row(folder: Path, text: str, reason: str) -> None:
    write(folder, "m.py", f"{SCENARIO}good = scenario(1, expect='no violation')\n{text}\n")
    write_model(folder, "lossy.ded", LOSSY, ONE)
    found = outcomes()
    assert found["lossy.ded"].status is Status.AS_EXPECTED
    assert (found["m.py"].model.kind, found["m.py"].status) == (Kind.PYTHON, Status.FAILED)
    assert found["m.py"].reason == reason


def test_a_run_that_ends_its_process_is_a_violation(folder: Path) -> None:
    """As for ``clew fuzz``."""
    deadly = SCENARIO.replace("self.count += 1", "import os; os._exit(3)")
    write(folder, "m.py", f"{deadly}bad = scenario(1, expect='violation')\n")
    (outcome,) = outcomes().values()
    assert (outcome.status, outcome.answer, outcome.runs) == (Status.AS_EXPECTED, "violation", 1)


def test_what_hangs_is_incomplete(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from clew.model_tests import processes

    monkeypatch.setattr(processes, "PATIENCE", 0.0)
    write(folder, "m.py", f"{SCENARIO}good = scenario(1, expect='no violation')\nimport time; time.sleep(600)\n")
    tests = clew.check_models(".", time_limit=0.3)
    (outcome,) = tests.outcomes
    assert outcome.status is Status.INCOMPLETE
    assert outcome.reason == "the time limit of 0.3 s ran out while it was loaded"
    assert tests.exit_code == 3


def test_refused_programs_are_failed_rows(folder: Path) -> None:
    write_model(folder, "typo.ded", LOSSY, "expcet=certified")
    write(folder, "syntax.ded", "//! expect=certified\np(X) :- \n")
    (folder / "latin.ded").write_bytes(b"\xe9")
    found = outcomes()
    assert {name: (o.status, o.reason, o.remedy) for name, o in found.items()} == {
        "latin.ded": (Status.FAILED, "latin.ded:1:1: not UTF-8 text", "give a text file with a Dedalus program"),
        "syntax.ded": (Status.FAILED, found["syntax.ded"].reason, found["syntax.ded"].remedy),
        "typo.ded": (Status.FAILED, "typo.ded:1:27: unknown default 'expcet'", "did you mean expect=...?"),
    }
    assert (found["syntax.ded"].reason or "").startswith("syntax.ded:")


def test_one_model_of_a_file_can_be_named(folder: Path) -> None:
    write(
        folder, "m.py", f"{SCENARIO}a = scenario(1, expect='no violation')\nb = scenario(2, expect='violation')\n"
    )
    assert list(outcomes("m.py:b")) == ["m.py:b"]
    both = clew.check_models(["m.py:b", "."]).outcomes
    assert [outcome.model.name for outcome in both] == ["m.py:b", "m.py:a"]  # once each
    with pytest.raises(UsageError, match=r"m\.py: defines no model 'c'"):
        outcomes("m.py:c")


def test_models_of_other_files_are_tested_there(folder: Path) -> None:
    write(folder, "a.py", f"{SCENARIO}one = scenario(1, expect='no violation')\n")
    text = "import clew\nfrom a import one, scenario\nalias = two = scenario(2, expect='violation')\n"
    write(folder, "b.py", text)
    assert list(outcomes()) == ["a.py:one", "b.py:alias"]  # and another name is not another model


def test_a_class_that_inherits_its_setting_expects_nothing(folder: Path) -> None:
    text = BLOOM.format(setting='eff=2, expect="counterexample", faults=1, ')
    write(folder, "m.py", f"{text}\n\nclass Child(Sends):\n    pass\n")
    assert {n: o.status for n, o in outcomes().items()} == {
        "m.py:Sends": Status.AS_EXPECTED,
        "m.py:Child": Status.NO_EXPECTATION,
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"paths": []}, "no path is given"),
        ({"paths": "empty"}, "no model in empty"),
        ({"paths": "silent.ded"}, "1 model states no expectation, so there is nothing to test"),
        ({"paths": ["silent.ded", "also.ded"]}, "2 models state no expectation, so there is nothing"),
        ({"workers": 0}, "--workers is 0"),
        ({"time_limit": 0.0}, "--time-limit is 0"),
        ({"time_limit": float("nan")}, "--time-limit is nan"),
        ({"total_time_limit": -1.0}, "--total-time-limit is -1"),
    ],
)
def test_nothing_to_test_is_no_success(folder: Path, arguments: dict[str, Any], message: str) -> None:
    (folder / "empty").mkdir()
    write_model(folder, "silent.ded", LOSSY)
    write_model(folder, "also.ded", LOSSY)
    with pytest.raises(UsageError) as caught:
        clew.check_models(**arguments)
    assert caught.value.message.startswith(message)
    assert caught.value.remedy


def test_the_number_of_processes_changes_nothing(folder: Path) -> None:
    for number in range(6):
        write_model(folder, f"m{number}.ded", SAFE if number % 2 else LOSSY, ONE)
    write(folder, "m.py", f"{SCENARIO}a = scenario(1, expect='violation')\nb = scenario(2, expect='violation')\n")
    told = [clew.check_models(".", workers=workers).to_json() for workers in (1, 3)]
    assert told[0] == told[1] == clew.check_models(".", in_process=True).to_json()


def test_the_total_time_limit_leaves_models_unchecked(folder: Path) -> None:
    write_model(folder, "lossy.ded", LOSSY, ONE)
    tests = clew.check_models(".", total_time_limit=1e-9)
    assert [o.reason for o in tests.outcomes] == ["not checked: the total time limit of 1e-09 s ran out"]
    assert (tests.exit_code, tests.ended) == (3, "the total time limit of 1e-09 s ran out")


def test_failures_of_clew_are_told_as_such(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from clew.model_tests import performing

    def fail(*arguments: object, **more: object) -> None:
        raise KeyError("ours")

    monkeypatch.setattr(performing, "check", fail)
    write_model(folder, "lossy.ded", LOSSY, ONE)
    tests = clew.check_models(".")
    assert (tests.answer.value, tests.exit_code) == ("clew failed", 4)
    assert (tests.outcomes[0].reason or "").startswith("KeyError: 'ours' (in fail, line ")


def test_expectations_are_told_with_the_model(folder: Path) -> None:
    write_model(folder, "lossy.ded", LOSSY, ONE)
    (outcome,) = outcomes().values()
    assert outcome.model.expectation == Expectation("counterexample", 1)
    assert isinstance(outcome.spec, FailureSpec)
    assert (outcome.spec.eot, outcome.spec.eff, outcome.spec.nodes) == (3, 2, ("a", "b"))


def test_scenarios_are_checked_that_expect_what_a_check_answers(folder: Path) -> None:
    write(
        folder,
        "asks.py",
        f"""{CHECKED}
lossy = scenario(2, expect="counterexample", expect_faults=2)
larger = scenario(2, expect="counterexample", expect_faults=1)
safe = scenario(3, expect="certified")
unknown = scenario(3, expect="incomplete", expect_seed=7)
never = scenario(1, expect="certified")
""",
    )
    found = outcomes()
    told = {
        name.partition(":")[2]: (
            outcome.status.value,
            outcome.answer,
            outcome.faults,
            outcome.runs,
            show_command(outcome.model),
        )
        for name, outcome in found.items()
    }
    exhaustive = "--strategy exhaustive"
    assert told == {
        "lossy": ("as expected", "counterexample", 2, 4, "clew check asks.py:lossy"),
        "larger": ("differs", "counterexample", 2, 4, "clew check asks.py:larger"),
        # Without a fault, 3 with one, 3 with two.
        "safe": ("as expected", "certified", None, 7, f"clew check asks.py:safe {exhaustive}"),
        "unknown": ("as expected", "incomplete", None, 7, "clew check asks.py:unknown --seed 7"),
        "never": ("differs", "counterexample", 1, 2, f"clew check asks.py:never {exhaustive}"),
    }
    safe = found["asks.py:safe"]
    assert bounds_words(safe) == "2 losses, in 1 s of virtual time"
    jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(clew.check_models("asks.py:safe").to_json()))


def test_a_check_that_the_clock_ends_is_not_the_one_that_was_expected(folder: Path) -> None:
    write(folder, "asks.py", f"{CHECKED}unknown = scenario(3, expect='incomplete')\n")
    (outcome,) = outcomes(time_limit=1e-9).values()
    assert (outcome.status, outcome.answer) == (Status.INCOMPLETE, "incomplete")
