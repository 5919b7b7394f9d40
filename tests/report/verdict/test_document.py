"""The JSON of a verdict: what ``docs/verdict.schema.json`` promises for every example, and read back as it was."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import clew
from clew.checker.bounds import LONGEST_EXECUTION
from clew.checker.strategies import STRATEGIES
from clew.program.ir import LARGEST_NUMBER, SMALLEST_NUMBER
from clew.report.replay.reading import SavedVerdict, read_verdict
from clew.report.verdict.document import FORMAT, VERSION, to_json, verdict_document
from command import ROOT
from long_mode import first_of, pair_off

SCHEMA = json.loads((ROOT / "docs" / "verdict.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
EXAMPLES = sorted((ROOT / "examples").glob("*.ded"))

#: Enough executions to find something in some examples, and few enough to leave others incomplete.
RUNS = {"exact": None, "lineage": 20, "random": 20, "exhaustive": 20}

NODES = "link(1, 2); link(X, Y)@next :- link(X, Y); got(Y)@async :- link(X, Y); got(X)@next :- got(X);"


def kafka(**options: Any) -> clew.Verdict:
    return clew.check(ROOT / "examples" / "kafka.ded", **options)


def written(verdict: clew.Verdict, folder: Path, *files: str) -> Path:
    path = folder / "verdict.json"
    path.write_text(to_json(verdict, files), encoding="utf-8")
    return path


def assert_valid_and_read_back(verdict: clew.Verdict, folder: Path, *files: str) -> None:
    path = written(verdict, folder, *files)
    VALIDATOR.validate(json.loads(path.read_text(encoding="utf-8")))
    spec = verdict.spec
    assert read_verdict(path) == SavedVerdict(
        files,
        spec.nodes,
        spec.eot,
        spec.eff,
        spec.crashes,
        spec.delays,
        verdict.answer,
        verdict.counterexamples,
        verdict.candidates,
        spec.duplicates,
        spec.restarts,
        spec.pauses,
        spec.partitions,
        spec.stops,
        spec.inputs,
        verdict.lasting,
        params=verdict.program.params if verdict.program else (),
    )


def test_the_schema_is_a_schema_and_describes_every_field() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert all(field["description"] for field in SCHEMA["properties"].values())
    # What only programs with several promises have is left out of the others, and so is what is not asked for.
    further = {"answers", "lasting"}
    assert set(SCHEMA["required"]) == set(SCHEMA["properties"]) - further == set(verdict_document(kafka()))


def test_a_search_for_what_lasts(tmp_path: Path) -> None:
    found = clew.check(ROOT / "examples" / "dueling.ded", lasting=True)
    assert_valid_and_read_back(found, tmp_path)
    document = verdict_document(found)
    assert document["lasting"] is True
    assert document["counterexamples"][0]["duration"] == {
        "persistence": "lasting",
        "since": 1,
        "loop": {"time": 9, "period": 4, "grows": False},
        "followed": 22,
        "reason": None,
    }
    certified = clew.check(ROOT / "examples" / "dueling-backoff.ded", lasting=True)
    assert_valid_and_read_back(certified, tmp_path)
    assert (verdict_document(certified)["verdict"], verdict_document(certified)["lasting"]) == ("certified", True)


def test_the_schema_knows_the_names_and_limits_of_the_code() -> None:
    fields, shared = SCHEMA["properties"], SCHEMA["$defs"]
    assert (fields["format"]["const"], fields["version"]["const"]) == (FORMAT, VERSION)
    assert fields["strategy"]["enum"] == list(STRATEGIES)
    assert shared["answer"]["enum"] == [answer.value for answer in clew.Answer]
    assert shared["eot"]["maximum"] == LONGEST_EXECUTION
    assert (shared["value"]["minimum"], shared["value"]["maximum"]) == (SMALLEST_NUMBER, LARGEST_NUMBER)


SEARCHED = pair_off(EXAMPLES, list(STRATEGIES))


@pytest.mark.parametrize("chosen", first_of(SEARCHED, len(EXAMPLES)), ids=lambda c: f"{c[0].stem}-{c[1]}")
def test_every_example_under_every_strategy(chosen: tuple[Path, str], tmp_path: Path) -> None:
    path, strategy = chosen
    verdict = clew.check(path, strategy=strategy, max_runs=RUNS[strategy])
    assert_valid_and_read_back(verdict, tmp_path, str(path))


@pytest.mark.parametrize(
    "options",
    [
        {"find_all": True},
        {"effort": 1},
        {"effort": 0.003},
        {"effort": 0.000_1},
        {"sweep_seconds": 1},
        {"sweep_seconds": 0.001},
        {"time_limit": 0.000_001, "eff": 6},
        {"delays": 1, "eff": 0},
        {"eot": 3, "eff": 2},
        {"nodes": ["a", "b"]},
        {"pauses": 1, "partitions": 1, "duplicates": 1},
        {"crashes": 0, "stops": 1},
    ],
    ids=str,
)
def test_every_kind_of_verdict(options: dict[str, Any], tmp_path: Path) -> None:
    assert_valid_and_read_back(kafka(**options), tmp_path, "kafka.ded")


#: It recovers after 70 steps, longer than a sweep follows a run.
LATE = """
    peer(a, b); peer(X, Y)@next :- peer(X, Y); hello(a, b)@1;
    clock(a, 0); clock(X, T + 1)@next :- clock(X, T);
    got(Y, X)@async :- hello(X, Y); got(Y, X)@async :- peer(X, Y), clock(X, 70); got(X, Y)@next :- got(X, Y);
    pre(Y, X) :- peer(X, Y); post(X, Y) :- got(X, Y);
