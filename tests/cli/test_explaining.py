"""Explanations on the command line: what is printed and written, and that the answer never depends on it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NoReturn
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

from clew import check
from clew.cli.process.main import main
from clew.errors import BudgetExhaustedError
from clew.explain.explainer import Explainer, Margin
from clew.report.verdict.explaining import VerdictExplanation, explain_verdict
from command import ROOT, clew
from report.verdict.kafka_why import KAFKA_WHY

EXAMPLES = sorted(path.relative_to(ROOT) for path in (ROOT / "examples").glob("*.ded"))
KAFKA = "examples/kafka.ded"
FAULTS = ["--lose", "b,Z,1", "--lose", "c,Z,1", "--crash", "a,4"]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def within(*words: str, charset: str = "utf-8") -> Result:
    """The command in this process: no start-up time, and its parts can be replaced."""
    return CliRunner(charset=charset).invoke(main, words, catch_exceptions=False)


@cache
def checked(example: Path, charset: str = "utf-8") -> Result:
    """The answer about an example, which several tests look at."""
    return within("check", str(example), charset=charset)


def columns(line: str) -> int:
    wide = {"W": 2, "F": 2}
    return sum(wide.get(unicodedata.east_asian_width(c), 1) for c in line if unicodedata.category(c)[0] != "M")


# -- on the terminal --------------------------------------------------------------------------------------------


def test_the_whole_answer_about_kafka() -> None:
    done = clew("check", KAFKA)
    assert (done.returncode, done.stderr) == (1, "")
    head, diagram, why, effort = done.stdout.split("\n\n")
    assert head.splitlines() == [
        "COUNTEREXAMPLE: 3 faults, within EOT 6, EFF 4, 1 crash, nodes a, b, c, C, Z.",
        "  the message from b to Z at time 1 is lost",
        "  the message from c to Z at time 1 is lost",
        "  a crashes at time 4",
        "  violates pre(C, w1): it is in 'pre' and not in 'post'",
        "  lasts: from time 6 on nothing that it depends on changes",
        "  replay: clew run examples/kafka.ded --nodes a,b,c,C,Z --eot 6 --lose b,Z,1 --lose c,Z,1 --crash a,4",
    ]
    assert diagram.splitlines()[0].split() == ["a", "b", "c", "C", "Z"]
    assert "CRASHED" in diagram and diagram.count("LOST O(") == 2
    assert why.splitlines() == KAFKA_WHY
    assert effort == "  exact search, 1 execution; at most 1.85e25 failure combinations\n"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_no_line_about_an_example_is_wider_than_a_hundred_columns(example: Path) -> None:
    """Except for the command that replays it, which has to stay whole."""
    lines = [line for line in checked(example).output.splitlines() if not line.startswith("  replay: ")]
    assert len(lines) >= 2
    assert [line for line in lines if columns(line) > 100] == []


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_everything_about_an_example_can_be_ascii(example: Path) -> None:
    plain, narrow = checked(example), checked(example, charset="ascii")
    assert narrow.exit_code == plain.exit_code
    assert narrow.output.isascii() and "\\" not in narrow.output
    assert len(narrow.output.splitlines()) == len(plain.output.splitlines())


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_every_fault_of_an_example_is_accounted_for(example: Path) -> None:
    output = checked(example).output
    _, _, why = output.partition("\nWhy ")
    for fault in re.findall(r"(?:LOST|LATE, arrives at \d+:|CRASHED.*) ([OCD]\(.*?\))", output):
        assert f"  without {fault}: " in why


def test_in_a_large_program_no_supports_are_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """What each fault does is told all the same, from the runs that are compared alone."""
    small = within("check", KAFKA).output
    monkeypatch.setattr("clew.report.verdict.explaining._MOST_WORK", 1116 * 13 - 1)
    monkeypatch.setattr("clew.explain.failure_free.FailureFree.__init__", must_not_happen)
    large = within("check", KAFKA).output
    assert "Why pre(C, w1): each of the faults is needed:\n  without O(b,Z,1): " in large
    assert " cuts " not in large
    assert large.partition("  without ")[2] == small.partition("  without ")[2]


def must_not_happen(*_: object) -> NoReturn:
    raise AssertionError("this was not asked for")


@pytest.mark.parametrize("strategy", ["lineage", "random", "exhaustive"])
def test_other_searches_are_explained_like_the_exact_one(strategy: str) -> None:
    simple = within("check", "examples/simple-deliv.ded", "--strategy", strategy).output
    assert re.search(r"  O\(a,.,1\) cuts .*✗ log a→.@1.*\n  without O\(a,.,1\): log a→.@1 arrives", simple)


def test_random_faults_that_are_not_needed_are_named_together() -> None:
    output = within("check", "examples/3pc.ded", "--strategy", "random").output
    faults = re.findall(r"^  the message from (.*) to (.*) at time (\d+) is lost$", output, re.MULTILINE)
    why = " ".join(output.partition("\nWhy ")[2].split())
    first = why.partition(" How it arose: ")[0]
    assert len(faults) == 11
    assert all(f"O({source},{target},{time})" in first for source, target, time in faults)
    assert ": it is violated all the same, so they are not needed and without O(C," in first


def test_supports_that_take_too_long_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def give_up(*_: object) -> NoReturn:
        raise BudgetExhaustedError("the time limit of 10 s ran out")

    monkeypatch.setattr("clew.explain.failure_free.FailureFree.minimal_supports", give_up)
    output = within("check", KAFKA).output
    assert "Why pre(C, w1): each of the faults is needed:\n  without O(b,Z,1): " in output


def test_json_on_standard_output_pays_for_no_explanation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clew.report.verdict.explaining.explain_verdict", must_not_happen)
    done = within("check", KAFKA, "--json", "-")
    assert json.loads(done.output)["verdict"] == "counterexample"
    start = "import sys; from clew.cli.process.main import main"
    loaded = f"{start}\ntry: main()\nfinally: print(*sys.modules, file=sys.stderr)"
    started = subprocess.run(
        [sys.executable, "-c", loaded, "check", KAFKA, "--json", "-"], capture_output=True, text=True, check=False
    )
    modules = started.stderr.split()
    assert "clew.cli.commands.check" in modules
    assert [name for name in modules if name.startswith("clew.explain") or "lamport" in name] == []


def test_a_terminal_that_only_knows_ascii() -> None:
    done = clew("check", KAFKA, PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.isascii()
    assert "  O(b,Z,1) cuts X report b->Z@1, isr Z->a@2" in done.stdout


LONG = "n" * 120


def long_names(tmp_path: Path) -> Path:
    """Also relations: nothing of the explanation fits into a line."""
    program = tmp_path / "long.ded"
    program.write_text(
        f"//! nodes={LONG}1,{LONG}2 eot=4 eff=3 crashes=1\n"
        f'start_{LONG}("{LONG}1", "{LONG}2");\n'
        f"start_{LONG}(X, Y)@next :- start_{LONG}(X, Y);\n"
        f"log_{LONG}(Y, X)@async :- start_{LONG}(X, Y)@1, start_{LONG}(X, Y);\n"
        f"pre(Y) :- start_{LONG}(_, Y)@1;\n"
        f"post(Y) :- log_{LONG}(Y, _);\n"
        f"log_{LONG}(X, Y)@next :- log_{LONG}(X, Y);\n",
        encoding="utf-8",
    )
    return program


def test_long_names_are_shortened_in_the_explanation(tmp_path: Path) -> None:
    done = within("check", str(long_names(tmp_path)))
    assert done.exit_code == 1
    _, _, explained = done.output.partition("replay: ")
    lines = explained.partition("\n")[2].splitlines()
    assert len(lines) > 8
    assert [line for line in lines if columns(line) > 100] == []
    why = [line for line in lines if " cuts " in line]
    assert why and all("✗ log_nnn" in line and "…" in line for line in why), "the relation can be told"
    assert [line[-2:] for line in why] == ["@1", "@2", "@3"], "and the time"


CUT_OFF = ["--lose", "t,m,2", "--lose", "m,t,3", "--lose", "t,m,3", "--lose", "m,t,4", "--lose", "t,m,4"]


def test_losses_that_amount_to_something_simple_are_summed_up() -> None:
    """Below the faults; the command that replays them has each."""
    head = within("check", "examples/chain.ded").output.split("\n\n")[0].splitlines()
    assert head == [
        "COUNTEREXAMPLE: 5 faults, within EOT 8, EFF 6, 1 crash, nodes C, h, m, t.",
        "  the message from t to m at time 2 is lost",
        "  the message from m to t at time 3 is lost",
        "  the message from t to m at time 3 is lost",
        "  the message from m to t at time 4 is lost",
        "  the message from t to m at time 4 is lost",
        "  together: t is cut off at times 2 to 4",
        "  violates pre(C, w1): it is in 'pre' and not in 'post'",
        "  lasts: from time 8 on nothing that it depends on changes",
        f"  replay: clew run examples/chain.ded --nodes C,h,m,t --eot 8 {' '.join(CUT_OFF)}",
    ]
    lines = within("run", "examples/chain.ded", *CUT_OFF, "--at", "8").output.splitlines()
    assert lines[5:8] == [
        "  the message from t to m at time 4 is lost",
        "  together: t is cut off at times 2 to 4",
        "time 8",
    ]


def test_each_of_several_counterexamples_is_summed_up() -> None:
    lines = within("check", "examples/chain.ded", "--all").output.splitlines()
    assert [line.strip() for line in lines if "together" in line] == [
        "together: t is cut off at times 2 to 4",
        "5 of these together: t is cut off at times 3 to 5",
        "5 of these together: t is cut off at times 3 to 5",
        "together: t is cut off at times 3 to 5",
    ]


def test_a_certificate_needs_no_explanation() -> None:
    assert "Why" not in within("check", "examples/redun-deliv.ded").output


@pytest.mark.parametrize(
    "failure",
    [BudgetExhaustedError("the time limit of 10 s ran out"), BudgetExhaustedError("interrupted")],
    ids=str,
)
def test_an_explanation_that_takes_too_long_is_left_out(
    failure: BudgetExhaustedError, monkeypatch: pytest.MonkeyPatch
) -> None:
    def give_up(*_: object) -> NoReturn:
        raise failure

    monkeypatch.setattr("clew.explain.failure_free.FailureFree.__init__", give_up)
    done = within("check", KAFKA)
    assert done.exit_code == 1
    assert done.output.startswith("COUNTEREXAMPLE: 3 faults")
    assert f"  (no explanation: {failure})" in done.output


# -- in files ---------------------------------------------------------------------------------------------------


def test_a_diagram_instead_of_rows() -> None:
    done = within("run", KAFKA, *FAULTS, "--diagram")
    assert done.exit_code == 1
    assert "✗     LOST O(b,Z,1)" in done.output and "time 1" not in done.output.splitlines()
    lasts = "lasts: from time 6 on nothing that it depends on changes"
    assert done.output.endswith(f"VIOLATED: pre(C, w1)\n{lasts}\n")


def test_a_diagram_as_a_picture(tmp_path: Path) -> None:
    file = tmp_path / "run.svg"
    done = within("run", KAFKA, *FAULTS, "--svg", str(file))
    assert (done.exit_code, done.stderr) == (1, f"the diagram is in {file}\n")
    assert ElementTree.parse(file).getroot().tag == f"{SVG}svg"
    assert "VIOLATED: pre(C, w1)" in done.stdout, "and the rows as ever"


@pytest.mark.parametrize("faults", [[], FAULTS], ids=["good", "violated"])
def test_the_lineage_as_a_picture(faults: list[str], tmp_path: Path) -> None:
    file = tmp_path / "lineage.svg"
    done = within("run", KAFKA, *faults, "--lineage", str(file))
    assert (done.exit_code, done.stderr) == (bool(faults), f"the lineage is in {file}\n")
    root = ElementTree.parse(file).getroot()
    assert root.tag == f"{SVG}svg" and "post(C, w1)" in "".join(root.itertext())
    cut = [e for e in root.iter() if "cut" in e.get("class", "").split()]
    assert bool(cut) == bool(faults)


def test_nothing_achieved_has_no_lineage(tmp_path: Path) -> None:
    file = tmp_path / "lineage.svg"
    done = within("run", KAFKA, "--eot", "2", "--lineage", str(file))
    assert done.exit_code == 2
    assert "there is no lineage" in done.stderr and "remedy: give a larger --eot" in done.stderr
    assert not file.exists()


@pytest.mark.parametrize(
    ("words", "answer", "code"),
    [
        (("run", KAFKA), "HOLDS", 0),
        (("run", KAFKA, *FAULTS), "VIOLATED", 1),
        (("check", KAFKA), "COUNTEREXAMPLE", 1),
        (("check", "examples/redun-deliv.ded", "--eot", "6", "--eff", "5"), "CERTIFIED", 0),
        (("check", "examples/redun-deliv.ded", "--strategy", "random", "--max-runs", "3"), "INCOMPLETE", 3),
    ],
    ids=["HOLDS", "VIOLATED", "COUNTEREXAMPLE", "CERTIFIED", "INCOMPLETE"],
)
def test_a_report_about_every_answer(words: tuple[str, ...], answer: str, code: int, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    done = within(*words, "--report", str(file))
    assert (done.exit_code, done.stderr) == (code, f"the report is in {file}\n")
    page = file.read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") and page.endswith("</html>\n")
    assert f"<title>{answer}: {words[1]}</title>" in page


def test_everything_at_once(tmp_path: Path) -> None:
    files = {flag: tmp_path / f"out{flag}" for flag in ("--svg", "--lineage", "--report")}
    done = within("run", KAFKA, "--diagram", *(word for flag, file in files.items() for word in (flag, str(file))))
    assert done.exit_code == 0
    assert all(file.stat().st_size > 1000 for file in files.values())


def test_a_report_beside_json_on_standard_output(tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    done = clew("check", KAFKA, "--json", "-", "--report", str(file))
    assert done.returncode == 1
    assert json.loads(done.stdout)["verdict"] == "counterexample"
    assert done.stderr == f"the report is in {file}\n"
    assert file.read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize("command", [("check", KAFKA, "--report"), ("run", KAFKA, "--report")], ids=" ".join)
@pytest.mark.parametrize("path", ["-", "", "no/such/folder/x.html", "examples"])
def test_a_report_that_cannot_be_written_is_refused_at_once(command: tuple[str, ...], path: str) -> None:
    done = within(*command, path)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "error: " in done.stderr and "remedy: give " in done.stderr


# -- the answer stands ------------------------------------------------------------------------------------------


def test_a_program_without_outcomes_gets_no_report(tmp_path: Path) -> None:
    program, file = tmp_path / "p.ded", tmp_path / "report.html"
    program.write_text("//! nodes=a eot=3\np(a)@1;\nq(X) :- p(X);\n", encoding="utf-8")
    done = within("run", str(program), "--report", str(file))
    assert done.exit_code == 0
    assert "no report was written: " in done.stderr and "what must hold" in done.stderr
    assert not file.exists()


@pytest.mark.parametrize("words", [("check", KAFKA), ("run", KAFKA, *FAULTS)], ids=["check", "run"])
def test_when_time_is_over_before_anything_is_there_no_report_is_written(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def give_up(*_: object) -> NoReturn:
        raise BudgetExhaustedError("the time limit of 120 s ran out")

    monkeypatch.setattr("clew.explain.explainer.Explainer.why", give_up)
    file = tmp_path / "report.html"
    done = within(*words, "--report", str(file))
    assert done.exit_code == 1, "the verdict's"
    assert "no report was written: the time limit of 120 s ran out" in done.stderr
    assert not file.exists()


def test_ctrl_c_while_a_report_is_prepared_leaves_the_answer(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Nothing half done is written; the exit code is that of the verdict."""

    def interrupted(self: Explainer) -> Iterator[Margin]:
        os.kill(os.getpid(), signal.SIGINT)
        self.deadline.check()
        yield from ()

    monkeypatch.setattr(Explainer, "margins", interrupted)
    file = tmp_path / "report.html"
    before = signal.getsignal(signal.SIGINT)
    done = within("check", "examples/redun-deliv.ded", "--eot", "6", "--eff", "5", "--report", str(file))
    assert signal.getsignal(signal.SIGINT) is before
    assert done.exit_code == 0
    assert done.stdout.startswith("CERTIFIED")
    assert "no report was written: interrupted" in done.stderr
    assert not file.exists()


