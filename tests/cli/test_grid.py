"""``--set`` and ``--grid`` on the command line: what they print, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from cli.in_process import Done, run_clew, shell_arguments
from command import ROOT

#: Node 1 tells the others once.
TELL = """\
//! eot=3
param n = 3;
param word = hello;
node(1, 2..n); node(X, Y)@next :- node(X, Y);
log(1, word); log(X, P)@next :- log(X, P);
log(Y, P)@async :- log(X, P), node(X, Y), start(X);
start(1);
missing(Y, P) :- log(X, P), node(X, Y), notin log(Y, P);
pre(X, P) :- log(X, P);
post(X, P) :- log(X, P), notin missing(_, P);
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tell.ded").write_text(TELL, encoding="utf-8")
    return tmp_path


def clew(folder: Path, line: str) -> Done:
    return run_clew(folder, shell_arguments(f"clew {line}"))


# -- --set -------------------------------------------------------------------------------------------------------


def test_a_verdict_states_the_values_and_how_to_set_them_again(folder: Path) -> None:
    done = clew(folder, "check tell.ded --eff 2 --set n=2 --set word='\"b c\"' --json v.json --report v.html")
    assert done.code == 1
    assert done.out.splitlines()[:2] == [
        "COUNTEREXAMPLE: 1 fault, within EOT 3, EFF 2, 0 crashes, nodes 1, 2.",
        "  with n=2, word=b c",
    ]
    assert done.replay == "clew run tell.ded --set n=2 --set 'word=\"b c\"' --nodes 1,2 --eot 3 --lose 1,2,1"
    document = json.loads((folder / "v.json").read_text(encoding="utf-8"))
    assert document["spec"]["params"] == [
        {"name": "n", "value": 2, "set": True},
        {"name": "word", "value": "b c", "set": True},
    ]
    assert "<dt>param word</dt><dd>b c</dd>" in (folder / "v.html").read_text(encoding="utf-8")


def test_what_is_printed_and_written_does_the_same_again(folder: Path) -> None:
    done = clew(folder, "check tell.ded --eff 2 --set n=4 --json v.json")
    again = run_clew(folder, shell_arguments(done.replay))
    assert again.code == 1
    assert again.out.splitlines()[0] == "EOT 3, nodes 1, 2, 3, 4, with n=4, word=hello; these faults:"
    replayed = clew(folder, "replay v.json --json r.json")
    assert (replayed.code, replayed.out.splitlines()[1]) == (1, "  with n=4, word=hello")
    assert json.loads((folder / "r.json").read_text(encoding="utf-8"))["spec"]["params"][0]["value"] == 4
    # Without the param the document is of another program.
    (folder / "tell.ded").write_text(TELL.replace("param n = 3;", "param m = 3;").replace("..n", "..m"))
    assert "unknown param 'n'" in clew(folder, "replay v.json").err


@pytest.mark.parametrize(
    "params",
    [
        [],
        [{"name": "n", "value": 2, "set": 1}],
        [{"name": "n", "value": 2}],
        [{"name": 1, "value": 2, "set": True}],
        [{"name": "n", "value": None, "set": True}],
        [{"name": "n", "value": 2, "set": True}, {"name": "n", "value": 3, "set": False}],
        {"n": 2},
    ],
)
def test_a_document_with_other_params_than_were_written_is_refused(folder: Path, params: object) -> None:
    clew(folder, "check tell.ded --eff 2 --set n=2 --json v.json")
    document = json.loads((folder / "v.json").read_text(encoding="utf-8"))
    document["spec"]["params"] = params
    (folder / "v.json").write_text(json.dumps(document), encoding="utf-8")
    done = clew(folder, "replay v.json")
    assert (done.code, done.out) == (2, "")
    assert "params" in done.err


def test_a_proof_is_of_the_values_that_were_set(folder: Path) -> None:
    assert clew(folder, "check tell.ded --set n=2 --proof p.zip").code == 0
    assert clew(folder, "verify p.zip --program tell.ded --set n=2").code == 0
    assert clew(folder, "verify p.zip --program tell.ded").code == 1
    assert "--set is for the params of a program" in clew(folder, "verify p.zip --set n=2").err


