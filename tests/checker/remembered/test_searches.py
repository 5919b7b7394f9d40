"""Searches that go on from a checkpoint come to what they would have come to: the law, on generated programs."""

from __future__ import annotations

import json
import sys
import tempfile
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from clew.checker.api import check
from clew.checker.result import Verdict
from clew.dedalus.loader import parse_program
from clew.dedalus.printer import print_program
from clew.errors import ClewError, UsageError
from clew.files.checkpoints import Checkpoint
from clew.program.ir import Program
from clew.report.verdict.document import to_json
from command import ROOT
from generators import program_nodes, programs
from interrupted import Deadly, KilledError, forge, killed_and_continued, opportunities

EXAMPLES = ROOT / "examples"
BLOOM = EXAMPLES / "bloom"


def answer(verdict: Verdict) -> tuple[object, ...]:
    """All that is ever told of a verdict, but for the time it took."""
    lines = [line for line in to_json(verdict, ()).splitlines() if '"seconds"' not in line]
    return lines, verdict.executions, verdict.notices, verdict.swept, verdict.certified, verdict.candidates


def refuse_difference(source: Program | Path, share: float, folder: Path, **how: object) -> int:
    """Kill the search at this share of its opportunities to save; return how many there are."""

    def search(checkpoint: Checkpoint | None) -> tuple[object, ...]:
        return answer(check(source, checkpoint=checkpoint, **how))  # type: ignore[arg-type]

    expected = search(None)
    times = opportunities(folder / "counted", search)
    if times:
        at = max(1, round(share * times))
        assert killed_and_continued(folder / "ck", search, at) == expected
    return times


@given(st.data())
@settings(max_examples=30)
def test_any_prefix_leads_to_the_same(data: st.DataObject) -> None:
    program = data.draw(programs())
    note(print_program(program))
    how: dict[str, object] = data.draw(
        st.sampled_from(
            [
                {"strategy": "exhaustive"},
                {"strategy": "exhaustive", "find_all": True, "symmetry": True},
                {"strategy": "lineage"},
                {"strategy": "lineage", "find_all": True},
                {"strategy": "lineage", "find_all": True, "symmetry": True},
                {"strategy": "lineage", "negation": "conservative"},
                {"strategy": "random", "max_runs": 20, "seed": 3},
            ]
        )
    )
    bounds: dict[str, object] = {"nodes": program_nodes(program), "eot": 3, "eff": 2, "crashes": 1, "max_runs": 60}
    with tempfile.TemporaryDirectory() as folder:
        refuse_difference(program, data.draw(st.floats(0, 1)), Path(folder), **(bounds | how))


@given(st.data())
@settings(max_examples=20)
def test_any_prefix_of_a_sweep_leads_to_the_same(data: st.DataObject) -> None:
    program = data.draw(programs())
    note(print_program(program))
    strategy = data.draw(st.sampled_from(["exact", "lineage", "exhaustive"]))
    how = {"nodes": program_nodes(program), "crashes": 1, "strategy": strategy, "effort": 0.005}
    with tempfile.TemporaryDirectory() as folder:
        try:
            refuse_difference(program, data.draw(st.floats(0, 1)), Path(folder), **how)
        except ClewError as error:
            assert "does not belong" not in error.message


@pytest.mark.parametrize(
    ("name", "how", "least"),
    [
        ("3pc", {"strategy": "lineage", "find_all": True, "eff": 6}, 50),
        ("redun-deliv", {"strategy": "lineage", "symmetry": True, "eot": 6, "eff": 4, "crashes": 2}, 5),
        ("2pc", {"strategy": "exhaustive", "find_all": True, "eot": 5, "eff": 2, "crashes": 1}, 100),
        ("redun-deliv", {"strategy": "exact", "effort": 0.02}, 10),
        ("redun-deliv", {"strategy": "lineage", "effort": 0.02}, 10),
        ("retry-deliv", {"strategy": "exact", "effort": 0.02, "find_all": True}, 5),
    ],
)
def test_examples(tmp_path: Path, name: str, how: dict[str, object], least: int) -> None:
    """With counterexamples, with certificates, and with as much to remember."""
    assert refuse_difference(EXAMPLES / f"{name}.ded", 0.7, tmp_path, **how) >= least


