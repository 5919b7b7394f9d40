"""``clew export``: from every document that tells of an execution, and from no other; and ``clew.export``."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import clew as library
from clew.errors import UsageError
from clew.report.export import opening
from clew.report.export.formats.table import FORMATS
from clew.report.injected import executed
from clew.report.injected.formats import VERDICT_FORMAT
from clew.report.simulated import explored, fuzzed, minimized
from clew.report.verdict.renderer import RUN_FORMAT
from cli.in_process import run_clew
from command import ROOT, clew

#: A message is sent once, at time 1.
ONCE = """\
//! nodes=a,b eot=3 eff=2
want(a, b); first(a)@1; want(X, Y)@next :- want(X, Y); got(Y)@next :- got(Y);
got(Y)@async :- want(X, Y), first(X); pre(Y) :- want(_, Y); post(Y) :- got(Y);
"""
#: The counterexample of this.
LOST = """\
sequenceDiagram
    %% p.ded
    %% O(a,b,1): the message from a to b at time 1 is lost
    %% violates pre(b)
    participant p1 as a
    participant p2 as b
    Note over p1,p2: time 1
    p1--xp2: got (O(a,b,1))
    Note over p1,p2: time 3
    Note over p2: violation: pre(b)
"""
#: Two violations, each at a node of its own; and none.
TWO = """\
from clew.simulation import *

class Calm(Node):
    def on_message(self, ctx, sender, message):
        pass

class Raising(Node):
    def on_message(self, ctx, sender, message):
        raise ValueError(ctx.me)

SENT = [Send("a", "now"), Send("b", "now")]
raising = Scenario(nodes={"a": Raising, "b": Raising}, running=["a", "b"], before=SENT)
calm = Scenario(nodes={"a": Calm, "b": Calm}, running=["a", "b"], before=SENT)
"""
LOCK, LEASED = "lock/lock.py:three_hasty", "replication/replication.py:lossy"
GRANTED = "    p4->>p2: Grant\n    Note over p1: violation: mutual exclusion\n"

#: How each document is written, and how its export ends.
DOCUMENTS = {
    "verdict.json": ("check", "p.ded", "--json"),
    "run.json": ("run", "p.ded", "--lose", "a,b,1", "--json"),
    "rec.json": ("fuzz", "lock/lock.py:hasty", "-o"),
    "fuzz.json": ("fuzz", "lock/lock.py:hasty", "--json"),
    "explore.json": ("explore", LOCK, "--json"),
    "all.json": ("explore", "two.py:raising", "--all", "--json"),
    "found.json": ("explore", LOCK, "-o"),
    "code-check.json": ("check", LEASED, "--losses", "3", "--crashes", "1", "--json"),
    "code-run.json": ("run", LEASED, "--json"),
    "none.json": ("explore", "two.py:calm", "--json"),
    "certified.json": ("check", "p.ded", "--eff", "0", "--json"),
}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The documents, with what they were made of."""
    folder = tmp_path_factory.mktemp("export")
    for name in ("lock", "replication"):
        shutil.copytree(ROOT / "examples" / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "p.ded").write_text(ONCE, encoding="utf-8")
    (folder / "two.py").write_text(TWO, encoding="utf-8")
    for name, words in DOCUMENTS.items():
        done = clew(*words, name, cwd=folder)
        assert done.returncode in (0, 1), done.stderr
    return folder