def test_the_question_of_a_checkpoint_names_them(tmp_path: Path) -> None:
    from clew.bounds import Bounds
    from clew.checker.question import check_question
    from clew.checker.strategies import STRATEGIES, Options
    from clew.dedalus.loader import parse_program
    from clew.faults import FailureSpec

    def question(text: str, **params: int) -> dict[str, object]:
        program = parse_program(text, params=params)
        strategy = STRATEGIES["lineage"]
        spec = FailureSpec(("a",), 3)
        return dict(check_question(program, program, Bounds(), spec, strategy, Options(), sweeps=False))

    five = question("param n = 3; p(n);", n=5)
    assert five["--set"] == ["n=5"]
    assert question("param n = 3; p(n);")["--set"] == []
    assert five["the program digest"] == question("p(5);")["the program digest"]
    assert "--set" not in question("p(5);")


def test_calm_reads_a_program_with_values(folder: Path) -> None:
    assert clew(folder, "calm tell.ded --set n=2").code == 1
    assert "unknown param 'm'" in clew(folder, "calm tell.ded --set m=2").err


# -- --grid ------------------------------------------------------------------------------------------------------


def test_the_table_of_an_example() -> None:
    line = "clew check examples/paxos-synod-quorums.ded --grid acceptors=3..4 --grid quorum=1,2"
    done = run_clew(ROOT, shell_arguments(line))
    assert done.code == 1
    assert (
        done.out
        == """\
COUNTEREXAMPLE: 3 of 4 settings break it, 1 is certified; within EOT 7, EFF 6, 0 crashes, 3 to 4 nodes.
  smallest: acceptors=3 quorum=1

  acceptors  quorum  verdict         faults  executions  counterexample or reason
* 3          1       counterexample  3       1           O(1,2,3) O(1,2,4) O(3,2,4)
  3          2       certified               0
  4          1       counterexample  4       1           O(1,2,3) O(1,2,4) O(1,3,3) O(1,4,3)
  4          2       counterexample  5       1           O(1,2,1) O(1,2,4) O(1,3,4) O(1,4,1) O(3,1,2)

* smallest: none breaks whose numbers are smaller, or as small.
To see one that breaks:
  clew check examples/paxos-synod-quorums.ded --set acceptors=3 --set quorum=1
  clew check examples/paxos-synod-quorums.ded --set acceptors=4 --set quorum=1
  clew check examples/paxos-synod-quorums.ded --set acceptors=4 --set quorum=2
  exact search, 3 executions
"""
    )


def test_the_commands_show_what_the_table_says(folder: Path) -> None:
    flags = "--set word=Ho --nodes 1,2,3 --eff 2 --strategy lineage --all --max-runs 50 --strict"
    done = clew(folder, f"check tell.ded --grid n=2..3 --grid crashes=0..1 {flags} --json g.json")
    commands = done.lines("  clew check ")
    assert commands[0] == (
        "tell.ded --set word=Ho --set n=2 --nodes 1,2,3 --eff 2 --strategy lineage --all --max-runs 50 --strict"
        " --crashes 0"
    )
    settings = json.loads((folder / "g.json").read_text(encoding="utf-8"))["settings"]
    broken = [setting for setting in settings if setting["verdict"] == "counterexample"]
    assert [setting["command"] for setting in broken] == [f"clew check {command}" for command in commands]
    for setting, command in zip(broken, commands, strict=True):
        shown = clew(folder, f"check {command} --json -")
        assert (shown.code, json.loads(shown.out)["counterexamples"]) == (1, setting["counterexamples"])
        assert json.loads(shown.out)["spec"]["params"][0]["value"] == setting["values"]["n"]


def test_the_files_of_a_grid(folder: Path) -> None:
    line = "check tell.ded --grid n=1..2 --grid crashes=0,9 --eff 2 --json g.json --junit g.xml --report g.html"
    done = clew(folder, line)
    assert (done.code, done.err) == (1, "the report is in g.html\n")
    document = json.loads((folder / "g.json").read_text(encoding="utf-8"))
    assert [(s["values"]["n"], s["values"]["crashes"], s["verdict"]) for s in document["settings"]] == [
        (2, 0, "counterexample"),
        (1, 0, "invalid"),
        (1, 9, "invalid"),
        (2, 9, "invalid"),
    ]
    assert (document["exit_code"], document["reason"]) == (1, "of 4 settings, 3 invalid")
    suite = ElementTree.parse(folder / "g.xml").getroot()[0]
    assert {k: suite.attrib[k] for k in ("tests", "failures", "errors")} == {
        "tests": "4",
        "failures": "1",
        "errors": "3",
    }
    assert suite.findall("testcase")[0].attrib["name"] == "n=2 crashes=0"
    assert "clew check tell.ded --set n=2 --eff 2 --crashes 0" in (folder / "g.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("line", "code"),
    [("--grid n=2..3 --eff 2", 1), ("--grid n=2..3", 0), ("--grid n=1..2", 3), ("--grid n=2 --strict", 3)],
)
def test_exit_codes(folder: Path, line: str, code: int) -> None:
    assert clew(folder, f"check tell.ded {line}").code == code