def saved(file: Path, source: Path | str, **how: object) -> bytes:
    """Leave a checkpoint behind, of the first execution."""
    with pytest.raises(KilledError):
        check(source, checkpoint=Deadly(file, 1), **how)  # type: ignore[arg-type]
    return file.read_bytes()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"strategy": "lineage"}, '--strategy was "exhaustive", and is "lineage"'),
        ({"eot": 6}, "EOT was 5, and is 6"),
        ({"eff": 3}, "EFF was 2, and is 3"),
        ({"crashes": 2}, "crashes was 1, and is 2"),
        ({"delays": 1}, "delays was 0, and is 1"),
        ({"nodes": ["C", "a", "b"]}, "the nodes was"),
        ({"find_all": True}, "--all was false, and is true"),
        ({"symmetry": True}, "--symmetry was false, and is true"),
        ({"max_runs": 5}, "--max-runs was null, and is 5"),
    ],
)
def test_other_options_are_refused(tmp_path: Path, changed: dict[str, object], message: str) -> None:
    how = {"strategy": "exhaustive", "eot": 5, "eff": 2}
    before = saved(tmp_path / "ck", EXAMPLES / "3pc.ded", **how)
    with pytest.raises(UsageError) as refused:
        check(EXAMPLES / "3pc.ded", checkpoint=tmp_path / "ck", **{**how, **changed})  # type: ignore[arg-type]
    assert message in refused.value.message
    assert (tmp_path / "ck").read_bytes() == before


def test_a_changed_program_is_refused(tmp_path: Path) -> None:
    program = tmp_path / "p.ded"
    text = (EXAMPLES / "simple-deliv.ded").read_text(encoding="utf-8")
    text = text.replace('include "assertions', f'include "{EXAMPLES}/assertions')
    program.write_text(text, encoding="utf-8")
    saved(tmp_path / "ck", program, strategy="lineage")
    program.write_text(text + 'bcast("b", 2)@1;\n', encoding="utf-8")
    with pytest.raises(UsageError, match="the program has changed since"):
        check(program, strategy="lineage", checkpoint=tmp_path / "ck")


def test_a_program_that_keeps_something_else_is_refused(tmp_path: Path) -> None:
    """What is durable stands in no clause, and decides what a restart does."""
    program = tmp_path / "p.ded"
    text = (EXAMPLES / "raft-vote.ded").read_text(encoding="utf-8")
    program.write_text(text.replace("durable elected;", "durable elected, voted;"), encoding="utf-8")
    saved(tmp_path / "ck", program, strategy="lineage")
    program.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match="the program has changed since"):
        check(program, strategy="lineage", checkpoint=tmp_path / "ck")