def exported(folder: Path, *words: str, format: str = "mermaid") -> str:
    done = clew("export", *words, "--format", format, cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def refused(folder: Path, *words: str) -> str:
    done = clew("export", *words, "--format", "mermaid", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    return done.stderr


def change(folder: Path, name: str, place: str, value: Any) -> None:
    """Change a field of a document, at a place such as ``spec.eot``."""
    document = json.loads((folder / name).read_text(encoding="utf-8"))
    *path, last = place.split(".")
    part = document
    for step in path:
        part = part[int(step) if step.isdigit() else step]
    part[last] = value
    (folder / "changed.json").write_text(json.dumps(document), encoding="utf-8")


# -- what is exported --------------------------------------------------------------------------------------------


def test_a_verdict_and_a_run_of_a_model(written: Path) -> None:
    assert exported(written, "verdict.json") == exported(written, "run.json") == LOST


def test_an_exploration_and_its_recording(written: Path) -> None:
    text = exported(written, "explore.json")
    assert text == exported(written, "found.json")
    assert text.endswith(f"{GRANTED}    Note over p2: violation: mutual exclusion\n")
    golden = (ROOT / "tests" / "report" / "export" / "golden" / "lock.mermaid").read_text(encoding="utf-8")
    assert text == golden.replace("examples/", "")
    for number in "12":
        last = exported(written, "all.json", "--counterexample", number).splitlines()[-1]
        assert last == f"    Note over p{number}: violation: no uncaught exception"


def test_a_random_run_and_its_recording(written: Path) -> None:
    for format in FORMATS:
        assert exported(written, "fuzz.json", format=format) == exported(written, "rec.json", format=format)


#: What breaks depends on what is drawn, and comes after more steps than the scenario has.
DRAWN = """\
from clew.simulation import *

class Drawing(Node):
    def on_start(self, ctx):
        self.drawn, self.steps = ctx.random.randint(0, 9), 0
        ctx.set_timer("tick")

    def on_timer(self, ctx, name):
        self.steps += 1
        ctx.set_timer(name)

def never_three(nodes):
    return "three" if any(node.drawn == 3 for node in nodes.values()) else None

def few_steps(nodes):
    return "many" if any(node.steps > 9 for node in nodes.values()) else None

drawing = Scenario(nodes={"a": Drawing}, before=[Start("a")], invariants=[never_three], steps=5)
stepping = Scenario(nodes={"a": Drawing}, before=[Start("a")], invariants=[few_steps], steps=5)
"""


@pytest.mark.parametrize(
    "command",
    [
        ["fuzz", "drawn.py:stepping", "--runs", "1", "--steps", "20"],
        ["explore", "drawn.py:drawing", "--seed", "{seed}"],
        ["explore", "lease.py:small_drifting", "--latencies", "2"],
    ],
)
def test_a_document_says_with_which_options_it_came_about(tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "drawn.py").write_text(DRAWN)
    shutil.copy(ROOT / "examples" / "lease" / "lease.py", tmp_path)
    # Whatever Python draws from a seed: one that breaks it, and it is not the usual one.
    seed = next(n for n in range(1, 99) if library.fuzz(f"{tmp_path}/drawn.py:drawing", seed=n, runs=1).recording)
    given = [part.format(seed=seed) for part in command]
    assert run_clew(tmp_path, [*given, "--json", "found.json"]).code == 1
    shown = run_clew(tmp_path, ["export", "found.json", "--format", "mermaid", "--in-process"])
    assert shown.code == 0, shown.err


def test_runs_of_code_under_faults(written: Path) -> None:
    found = exported(written, "code-check.json", format="shiviz")
    assert found.count(" (lost)") == 2 and "\nstop a\n" in found
    assert " (lost)" not in exported(written, "code-run.json", format="shiviz")


def test_a_file_is_written_whole_and_named(written: Path, tmp_path: Path) -> None:
    done = clew("export", "verdict.json", "--format", "mermaid", "-o", str(tmp_path / "x.mmd"), cwd=written)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == f"the execution (mermaid) is in {tmp_path / 'x.mmd'}\n"
    assert (tmp_path / "x.mmd").read_text(encoding="utf-8") == LOST
    nowhere = clew("export", "verdict.json", "--format", "mermaid", "-o", "no/x", cwd=written)
    assert (nowhere.returncode, nowhere.stdout) == (2, "")


def test_the_same_bytes_under_any_hash_seed(written: Path) -> None:
    words = ("export", "found.json", "--format", "itf")  # in which there are sets
    one, other = (clew(*words, cwd=written, PYTHONHASHSEED=seed) for seed in "12")
    assert one.stdout == other.stdout != ""


def test_what_code_prints_is_no_part_of_it(written: Path, tmp_path: Path) -> None:
    loud = (written / "lock" / "lock.py").read_text(encoding="utf-8") + "\nprint('loud')\n"
    (tmp_path / "lock.py").write_text(loud, encoding="utf-8")
    assert clew("fuzz", "lock.py:hasty", "-o", "rec.json", cwd=tmp_path).returncode == 1
    done = clew("export", "rec.json", "--format", "mermaid", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "loud\n")
    assert done.stdout.startswith("sequenceDiagram\n")


def test_the_last_event_of_a_run_that_ends_its_process_is_not_performed(tmp_path: Path) -> None:
    deadly = """\
import os
from clew.simulation import *

class Deadly(Node):
    def on_message(self, ctx, sender, message):
        if sender:
            os._exit(7)
        ctx.send("b", message)

scenario = Scenario(nodes={"a": Deadly, "b": Deadly}, running=["a", "b"], before=[Send("a", "now")])
"""
    (tmp_path / "s.py").write_text(deadly, encoding="utf-8")
    assert clew("fuzz", "s.py", "-o", "rec.json", "--json", "fuzz.json", cwd=tmp_path).returncode == 1
    text = exported(tmp_path, "rec.json")
    assert text.splitlines()[-2:] == [
        "    p1--)p2: str (still under way)",
        "    Note over p2: violation: the process goes on",
    ]
    assert "fuzz.json: is of a run that ends its process" in refused(tmp_path, "fuzz.json")


# -- what is refused ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "message", "remedy"),
    [
        (("certified.json",), "the verdict is 'certified', and there is no execution", "clew run FILE --json"),
        (("none.json",), "the answer is 'all explored', and there is no execution", "recorded with -o FILE"),
        (("p.ded",), "not JSON", "docs/json.md"),
        (("nothing.json",), "no such file", "write it first"),
        (("verdict.json", "--counterexample", "2"), "there is no counterexample 2", "leave the number out"),
        (("run.json", "--counterexample", "0"), "there is no counterexample 0", "leave the number out"),
        (("explore.json", "--counterexample", "-1"), "there is no violation -1", "leave the number out"),
        (("rec.json", "lock/lock.py:hasty", "lock/lock.py"), "2 files are given", "name that, or nothing"),
        (("rec.json", "replication/replication.py:lossy"), "this is a recording of other code", "record again"),
    ],
)
def test_what_has_no_execution_or_not_that_one(
    written: Path, words: tuple[str, ...], message: str, remedy: str
) -> None:
    said = refused(written, *words)
    assert message in said and remedy in said.partition("\n  remedy: ")[2]


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("clew minimize", "clew minimize REC.json -o MIN.json"),
        ("clew grid", "check one setting"),
        ("clew verification", "a proof says that no execution breaks it"),
        ("something else", "clew verdict, clew run, clew-recording"),
    ],
)
def test_other_documents_are_refused_with_what_they_are(tmp_path: Path, kind: str, said: str) -> None:
    (tmp_path / "x.json").write_text(json.dumps({"format": kind}), encoding="utf-8")
    told = refused(tmp_path, "x.json")
    assert told.startswith(f"error: x.json: is a '{kind}', which has no execution to export\n  remedy: ")
    assert said in told