def test_ctrl_c_before_there_is_anything_to_show_leaves_the_answer(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    original = Explainer.why

    def interrupted(self: Explainer, *arguments: object) -> object:
        os.kill(os.getpid(), signal.SIGINT)
        self.deadline.check()
        return original(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Explainer, "why", interrupted)
    file = tmp_path / "report.html"
    done = within("check", KAFKA, "--report", str(file))
    assert done.exit_code == 1
    assert done.stdout.startswith("COUNTEREXAMPLE: 3 faults")
    assert "no report was written: interrupted" in done.stderr
    assert not file.exists()


def test_a_mistake_of_ours_does_not_cost_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        raise RuntimeError("oops")

    monkeypatch.setattr("clew.explain.failure_free.FailureFree.__init__", fail)
    verdict = check(ROOT / "examples" / "kafka.ded")
    assert explain_verdict(verdict) == VerdictExplanation(
        ("  (no explanation, by a mistake in Clew: RuntimeError('oops'))",)
    )


def test_a_mistake_in_the_report_does_not_cost_the_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def mistaken(*_: object, **__: object) -> NoReturn:
        raise RuntimeError("oops")

    monkeypatch.setattr("clew.report.writing.report_page", mistaken)
    page, xml = tmp_path / "page.html", tmp_path / "clew.xml"
    done = within("check", "examples/simple-deliv.ded", "--junit", str(xml), "--report", str(page))
    assert done.exit_code == 4  # the answer stands, but not all that was asked for is there
    assert "no report was written, by a mistake in Clew: RuntimeError('oops')" in done.stderr
    assert xml.exists() and not page.exists()