def test_changed_code_of_a_bloom_program_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a function does is not in the rules."""
    for file in BLOOM.glob("*.py"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
        monkeypatch.delitem(sys.modules, file.stem, raising=False)  # that of the examples, from another test
    where = f"{tmp_path}/checked_delivery.py:Reliable"
    saved(tmp_path / "ck", where, strategy="lineage")
    check(where, strategy="lineage", checkpoint=tmp_path / "ck")
    saved(tmp_path / "ck", where, strategy="lineage")
    with (tmp_path / "delivery.py").open("a", encoding="utf-8") as used:
        used.write("\n# changed\n")
    with pytest.raises(UsageError, match="the program has changed since"):
        check(where, strategy="lineage", checkpoint=tmp_path / "ck")


def test_what_is_remembered_wrongly_is_noticed(tmp_path: Path) -> None:
    """Numbers that fit the question but not the search; whoever makes such a file knows how to sign it."""
    for strategy, state in (
        ("exhaustive", {"runs": 1, "violating": [0]}),
        ("lineage", {"faults": [["crash", "a", 1]], "gates": [], "runs": [[[0], [], [], True]]}),
    ):
        file = tmp_path / strategy
        saved(file, EXAMPLES / "3pc.ded", strategy=strategy)
        forge(file, state)
        before = file.read_bytes()
        with pytest.raises(UsageError, match="the checkpoint does not belong to this search"):
            check(EXAMPLES / "3pc.ded", strategy=strategy, checkpoint=file)
        assert file.read_bytes() == before
    saved(tmp_path / "sweep", EXAMPLES / "2pc.ded", effort=0.02)
    (entry,) = json.loads((tmp_path / "sweep").read_bytes())["state"]["log"]
    forge(tmp_path / "sweep", {"log": [{**entry, "followed": [["loss", "C", "a", 1]]}]})
    with pytest.raises(UsageError, match="the checkpoint does not belong to this search"):
        check(EXAMPLES / "2pc.ded", effort=0.02, checkpoint=tmp_path / "sweep")


@pytest.mark.parametrize(
    ("strategy", "state", "message"),
    [
        ("exhaustive", {"runs": -1, "violating": []}, "runs: expected an integer"),
        ("exhaustive", {"runs": 2, "violating": [2]}, "violating[0]: expected an integer from 0 to 1"),
        ("exhaustive", {"runs": 2, "violating": [1, 0]}, "expected numbers of runs, in their order"),
        ("exhaustive", {"runs": 2}, "the field 'violating' is missing"),
        ("lineage", {"faults": [], "gates": [["all", 2]], "runs": []}, "gates[0][1]: expected an integer"),
        ("lineage", {"faults": [], "gates": [["+", 0]], "runs": []}, "gates[0][1]: expected an integer"),
        ("lineage", {"faults": [], "gates": [["all"]], "runs": []}, "expected a gate that is not there yet"),
        ("lineage", {"faults": [], "gates": [["sum", 1, [0], []]], "runs": []}, "gates[0]: expected a gate"),
        ("lineage", {"faults": [], "gates": [[]], "runs": []}, "gates[0]: expected a gate"),
        ("lineage", {"faults": [], "gates": [7], "runs": []}, "gates[0]: expected a list"),
        ("lineage", {"faults": [["loss", "a", "x", 1]], "gates": [], "runs": []}, "expected a node"),
        ("lineage", {"faults": [["loss", "a", "b", -1]], "gates": [], "runs": []}, "expected an integer"),
        ("lineage", {"faults": [["gone", "a"]], "gates": [], "runs": []}, "faults[0]: expected a fault"),
        ("lineage", {"faults": [], "gates": [], "runs": [[[], [999], [], True]]}, "expected an integer from 0"),
        ("lineage", {"faults": [], "gates": [], "runs": [[[], [], [[0, 2]], True]]}, "from 0 to 1"),
        ("lineage", {"faults": [], "gates": [], "runs": [[[], [], [], 1]]}, "expected true or false"),
    ],
)
def test_fields_are_checked(tmp_path: Path, strategy: str, state: object, message: str) -> None:
    saved(tmp_path / "ck", EXAMPLES / "3pc.ded", strategy=strategy, eot=5, eff=2)
    forge(tmp_path / "ck", state)
    with pytest.raises(UsageError) as refused:
        check(EXAMPLES / "3pc.ded", strategy=strategy, eot=5, eff=2, checkpoint=tmp_path / "ck")
    assert message in refused.value.message


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("examined", [0]),
        ("examined", [-1, 0]),
        ("answer", "incomplete"),
        ("answer", "certified"),
        ("counterexamples", [[[], []]]),
        ("counterexamples", [[[], [["x", [1.5]]]]]),
        ("runs", -1),
        ("executions", [[[], []]] * 1001),
        ("vacuous", 2),
        ("notices", [["x", None]]),
        ("notices", [["x", ["f", 0, 1], None]]),
        ("solver", [1, 2, 3]),
        ("effort", [1]),
        ("until", 3),
        ("states", "x" * 8),
        ("settled", 99),
        ("period", 0),
        ("followed", [["loss", "C", "a", 1]] * 2),
    ],
)
def test_fields_of_a_sweep_are_checked(tmp_path: Path, place: str, value: object) -> None:
    how = {"effort": 0.02, "strategy": "exact"}
    with pytest.raises(KilledError):
        check(EXAMPLES / "2pc.ded", checkpoint=Deadly(tmp_path / "ck", 2), **how)  # type: ignore[arg-type]
    log = json.loads((tmp_path / "ck").read_bytes())["state"]["log"]
    changed = [{**entry, place: value} if place in entry else entry for entry in log]
    assert changed != log
    forge(tmp_path / "ck", {"log": changed})
    with pytest.raises(UsageError, match="expected"):
        check(EXAMPLES / "2pc.ded", checkpoint=tmp_path / "ck", **how)  # type: ignore[arg-type]


def test_exact_search_has_nothing_to_save(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the exact strategy does not support --checkpoint"):
        check(EXAMPLES / "3pc.ded", checkpoint=tmp_path / "ck")


def test_a_limit_of_runs_is_an_answer(tmp_path: Path) -> None:
    """With the same options there is nothing to go on with."""
    program = parse_program('log(N,P)@next :- log(N,P); log("a", 1)@1; pre(P) :- log(_, P); post(P) :- log(_, P);')
    how = partial(check, program, nodes=["a", "b"], eot=4, eff=2, crashes=2, strategy="exhaustive", max_runs=3)
    assert answer(how(checkpoint=tmp_path / "ck")) == answer(how())
    assert not (tmp_path / "ck").exists()