def test_the_table_names_documents_as_those_who_write_them() -> None:
    modules = (fuzzed, explored, executed)
    assert {module.FORMAT for module in modules} | {RUN_FORMAT, VERDICT_FORMAT} < set(opening._READERS)
    assert minimized.FORMAT in opening._OTHERS


@pytest.mark.parametrize(
    ("name", "place", "value", "said"),
    [
        ("run.json", "version", 2, "reads version 1"),
        ("run.json", "spec.eot", 2, "tables.first: expected a list of rows for each of the 2 times, found a list"),
        ("run.json", "messages.0.arrived", 1, "messages[0].arrived: expected an integer from 2 to 3"),
        ("run.json", "messages.0.sent", 4, "messages[0].sent: expected an integer from 1 to 3"),
        ("run.json", "tables.got", 5, "tables.got: expected a list, found 5"),
        ("run.json", "faults.losses", [["a", "b"]], "faults.losses[0]: expected [from, to, time]"),
        ("run.json", "violated.0.row", "b", "violated[0].row: expected a list"),
        (
            "verdict.json",
            "counterexamples.0.losses",
            [["b", "a", 1]],
            "pre(b) was violated under O(b,a,1), and now nothing is",
        ),
        ("fuzz.json", "seed", 1, "executed again, it comes to something else"),
        ("fuzz.json", "seed", "x", "seed: expected an integer"),
        ("fuzz.json", "version", 2, "reads version 1"),
        ("explore.json", "violations.0.schedule", [], "executed again, it comes to something else"),
        ("all.json", "violations.0.schedule", [], "executed again, it comes to something else"),
        ("explore.json", "bounds.timers", 0, "executed again, it comes to something else"),
        ("code-run.json", "deliveries", 1, "executed again, it comes to something else"),
        ("code-check.json", "counterexample.faults.0.flag", "--x a", "flag: expected one of --lose"),
        ("code-check.json", "counterexample.faults", [], "executed again, it comes to something else"),
        ("code-check.json", "bounds.until", -1, "bounds.until: expected a number of seconds, larger than 0"),
    ],
)
def test_a_document_that_was_changed(written: Path, name: str, place: str, value: Any, said: str) -> None:
    change(written, name, place, value)
    assert said in refused(written, "changed.json")


