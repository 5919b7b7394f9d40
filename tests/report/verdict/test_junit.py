"""JUnit XML: one case for each outcome relation, passed only when proven, well formed whatever the names are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import clew
from clew.report.verdict.document import verdict_document
from clew.report.verdict.junit import junit_xml
from command import ROOT
from command import clew as clew_command

#: What persists: 'link' and 'mine' in every run, 'got' and 'heard' only when messages arrive.
RELATIONS = """
link(a, b); link(X, Y)@next :- link(X, Y);
got(Y, X)@async :- link(X, Y); got(Y, X)@next :- got(Y, X);
heard(X, Y)@async :- got(Y, X); heard(X, Y)@next :- heard(X, Y);
mine(a); mine(X)@next :- mine(X);
"""


def relations(**options: Any) -> clew.Verdict:
    return clew.check(clew.parse_program(RELATIONS), nodes=["a", "b"], **options)


def kafka(**options: Any) -> clew.Verdict:
    return clew.check(ROOT / "examples" / "kafka.ded", **options)


def suite_of(text: str) -> ElementTree.Element:
    """The one suite, after checking that it counts right."""
    root = ElementTree.fromstring(text)
    assert text.startswith('<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>')
    (suite,) = root
    assert (root.tag, suite.tag, suite.get("name")) == ("testsuites", "testsuite", "clew")
    cases = [element for element in suite if element.tag != "system-err"]
    assert {case.tag for case in cases} == {"testcase"}
    assert all(len(case) == 1 for case in cases)
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert suite.get(attribute) == str(sum(case[0].tag == tag for case in cases))
    assert suite.get("tests") == str(len(cases))
    assert {case.get("time") for case in cases} == {suite.get("time")}
    names = [(case.get("classname"), case.get("name")) for case in cases]
    assert len(set(names)) == len(names)
    return suite


def shown(verdict: clew.Verdict, *files: str) -> dict[str, tuple[str, str, str]]:
    """For each case its outcome: the element, its message and its text."""
    suite = suite_of(junit_xml(verdict, files))
    assert suite.get("time") == f"{verdict.seconds:.3f}"
    return {case.get("name", ""): (case[0].tag, case[0].get("message", ""), case[0].text or "") for case in suite}


def test_a_counterexample_fails_with_its_faults_rows_and_replay_command() -> None:
    (failure,) = suite_of(junit_xml(kafka(), ["examples/kafka.ded"])).iter("failure")
    assert failure.get("type") == "counterexample"
    assert failure.get("message") == (
        "violated: pre(C, w1); the message from b to Z at time 1 is lost, "
        "the message from c to Z at time 1 is lost, a crashes at time 4"
    )
    lines = (failure.text or "").splitlines()
    assert "  a crashes at time 4" in lines
    assert "  violates pre(C, w1): it is in 'pre' and not in 'post'" in lines
    assert lines[-2].startswith("  replay: clew run examples/kafka.ded --nodes a,b,c,C,Z --eot 6 --lose b,Z,1 ")


def test_with_assertions_there_is_one_case_named_after_the_files() -> None:
    (case,) = suite_of(junit_xml(kafka(), ["a.ded", "b.ded"]))
    assert (case.get("classname"), case.get("name")) == ("a.ded + b.ded", "pre implies post")


def test_without_assertions_each_persistent_relation_is_a_case_and_none_passes_unproven() -> None:
    outcomes = shown(relations(eot=4, eff=4, crashes=1))
    assert list(outcomes) == ["link survives", "got survives", "heard survives", "mine survives"]
    skipped = ("skipped", "not decided: the search ended at a counterexample for another relation", "")
    assert [outcomes["link survives"], outcomes["mine survives"]] == [skipped, skipped]
    lost = [name for name, (tag, _, _) in outcomes.items() if tag == "failure"]
    assert lost and set(lost) <= {"got survives", "heard survives"}
    assert outcomes[lost[0]][1].startswith("lost: ")


def test_each_case_shows_the_counterexamples_that_concern_it() -> None:
    verdict = relations(eot=3, eff=3, crashes=0, find_all=True)
    rows = [{v.relation for v in c.violations} for c in verdict.counterexamples]
    assert len(rows) > 1 and any("got" not in r for r in rows)
    outcomes = shown(verdict, "p.ded")
    for relation in ("got", "heard"):
        concerned = sum(relation in r for r in rows)
        assert outcomes[f"{relation} survives"][2].count("replay: clew run p.ded") == concerned


def test_a_certificate_passes_and_states_its_bounds() -> None:
    verdict = clew.check(ROOT / "examples" / "ack-deliv.ded")
    ((tag, _, text),) = shown(verdict).values()
    assert tag == "system-out"
    assert text.startswith("CERTIFIED: no counterexample exists within EOT 8, EFF 7, 1 crash, nodes a, b, c.\n")
    assert "Beware" not in text


def test_a_certificate_that_applies_under_faults_only_passes_with_the_caution() -> None:
    verdict = kafka(eot=4, eff=3)
    assert verdict.vacuous
    ((tag, _, text),) = shown(verdict).values()
    assert tag == "system-out"
    assert "  Beware: in the failure-free run 'pre' is empty at the end" in text


def test_where_nothing_is_promised_nothing_passes() -> None:
    outcomes = shown(kafka(eot=3, eff=2))
    tag, message, _ = outcomes.pop("pre implies post")
    assert (tag, message) == (
        "error",
        "nothing is promised: what must hold applies in no admissible execution (--allow-hollow permits that)",
    )
    assert [(tag, message) for tag, message, _ in outcomes.values()] == [
        ("skipped", "never applies within these bounds")
    ]


def test_an_incomplete_search_is_an_error_in_every_case() -> None:
    verdict = relations(eot=4, eff=2, strategy="exhaustive", max_runs=1)
    outcomes = shown(verdict)
    assert len(outcomes) == 4
    assert {(tag, message) for tag, message, _ in outcomes.values()} == {
        ("error", "the limit of 1 runs was reached")
    }
    assert all(text.startswith("INCOMPLETE: ") for _, _, text in outcomes.values())
    suite = suite_of(junit_xml(verdict, []))
    assert {error.get("type") for error in suite.iter("error")} == {"incomplete"}
    assert {case.get("classname") for case in suite} == {"program"}


def test_a_program_that_fails_without_any_fault() -> None:
    program = clew.parse_program('p("a"); pre(X) :- p(X); post(X) :- p(X), notin p(X); p(X)@next :- p(X);')
    ((tag, message, text),) = shown(clew.check(program, eot=2)).values()
    assert (tag, message) == ("failure", "violated: pre(a); no fault is needed")
    assert "no fault is needed" in text


@pytest.mark.parametrize(
    ("program", "name"),
    [
        (None, "what must hold"),
        (clew.parse_program("p(a);"), "what must hold"),
        (clew.parse_program("p(a); pre(X) :- p(X);"), "what must hold"),
        (clew.parse_program("p(a); p(X)@next :- p(X);"), "p survives"),
    ],
    ids=["unknown program", "nothing must hold", "pre without post", "persistent"],
)
def test_a_search_that_was_stopped_early_has_a_case(program: clew.Program | None, name: str) -> None:
    """A search can be stopped before anyone has asked what must hold."""
    stopped = replace(kafka(strategy="random", max_runs=1), program=program)
    ((case, (tag, _, _)),) = shown(stopped).items()
    assert (case, tag) == (name, "error")


def test_a_violation_of_something_that_is_no_relation_of_the_program_has_a_case() -> None:
    found = clew.Counterexample(clew.FaultSet(), (clew.Violation("no two leaders", ("n1", 3)),))
    verdict = replace(kafka(), program=None, counterexamples=(found,))
    ((name, (tag, message, _)),) = shown(verdict).items()
    assert (name, tag) == ("no two leaders survives", "failure")
    assert message == "lost: no two leaders(n1, 3); no fault is needed"


# -- names that are hostile to XML -------------------------------------------------------------------------------

HOSTILE = [
    ("]]>", "]]>"),
    ("<script>alert(1)</script>", "<script>alert(1)</script>"),
    ("'\"&amp;&#0;<!--", "'\"&amp;&#0;<!--"),
    ("tab\tand\nline", "tab\tand\nline"),
    ("é€😀\x85\u2028", "é€😀\x85\u2028"),
    ("\0", r"\x00"),
    ("\x1b[31mred", r"\x1b[31mred"),
    ("\ud800", r"\ud800"),
    ("\udcff.ded", r"\udcff.ded"),
    ("\ufffe", r"\ufffe"),
    ("\uffff", r"\uffff"),
]


@pytest.mark.parametrize(("name", "readable"), HOSTILE, ids=lambda text: ascii(text))
def test_hostile_names(name: str, readable: str) -> None:
    """In a path, a node, a relation, a row and a reason: it parses, and what XML can hold is unchanged."""
    faults = clew.FaultSet.of([clew.Loss(name, "b", 1), clew.Crash(name, 2)])
    found = clew.Counterexample(faults, (clew.Violation(name, (name, 1)),))
    spec = clew.FailureSpec((name, "b"), 4, 3, 1)
    verdict = replace(kafka(), program=None, spec=spec, counterexamples=(found,), reason=name)
    text = junit_xml(verdict, [name])
    text.encode("utf-8")
    (case,) = suite_of(text)
    assert (case.get("classname"), case.get("name")) == (readable, f"{readable} survives")
    assert f"lost: {readable}({readable}, 1); the message from {readable} to b" in case[0].get("message", "")
    assert f"{readable} crashes at time 2" in (case[0].text or "")
    incomplete = replace(verdict, answer=clew.Answer.INCOMPLETE, counterexamples=())
    (error,) = suite_of(junit_xml(incomplete, [name])).iter("error")
    assert error.get("message") == readable


def test_a_carriage_return_parses() -> None:
    (case,) = suite_of(junit_xml(kafka(), ["a\r.ded"]))
    assert case.get("classname") == "a\r.ded"


# -- the flag ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "code", "tag"),
    [
        (("kafka.ded",), 1, "failure"),
        (("ack-deliv.ded",), 0, "system-out"),
        (("ack-deliv.ded", "--strategy", "random", "--max-runs", "3"), 3, "error"),
        (("ack-deliv.ded", "--strategy", "exhaustive", "--time-limit", "0.2"), 3, "error"),
    ],
    ids=str,
)
def test_the_flag_writes_a_file_beside_the_text(
    arguments: tuple[str, ...], code: int, tag: str, tmp_path: Path
) -> None:
    file = tmp_path / "clew.xml"
    program, *options = arguments
    done = clew_command("check", f"examples/{program}", *options, "--junit", str(file))
    assert (done.returncode, done.stderr) == (code, "")
    (case,) = suite_of(file.read_text(encoding="utf-8"))
    assert (case.get("classname"), case[0].tag) == (f"examples/{program}", tag)
    assert (case[0].text or "").splitlines()[0] == done.stdout.splitlines()[0]


def test_json_and_junit_together(tmp_path: Path) -> None:
    both = ("--json", str(tmp_path / "v.json"), "--junit", str(tmp_path / "v.xml"))
    done = clew_command("check", "examples/kafka.ded", *both)
    assert done.returncode == 1 and done.stdout.startswith("COUNTEREXAMPLE")
    assert f'"format": "{verdict_document(kafka())["format"]}"' in (tmp_path / "v.json").read_text(
        encoding="utf-8"
    )
    assert len(suite_of((tmp_path / "v.xml").read_text(encoding="utf-8"))) == 1
    done = clew_command("check", "examples/kafka.ded", "--json", "-", "--junit", str(tmp_path / "w.xml"))
    assert done.stdout.startswith('{\n  "format"')
    assert len(suite_of((tmp_path / "w.xml").read_text(encoding="utf-8"))) == 1


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("missing/out.xml", "error: missing/out.xml cannot be written"),
        (".", "error: . cannot be written"),
        ("", "error: the empty path cannot be written"),
        ("-", "error: --junit writes a file, not standard output"),
    ],
)
def test_a_path_that_cannot_be_written_is_refused_before_the_search(path: str, says: str, tmp_path: Path) -> None:
    program = str(ROOT / "examples" / "ack-deliv.ded")
    done = clew_command("check", program, "--strategy", "exhaustive", "--junit", path, cwd=tmp_path, seconds=30)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(says)
    assert "\n  remedy: give a path" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_warnings_about_the_program_are_in_the_document() -> None:
    program = clew.parse_program(RELATIONS + "miine(X) :- mine(X);")
    verdict = clew.check(program, nodes=["a", "b"], eot=3, eff=2)
    suite = suite_of(junit_xml(verdict, ["p.ded"]))
    assert "nothing reads 'miine'" in suite.findtext("system-err", "")