"""


def late() -> clew.Verdict:
    return clew.check(clew.parse_program(LATE), crashes=0)


def test_a_sweep_that_knows_only_candidates(tmp_path: Path) -> None:
    assert_valid_and_read_back(late(), tmp_path)
    document = verdict_document(late())
    assert (document["verdict"], document["counterexamples"]) == ("incomplete", [])
    assert document["candidates"] == [
        {
            "losses": [["a", "b", 1]],
            "crashes": [],
            "delays": [],
            "violated": [{"relation": "pre", "row": ["b", "a"]}],
            "duration": {
                "persistence": "open",
                "since": None,
                "loop": None,
                "followed": 28,
                "reason": "at time 28 it is still violated, and the run still changes",
            },
        }
    ]
    assert document["certified"] == {"eot": 2, "eff": 1}


def assert_reader_refuses_what_schema_refuses(document: Any, folder: Path) -> None:
    """Look at what the reader accepts: the schema must, too.  It takes ten times as long as the reader."""
    refused = []
    for mutant in mutants(document):
        if reads(mutant, folder):
            VALIDATOR.validate(mutant)
        else:
            refused.append(mutant)
    assert len(list(islice((mutant for mutant in refused if not VALIDATOR.is_valid(mutant)), 301))) > 300


def test_what_the_schema_refuses_of_candidates_is_refused_by_the_reader(tmp_path: Path) -> None:
    document = verdict_document(late(), ["late.ded"])
    assert_reader_refuses_what_schema_refuses(document, tmp_path)


def test_a_sweep_that_certified_says_why_it_went_no_further(tmp_path: Path) -> None:
    path = ROOT / "examples" / "ack-deliv.ded"
    verdict = clew.check(path, effort=0.01)
    assert_valid_and_read_back(verdict, tmp_path, str(path))
    document = verdict_document(verdict)
    assert document["certified"] == {"eot": document["spec"]["eot"], "eff": document["spec"]["eff"]}
    assert document["reason"].startswith("the effort of the sweep is used up at ")


def test_a_search_that_ends_before_the_nodes_are_known(tmp_path: Path) -> None:
    stopped = kafka(strategy="random", max_runs=1)
    nowhere = clew.FailureSpec((), eot=1, eff=7, crashes=2)
    assert_valid_and_read_back(replace(stopped, spec=nowhere), tmp_path)


def test_a_sweep_that_ends_before_it_begins(tmp_path: Path) -> None:
    verdict = clew.check(clew.parse_program(NODES), nodes=[1, 2], eff=9, sweep_seconds=0.000_001)
    assert (verdict.answer, verdict.spec.eot) == (clew.Answer.INCOMPLETE, 1)
    assert_valid_and_read_back(verdict, tmp_path)


def test_nodes_that_are_numbers_stay_numbers(tmp_path: Path) -> None:
    verdict = clew.check(clew.parse_program(NODES), eot=3, eff=3)
    assert verdict.counterexamples[0].faults == clew.FaultSet.of([clew.Loss(1, 2, 1), clew.Loss(1, 2, 2)])
    assert_valid_and_read_back(verdict, tmp_path)


def test_the_document_says_first_what_it_is_and_what_was_checked() -> None:
    document = verdict_document(kafka(), ["a.ded", "b.ded"])
    assert list(document.items())[:3] == [
        ("format", "clew verdict"),
        ("version", VERSION),
        ("files", ["a.ded", "b.ded"]),
    ]
    assert verdict_document(kafka())["files"] == []


def test_numbers_beyond_what_python_prints(tmp_path: Path) -> None:
    """Ten nodes and two hundred steps: the number of combinations has thousands of digits."""
    verdict = kafka(nodes=list("abcCZvwxy"), eot=200, eff=199, strategy="random", max_runs=1)
    assert verdict.combinations > 10**4300
    path = written(verdict, tmp_path)
    line = next(line for line in path.read_text(encoding="utf-8").splitlines() if "combinations" in line)
    digits = line.removeprefix('  "combinations": ').removesuffix(",")
    assert len(digits) > 4300 and digits.isdecimal()
    assert int(digits[-9:]) == verdict.combinations % 10**9
    assert read_verdict(path).spec == verdict.spec


@pytest.mark.parametrize("name", ["\udcff.ded", "é😀.ded", 'a "quoted"\\ name\n.ded'])
def test_any_file_name_can_be_written_and_read_back(name: str, tmp_path: Path) -> None:
    assert read_verdict(written(kafka(), tmp_path, name)).files == (name,)


# -- what the schema refuses -----------------------------------------------------------------------------------

Place = tuple[str | int, ...]

WRONG = ["", "x", -1, 0, 1.5, 10**40, True, None, [], ["x"], [[]], {}, {"x": 1}]


def places(value: Any, at: Place = ()) -> Iterator[Place]:
    """Every place of a document."""
    if at:
        yield at
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places(item, (*at, key))


def without(document: Any, place: Place) -> Any:
    changed, holder = _copied(document, place)
    del holder[place[-1]]
    return changed


def with_value(document: Any, place: Place, value: Any) -> Any:
    changed, holder = _copied(document, place)
    holder[place[-1]] = value
    return changed


def _copied(document: Any, place: Place) -> tuple[Any, Any]:
    """A copy of what holds the place; everything else is shared, since there are thousands of copies."""
    changed = holder = copy.copy(document)
    for key in place[:-1]:
        holder[key] = copy.copy(holder[key])
        holder = holder[key]
    return changed, holder


def mutants(document: Any) -> Iterator[Any]:
    for place in places(document):
        yield without(document, place)
        yield from (with_value(document, place, wrong) for wrong in WRONG)


def reads(document: Any, folder: Path) -> bool:
    path = folder / "mutant.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    try:
        read_verdict(path)
    except clew.UsageError as error:
        assert error.remedy and str(path) in error.message
        return False
    return True


@pytest.mark.parametrize(
    "options",
    first_of(
        [
            {},
            {"strategy": "random", "max_runs": 1},
            {"crashes": 0, "stops": 1},
            {"delays": 1, "eff": 0},
            {"eff": 1, "crashes": 0},
            {"eot": 3, "eff": 2},
            {"eff": 0},
            {"pauses": 1, "partitions": 1},
        ],
        3,
    ),
    ids=str,
)
def test_what_the_schema_refuses_is_refused_by_the_reader(options: dict[str, Any], tmp_path: Path) -> None:
    """One value wrong, everywhere: nothing slips through that the schema does not allow."""
    document = verdict_document(kafka(**options), ["kafka.ded"])
    document["sweep"] = [{"eot": 5, "eff": 2, "verdict": "certified"}]
    document["certified"] = {"eot": 5, "eff": 2}
    assert VALIDATOR.is_valid(document) and reads(document, tmp_path)
    assert_reader_refuses_what_schema_refuses(document, tmp_path)


@pytest.mark.parametrize(
    ("options", "place", "value"),
    [
        ({}, ("verdict",), "certified"),
        ({}, ("verdict",), "incomplete"),
        ({}, ("counterexamples",), []),
        ({}, ("spec", "nodes"), []),
        ({}, ("certified",), {"eot": 5, "eff": 2}),
        ({}, ("candidates",), verdict_document(kafka())["counterexamples"]),
        ({"effort": 0.005}, ("candidates",), verdict_document(kafka())["counterexamples"]),
        ({"strategy": "random", "max_runs": 1}, ("candidates",), verdict_document(kafka())["counterexamples"]),
        ({"eff": 1, "crashes": 0}, ("verdict",), "counterexample"),
        ({"eff": 1, "crashes": 0}, ("reason",), "because"),
        ({"eff": 1, "crashes": 0}, ("strategy",), "random"),
        ({"strategy": "random", "max_runs": 1}, ("reason",), None),
        ({"strategy": "random", "max_runs": 1}, ("verdict",), "certified"),
    ],
    ids=str,
)
def test_laws_between_fields(options: dict[str, Any], place: Place, value: Any, tmp_path: Path) -> None:
    document = verdict_document(kafka(**options))
    assert VALIDATOR.is_valid(document)
    broken = with_value(document, place, value)
    assert not VALIDATOR.is_valid(broken)
    assert not reads(broken, tmp_path)
