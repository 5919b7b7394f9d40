"""What is told of tests of models: the table, JUnit, the page, and that names are only names there."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import jsonschema

from clew.errors import Notice
from clew.expectation import Expectation
from clew.faults import FailureSpec
from clew.model_tests.model import Kind, Model, ModelOutcome, Status
from clew.model_tests.result import ModelTests
from clew.report.model_tests.renderer import junit, page, text
from clew.report.renderers import PageOptions
from command import ROOT

SCHEMA = json.loads((ROOT / "docs" / "results.schema.json").read_text(encoding="utf-8"))
SPEC = FailureSpec(("a", "b"), 4, 2, 1, 0)
CERTIFIED, TWO = Expectation("certified"), Expectation("counterexample", 2)
SCENARIO = Model("s.py:s", Kind.SCENARIO, Expectation("no violation"), runs=20, seed=5)

OUTCOMES = (
    ModelOutcome(Model("a.ded", Kind.DEDALUS, CERTIFIED), Status.AS_EXPECTED, "certified", spec=SPEC),
    ModelOutcome(Model("b.ded", Kind.DEDALUS, TWO), Status.DIFFERS, "counterexample", 1, SPEC),
    ModelOutcome(
        Model("b.py:B", Kind.BLOOM, CERTIFIED), Status.INCOMPLETE, "incomplete", None, SPEC, reason="late"
    ),
    ModelOutcome(Model("c.py", Kind.PYTHON), Status.FAILED, reason="c.py:1: no", remedy="mend it", printed="so\n"),
    ModelOutcome(Model("d.ded", Kind.DEDALUS), Status.NO_EXPECTATION),
    ModelOutcome(Model("e.ded", Kind.DEDALUS), Status.NO_EXPECTATION, "counterexample", 3, SPEC),
    ModelOutcome(SCENARIO, Status.DIFFERS, "violation", runs=3, reason="locks: two hold it"),
    ModelOutcome(Model("-f g.ded", Kind.DEDALUS, CERTIFIED), Status.BROKEN, reason="KeyError"),
)
TESTS = ModelTests((".",), OUTCOMES, None, (Notice("a link is not followed"),))

TABLE = """\
             model     expected                  got                       within
ok           a.ded     certified                 certified                 EOT 4, EFF 2, 1 crash, 2 nodes
DIFFERS      b.ded     counterexample, 2 faults  counterexample, 1 fault   EOT 4, EFF 2, 1 crash, 2 nodes
             see: clew check b.ded
INCOMPLETE   b.py:B    certified                 incomplete                EOT 4, EFF 2, 1 crash, 2 nodes
             late
             see: clew check b.py:B
FAILED       c.py      not known                 no answer
             c.py:1: no
             remedy: mend it
             see: clew check c.py
-            e.ded     no expectation            counterexample, 3 faults  EOT 4, EFF 2, 1 crash, 2 nodes
             to expect that: //! expect=counterexample faults=3
DIFFERS      s.py:s    no violation              violation                 in the run with seed 7
             locks: two hold it
             see: clew fuzz s.py:s --seed 5 --runs 20
CLEW FAILED  -f g.ded  certified                 no answer
             KeyError
             see: clew check './-f g.ded'
no expectation, and passed over (1; --all checks them, too):
  d.ded
CLEW FAILED: 5 of 6 models are not as expected (2 differ, 1 failed, 1 is incomplete, 1 made Clew fail).
"""


def test_the_table() -> None:
    assert text(TESTS) == TABLE
    assert str(TESTS) == TABLE.rstrip("\n")


def test_the_last_line_says_what_ended_it() -> None:
    one = ModelOutcome(
        Model("a.ded", Kind.DEDALUS, CERTIFIED), Status.INCOMPLETE, reason="not checked: interrupted"
    )
    tests = ModelTests((".",), (OUTCOMES[0], one), "interrupted")
    last = "INCOMPLETE: interrupted; 1 of 2 models is not as expected (1 is incomplete)."
    assert text(tests).splitlines()[-1] == last
    assert text(ModelTests((".",), OUTCOMES[:1])).splitlines()[-1] == "AS EXPECTED: 1 model."
    nothing = "INCOMPLETE: no model states an expectation, so that nothing was compared."
    assert text(ModelTests((".",), OUTCOMES[5:6])).splitlines()[-1] == nothing


def test_the_json_keeps_to_its_schema() -> None:
    document = json.loads(TESTS.to_json())
    jsonschema.validate(document, SCHEMA)
    assert (document["format"], document["verdict"], document["exit_code"]) == ("clew test", "clew failed", 4)
    assert [model["status"] for model in document["models"]] == [outcome.status.value for outcome in OUTCOMES]
    assert document["models"][1]["expected"] == {"verdict": "counterexample", "faults": 2}
    assert document["warnings"] == ["warning: a link is not followed"]


def test_junit_has_a_case_for_each_model() -> None:
    (suite,) = ElementTree.fromstring(junit(TESTS))
    counts = {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "8", "failures": "3", "errors": "2", "skipped": "2"}
    cases = {
        (case.get("classname"), case.get("name")): [part.tag for part in case] for case in suite.iter("testcase")
    }
    assert cases[("a.ded", "model")] == ["system-out"]
    assert cases[("b.ded", "model")] == ["failure"]
    assert cases[("b.py", "B")] == ["error"]
    assert cases[("c.py", "model")] == ["failure"]
    assert cases[("d.ded", "model")] == ["skipped"]
    (failed, *_) = suite.iter("failure")
    assert failed.get("message") == "expected counterexample, 2 faults; got counterexample, 1 fault"
    assert "see: clew check b.ded" in (failed.text or "")


def test_names_and_what_is_printed_are_text_everywhere() -> None:
    name = "<b>\x1b[31m&\n.ded"
    bad = ModelOutcome(Model(name, Kind.DEDALUS, TWO), Status.FAILED, reason="<i>\x07", printed="<script>\x00")
    tests = ModelTests((name,), (bad,))
    shown = page(tests, PageOptions())
    assert "<b>" not in shown
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown
    assert "\x1b" not in text(tests)
    assert len(text(tests).splitlines()) == 5
    (suite,) = ElementTree.fromstring(junit(tests))
    assert (suite[0].get("classname") or "").startswith("<b>\\x1b[31m&")


def test_the_page_has_every_model() -> None:
    shown = page(TESTS, PageOptions())
    for outcome in OUTCOMES:
        assert f"<td>{outcome.model.name}</td>" in shown
    assert '<td class="bad">DIFFERS</td>' in shown
    assert "<pre>so\n</pre>" in shown
    assert "script-src" not in shown
