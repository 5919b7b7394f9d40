"""The page about assertions: its inline programs do what it says.  And figures that other pages state in prose.

A block of Dedalus that begins with ``// file: NAME`` is a file of that name.  A block of text that begins with
``$`` is a command on these files with its output; a line ``...`` in it stands for lines that are left out.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from clew import Answer, check
from clew.budgets.deadline import Deadline
from clew.engine.extremes import Cheapest
from clew.explain.explainer import Explainer
from command import ROOT, clew

PAGE = (ROOT / "docs" / "assertions.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"```dedalus\n(// file: (\S+)\n.*?)```", PAGE, re.DOTALL))
COMMANDS = dict(re.findall(r"```text\n\$ (.*?)\n(.*?)```", PAGE, re.DOTALL))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The files of the page beside the examples."""
    for text, name in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    return tmp_path


def _matches(shown: str, printed: str) -> bool:
    parts = [re.escape(part) for part in re.split(r"^\.\.\.\n", shown, flags=re.MULTILINE)]
    return re.fullmatch("(?:.*\n)*?".join(parts), printed) is not None


def test_every_file_is_used() -> None:
    used = " ".join([*COMMANDS, "misspelt.ded"])
    assert len(FILES) >= 8
    assert all(name in used for name in FILES.values())


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_print_what_the_page_shows(command: str, folder: Path) -> None:
    program, *arguments = shlex.split(command)
    assert program == "clew"
    printed = clew(*arguments, cwd=folder).stdout
    assert _matches(COMMANDS[command], printed), printed


@pytest.mark.parametrize(
    ("assertion", "answer", "vacuous"),
    [
        ("delivered", Answer.COUNTEREXAMPLE, False),
        ("everybody", Answer.COUNTEREXAMPLE, False),
        ("swapped", Answer.CERTIFIED, False),
        ("passing", Answer.INCOMPLETE, True),
        ("empty", Answer.CERTIFIED, False),
        ("misspelt", Answer.CERTIFIED, False),
    ],
)
def test_what_becomes_of_the_broadcast(assertion: str, answer: Answer, vacuous: bool, folder: Path) -> None:
    verdict = check([folder / "broadcast.ded", folder / f"{assertion}.ded"])
    assert (verdict.answer, verdict.vacuous) == (answer, vacuous)


@pytest.mark.parametrize("crashes", [1, 2, 3])
def test_with_the_columns_swapped_crashes_cannot_matter(crashes: int, folder: Path) -> None:
    swapped = [folder / "broadcast.ded", folder / "swapped.ded"]
    assert check(swapped, crashes=crashes).answer is Answer.CERTIFIED


def test_remembering_the_request_is_the_remedy(folder: Path) -> None:
    (remedy,) = re.findall(r"`(request\(.*?;)`", PAGE)
    (folder / "remedy.ded").write_text(remedy, encoding="utf-8")
    verdict = check([folder / f"{name}.ded" for name in ("broadcast", "passing", "remedy")])
    assert not verdict.vacuous


def test_an_empty_promise_needs_no_message(folder: Path) -> None:
    verdict = check([folder / "broadcast.ded", folder / "empty.ded"])
    assert verdict.program is not None
    for margin in Explainer(verdict.program, verdict.spec, Deadline(60)).margins():
        assert not margin.needs_messages
        assert margin.distance.cheapest is None


def test_a_misspelt_relation_is_noticed(folder: Path) -> None:
    done = clew("check", "broadcast.ded", "misspelt.ded", cwd=folder)
    assert "no fact or rule defines 'mising'" in done.stderr


def test_uniform_agreement_blames_a_decision_after_death(folder: Path) -> None:
    fine = check(folder / "examples" / "3pc.ded", eff=0, crashes=2)
    verdict = check([folder / "examples" / "3pc.ded", folder / "uniform.ded"], eff=0, crashes=2)
    assert fine.answer is Answer.CERTIFIED
    assert verdict.answer is Answer.COUNTEREXAMPLE
    assert {v.row[0] for v in verdict.counterexamples[0].violations} == {"uniform"}


@pytest.mark.parametrize("one", ["pre(X, P) :- log(X, P);", "post(X, P) :- log(X, P);"])
def test_one_without_the_other_is_refused(one: str, folder: Path) -> None:
    (folder / "one.ded").write_text(one, encoding="utf-8")
    assert clew("check", "broadcast.ded", "one.ded", cwd=folder).returncode == 2


# -- what the tutorial and the page about reports say without showing the output ----------------------------------

EXAMPLES = ROOT / "examples"


def test_the_executions_of_the_lineage_search_in_the_tutorial() -> None:
    acknowledged = check(EXAMPLES / "ack-deliv.ded", strategy="lineage", eot=5, eff=3)
    redundant = check(EXAMPLES / "redun-deliv.ded", strategy="lineage")
    assert [str(e.faults) for e in acknowledged.executions] == [
        "no fault",
        "O(a,c,1) O(a,c,2) C(b,1)",
        "O(a,b,1) O(a,b,2) C(c,1)",
    ]
    assert [str(e.faults) for e in redundant.executions] == ["no fault", "C(a,1)"]


def test_the_relay_rule_as_printed_fails_in_two_ways_with_eighteen_faults_each() -> None:
    found = check(EXAMPLES / "redun-deliv-late.ded", find_all=True).counterexamples
    assert [(len(c.faults.losses), len(c.faults.crashes)) for c in found] == [(17, 1), (17, 1)]


@pytest.mark.parametrize(
    ("bounds", "answer"),
    [
        ({"crashes": 2}, Answer.CERTIFIED),
        ({"delays": 1}, Answer.COUNTEREXAMPLE),
        ({"eot": 4, "eff": 3}, Answer.CERTIFIED),
    ],
)
def test_other_bounds_for_the_redundant_broadcast(bounds: dict[str, int], answer: Answer) -> None:
    verdict = check(
        EXAMPLES / "redun-deliv.ded",
        eot=bounds.get("eot"),
        eff=bounds.get("eff"),
        crashes=bounds.get("crashes"),
        delays=bounds.get("delays"),
    )
    assert verdict.answer is answer


def test_how_much_is_left_of_the_redundant_broadcast() -> None:
    verdict = check(EXAMPLES / "redun-deliv.ded")
    assert verdict.program is not None
    for margin in Explainer(verdict.program, verdict.spec, Deadline(60)).margins():
        assert (margin.supports, margin.more, margin.independent, margin.exact) == (190, False, 19, True)
        cheapest, by_losses = margin.distance.cheapest, margin.distance.by_losses
        assert isinstance(cheapest, Cheapest) and isinstance(by_losses, Cheapest)
        assert (cheapest.outside, cheapest.proven) == (1, True)
        assert (max(loss.time for loss in by_losses.faults.losses), by_losses.proven) == (10, True)
        assert margin.distance.by_crashes is None