REFUSED = [
    ("--set n", "--set n is not understood", "write --set NAME=VALUE"),
    ("--set n=", "--set n= is not understood", "write --set NAME=VALUE"),
    ("--set =3", "--set =3 is not understood", "write --set NAME=VALUE"),
    ("--set n=2,3", "--set n=2,3 is not understood", "write --set NAME=VALUE"),
    ("--set n=2 --set n=3", "--set gives 'n' two values", "--grid tries several"),
    ("--set m=2", "unknown param 'm'", "the params are n, word"),
    ("--set crashes=2", "unknown param 'crashes'", "give --crashes"),
    ("--set n=two", "tell.ded:2:7: error: 'n' is set to two, and it is a number", "--set n=5"),
    ("--set word=2", "tell.ded:3:7: error: 'word' is set to 2, and it is a string", "--set word='\"2\"'"),
    ("--set 'word=\"x'", '--set word="x: a name is not closed', 'close it with "'),
    ("--set n=1", "tell.ded:4:9: error: the interval 2..1 is empty", "the smaller number first"),
    ("--set n=1000000", "tell.ded:4:9: error: the interval 2..1000000 has more than 10000 numbers", "shorter"),
    ("--grid n", "--grid n is not understood", "--grid AXIS=3..7"),
    ("--grid n=", "--grid n= is not understood", "--grid AXIS=3..7"),
    ("--grid n=3..1", "--grid n=3..1: the interval 3..1 is empty", "the smaller number first: 1..3"),
    ("--grid n=1..m", "--grid n=1..m: an interval has a whole number at either end", "write 3..7"),
    ("--grid n=1..9999999999", "the axis 'n' has more than 1000 values", "fewer"),
    ("--grid n=2..50 --grid crashes=0..50", "the grid has 49 times 51 settings", "fewer values"),
    ("--grid n=2,2", "the axis 'n' has 2 twice", "each value once"),
    ("--grid n=2 --grid n=3", "--grid gives the axis 'n' twice", "once, with all its values"),
    ("--grid n=2,x", "tell.ded:2:7: error: 'n' is set to x, and it is a number", "--set n=5"),
    ("--grid crashes=a,b", "the axis 'crashes' has a", "whole numbers"),
    ("--grid m=2", "unknown axis 'm'", "axes are the params n, word and eot, eff"),
    ("--grid crash=2", "unknown axis 'crash'", "did you mean 'crashes'?"),
    ("--grid nodes=2", "'nodes' cannot be an axis", "let a param say how many there are"),
    ("--grid n=2 --set n=2", "'n' is an axis of the grid, and --set n gives it one value", "one of the two"),
    ("--grid eot=2..3 --eot 4", "'eot' is an axis of the grid, and --eot gives it one value", "one of the two"),
    ("--grid n=2 --proof p.zip", "--proof is about one check, and --grid asks for many", "leave it out"),
    ("--grid n=2 --checkpoint c", "--checkpoint is about one check, and --grid", "leave it out"),
    ("--grid n=2 --coverage", "--coverage is about one check, and --grid asks", "leave it out"),
    ("--grid n=2 --workers 0", "--workers is 0", "from 1 on"),
    ("--grid n=2 --time-limit-each 0", "--time-limit-each is 0", "larger than 0"),
    ("--grid n=2 --effort 1 --eot 3", "a sweep finds its own EOT", "--eot or --effort"),
    ("--grid crashes=7,8", "7 crashes are more than the 3 nodes", "up to 3"),
    ("--workers 2", "--workers and --cluster are for a grid", "--grid crashes=0..2"),
    ("--time-limit-each 2", "--time-limit-each is for a grid", "--grid crashes=0..2"),
]


@pytest.mark.parametrize(("flags", "message", "remedy"), REFUSED, ids=[r[0] for r in REFUSED])
def test_what_is_wrong_is_refused_with_a_remedy(folder: Path, flags: str, message: str, remedy: str) -> None:
    done = clew(folder, f"check tell.ded {flags}")
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert remedy in done.err.split("remedy: ")[1]
    assert done.err.count("remedy: ") == 1