@pytest.mark.parametrize("name", [name for name in DOCUMENTS if name not in ("none.json", "certified.json")])
def test_a_document_without_one_of_its_fields(written: Path, name: str) -> None:
    """Most are needed; what is only told in a document need not be there."""
    told = []
    whole = json.loads((written / name).read_text(encoding="utf-8"))
    for path in fields(whole):
        without = copy.deepcopy(whole)
        part = without
        for step in path[:-1]:
            part = part[step]
        del part[path[-1]]
        (written / "without.json").write_text(json.dumps(without), encoding="utf-8")
        done = run_clew(written, ["export", "without.json", "--format", "mermaid", "--in-process"])
        assert done.code in (0, 2), (path, done.err)
        if f"the field '{path[-1]}' is missing" in done.err:
            told.append(path[-1])
    assert {"version", "scenario"} & {*told} or {"files", "spec"} & {*told}


def fields(part: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the places of the fields of a document, and of the first item of each of its lists."""
    if isinstance(part, dict):
        for name, value in part.items():
            yield (*path, name)
            yield from fields(value, (*path, name))
    elif isinstance(part, list) and part:
        yield from fields(part[0], (*path, 0))


@pytest.mark.parametrize("name", ["verdict.json", "fuzz.json", "explore.json", "code-check.json", "rec.json"])
def test_what_a_document_names_is_read_only_below_the_working_directory(written: Path, name: str) -> None:
    elsewhere = written / "elsewhere"
    elsewhere.mkdir(exist_ok=True)
    document = json.loads((written / name).read_text(encoding="utf-8"))
    where = "files" if name == "verdict.json" else "scenario"
    given = document[where][0] if where == "files" else document[where]
    document[where] = [f"../{given}"] if where == "files" else f"../{given}"
    (elsewhere / "x.json").write_text(json.dumps(document), encoding="utf-8")
    assert "is not below the working directory" in refused(elsewhere, "x.json")
    full = f"../{given}" + (f":{document['name']}" if name == "rec.json" else "")
    assert exported(elsewhere, "x.json", full)


def test_a_changed_scenario_is_not_executed(written: Path, tmp_path: Path) -> None:
    shutil.copytree(written, tmp_path, dirs_exist_ok=True)
    with (tmp_path / "lock" / "lock.py").open("a", encoding="utf-8") as file:
        file.write("\nraise SystemExit('executed')\n")
    assert "has changed since" in refused(tmp_path, "rec.json")


# -- from Python -------------------------------------------------------------------------------------------------


def test_results_are_exported_as_their_documents_are(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(written)
    assert library.export("verdict.json", "mermaid") == LOST
    assert library.export(library.check("p.ded"), "mermaid") == LOST
    assert library.export(library.run("p.ded", [library.Loss("a", "b", 1)]), "mermaid") == LOST
    assert library.export(library.replay_verdict("verdict.json"), "mermaid") == LOST
    lost = library.explore(LOCK)
    text = exported(written, "found.json")
    assert library.export(lost, "mermaid") == text
    assert lost.recording is not None
    assert library.export(lost.recording, "mermaid") == text
    assert library.export(library.replay("found.json"), "mermaid") == text
    every = library.explore("two.py:raising", stop_at_first=False)
    second = exported(written, "all.json", "--counterexample", "2")
    assert library.export(every, "mermaid", counterexample=2) == second
    fuzz = library.fuzz("lock/lock.py:hasty")
    assert library.export(fuzz, "itf") == exported(written, "rec.json", format="itf")
    run = library.run_scenario(LEASED)
    assert library.export(run, "otlp", to="x.json") == exported(written, "code-run.json", format="otlp")
    assert Path("x.json").read_text(encoding="utf-8") == library.export("code-run.json", "otlp")
    checked = library.check_scenario(LEASED, losses=3, crashes=1)
    assert library.export(checked, "shiviz") == exported(written, "code-check.json", format="shiviz")


def test_results_without_an_execution(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(written)
    for result in (
        library.check("p.ded", eff=0),
        library.explore("two.py:calm"),
        library.fuzz("two.py:calm", runs=1),
    ):
        with pytest.raises(UsageError, match="there is no execution to export"):
            library.export(result, "mermaid")
    with pytest.raises(UsageError, match="a GridResult is of no single execution"):
        library.export(library.check_grid("p.ded", {"eff": [0]}), "itf")
    with pytest.raises(UsageError, match="there is no counterexample 2"):
        library.export(library.check("p.ded"), "mermaid", counterexample=2)


def test_a_bloom_program(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples" / "bloom", tmp_path / "bloom")
    name = "bloom/checked_delivery.py:BestEffort"
    done = run_clew(tmp_path, ["check", name, "--json", "v.json"])
    assert done.code == 1
    text = exported(tmp_path, "v.json")
    assert text.splitlines()[1] == "    %% bloom/checked_delivery.py:BestEffort"
    assert "violation: pre(1, hello)" in text
