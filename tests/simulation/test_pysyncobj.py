"""PySyncObj in the simulation: executions that do not depend on the process, and what is known of each release."""

from __future__ import annotations

import dataclasses
import gzip
import os
import pickle
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pysyncobj import journal, serializer, syncobj
from pysyncobj.version import VERSION

from clew.simulation.fuzzing.random_run import Run, random_run
from clew.simulation.loading import load_scenario
from clew.simulation.values import canonical

FILE = Path(__file__).parents[2] / "examples" / "pysyncobj" / "pysyncobj_scenarios.py"

# Scenario, seed, invariant, what: the first run of each kind that breaks something, by release.
FOUND = {
    "0.3.14": [
        ("cluster", 0, "election safety", "d and b both led term 1"),
        ("cluster", 12, "state-machine safety", "in place 4, d applied 563 and a 456"),
        ("cluster", 52, "no uncaught exception", "AssertionError (in Wire.receive)"),
        ("uncrashed", 21, "state-machine safety", "in place 12, a applied 721 and b 782"),
        ("dump", 1, "durability", "c had entries up to 35, and then up to 31"),
    ],
    "0.3.17": [
        ("compaction", 6, "state-machine safety", "in place 11, d applied 236 and a 264"),
        ("uncrashed", 21, "state-machine safety", "in place 12, a applied 721 and b 782"),
        ("dump", 2, "durability", "b had entries up to 17, and then up to 16"),
    ],
}

known_release = pytest.mark.skipif(VERSION not in FOUND, reason=f"nothing is written down about {VERSION}")


def run_of(name: str, seed: int, **changes: Any) -> Run:
    scenario = load_scenario(f"{FILE}:{name}").scenario
    return random_run(dataclasses.replace(scenario, **changes), seed, recording=True)


def account(run: Run) -> str:
    """All that happened: the schedule, what was sent, what the library logged, and the state in the end."""
    assert run.world.history is not None
    history = [
        [happened.number, happened.fate, happened.node, *([e.nth, e.target, e.payload] for e in happened.sent)]
        for happened in run.world.history
    ]
    remarks = [remark for happened in run.world.history for remark in happened.remarks]
    states = {name: vars(node) for name, node in run.world.nodes.items()}
    return canonical([history, remarks, [str(step) for step in run.steps], states])


@known_release
@pytest.mark.parametrize(("name", "seed", "invariant", "what"), FOUND.get(VERSION, []))
def test_what_a_seed_finds(name: str, seed: int, invariant: str, what: str) -> None:
    broken = run_of(name, seed).broken
    assert broken is not None
    assert (broken.invariant, broken.what) == (invariant, what)


@pytest.mark.skipif(VERSION != "0.3.17", reason="of the release that stores term and vote")
@pytest.mark.parametrize("seed", range(8))
def test_restarts_and_partitions_break_nothing_without_compaction(seed: int) -> None:
    run = run_of("cluster", seed)
    nodes: list[Any] = list(run.world.nodes.values())
    assert run.broken is None
    assert sum(node.life for node in nodes) > 20
    assert all(node.applied for node in nodes)


@known_release
def test_a_client_is_told_of_success_where_nothing_was_agreed_on_and_no_node_crashed() -> None:
    run = run_of("uncrashed", 78)
    nodes: dict[str, Any] = dict(run.world.nodes)
    assert run.broken is not None
    assert run.broken.what == "in place 17, a applied 643 and d 610"
    assert (610, syncobj.FAIL_REASON.SUCCESS) in nodes["d"].answers
    assert {name: node.applied[16:] for name, node in nodes.items()} == {
        "a": [589, 643, 676],
        "b": [589, 643, 676],
        "c": [589, 643, 676],
        "d": [589, 610],
    }
    assert [node.life for node in nodes.values()] == [1, 1, 1, 1]


@pytest.mark.skipif(VERSION != "0.3.17", reason="the seed is one of this release")
def test_values_that_were_committed_are_lost_by_crashes_after_a_dump() -> None:
    run = run_of("compaction", 65)
    nodes: dict[str, Any] = dict(run.world.nodes)
    assert run.broken is not None
    assert run.broken.what == "in place 5, c applied 778 and d 971"
    assert nodes["c"].applied[5:] == [778, 777]
    assert run.world.history is not None
    remarks = [(happened.node, remark) for happened in run.world.history for remark in happened.remarks]
    assert [(node, remark) for node, remark in remarks if remark.startswith(("warning", "critical"))] == [
        (
            "d",
            "warning: raftCommitIndex (16) exceeds journal end (13) after loading dump, likely due to unsynced "
            "journal entries lost on crash; clamping to journal end",
        ),
        (
            "c",
            "critical: truncating already-applied log entries from index 14 (last applied: 16) - state machine "
            "may have diverged from other cluster members",
        ),
    ]


@pytest.mark.skipif(VERSION != "0.3.17", reason="the seed is one of this release")
def test_the_journal_that_was_not_cut_is_the_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    """If it is cut before the dump is loaded, nothing is lost."""
    assert run_of("compaction", 65).broken is not None
    replica = sys.modules["pysyncobj_cluster"].Replica
    tick = replica._tick

    def cut_first(self: Any, ctx: Any) -> None:
        dump = self._machine.disk.files.get("dump")
        if self.ledger._SyncObj__needLoadDumpFile and dump is not None:
            _, last, before_last, _ = pickle.loads(gzip.decompress(bytes(dump)))
            if before_last in self.log and last in self.log:
                with self._machine:
                    self.ledger._SyncObj__raftLog.deleteEntriesTo(self.log.index(before_last))
                self._observe(ctx)
        tick(self, ctx)

    monkeypatch.setattr(replica, "_tick", cut_first)
    assert run_of("compaction", 65).broken is None


@pytest.mark.skipif(VERSION != "0.3.17", reason="in older releases the same schedule breaks something else, too")
def test_the_commit_index_that_comes_with_a_snapshot_is_the_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it the execution is the same up to the snapshot, and then nothing breaks."""
    as_it_is = run_of("compaction", 6)
    wire = sys.modules["pysyncobj_cluster"].Wire
    receive = wire.receive

    def without(self: Any, sender: str, message: dict[str, Any]) -> None:
        receive(self, sender, {**message, "commit_index": 0} if "serialized" in message else message)

    monkeypatch.setattr(wire, "receive", without)
    changed = run_of("compaction", 6)
    assert as_it_is.broken is not None
    assert as_it_is.world.events == 463
    assert changed.steps[:463] == as_it_is.steps
    assert changed.broken is None
    assert changed.world.events == 1500


@pytest.mark.parametrize("name", ["cluster", "dump"])
def test_an_execution_is_the_same_when_it_is_repeated(name: str) -> None:
    assert account(run_of(name, 5)) == account(run_of(name, 5))


def test_an_execution_is_the_same_under_another_hash_seed() -> None:
    program = (
        "import sys; sys.path[:0] = sys.argv[1:]\n"
        "from test_pysyncobj import account, run_of\n"
        "print(account(run_of('dump', 5)))\n"
    )
    printed = []
    for seed in ("0", "1"):
        printed.append(
            subprocess.run(
                [sys.executable, "-c", program, str(Path(__file__).parent)],
                env={**os.environ, "PYTHONHASHSEED": seed},
                capture_output=True,
                text=True,
                check=True,
            ).stdout
        )
    assert printed[0] == printed[1]
    assert len(printed[0]) > 10_000


def test_the_library_is_left_as_it_was() -> None:
    modules = (syncobj, journal, serializer)
    # The scenario's module takes note of the names when it is loaded, and gives them back.
    before = [{**vars(module), "open": open} for module in modules]
    run_of("dump", 1)
    assert [{**vars(module), "open": vars(module).get("open", open)} for module in modules] == before


def test_a_node_shows_values_only() -> None:
    """So that its state can be written down: nothing of the library, nor of the machine."""
    node = run_of("cluster", 1, steps=50).world.nodes["a"]
    assert sorted(vars(node)) == [
        "answers", "applied", "commit", "forgot", "life", "log", "revised", "role", "term", "won",
    ]  # fmt: skip


# -- the survey --------------------------------------------------------------------------------------------------


def test_the_survey_says_how_long_it_takes_and_how_long_it_took() -> None:
    done = subprocess.run(
        [sys.executable, str(FILE.with_name("run.py")), "2"], capture_output=True, text=True, check=True
    )
    first, *rest = done.stdout.splitlines()
    assert first == f"PySyncObj {VERSION}: 4 scenarios, about 1 s"
    surveyed = [line for line in rest if not line.startswith(" ")]
    assert [line.partition(":")[0] for line in surveyed] == ["cluster", "compaction", "uncrashed", "dump"]
    assert all(re.search(r": 2 runs, [\d,]+ events, \d+\.\d s", line) for line in surveyed)


def test_the_survey_shows_how_far_it_is() -> None:
    """On a terminal, in one line that is written over."""
    ours, theirs = pty.openpty()
    code = (
        "import runpy, sys; sys.path.insert(0, sys.argv[1]); run = runpy.run_path(sys.argv[1] + '/run.py');"
        "survey = run['survey']; survey.__globals__['SECONDS_BETWEEN'] = 0.0; print(survey('dump', 3)[0])"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(FILE.parent)], stdout=subprocess.PIPE, stderr=theirs, text=True
    ) as survey:
        os.close(theirs)
        said, _ = survey.communicate(timeout=60)
    shown = os.read(ours, 10_000).decode()
    os.close(ours)
    assert said.startswith("dump: 3 runs, ")
    assert re.findall(r"\rdump: (\d) of 3 runs, \d+ s ", shown) == ["0", "1", "2"]
    assert shown.endswith("\r\x1b[K")


def test_the_make_target_says_how_long_it_takes_before_it_starts(tmp_path: Path) -> None:
    """Also before it installs anything, which here fails at once."""
    run = FILE.with_name("run.sh")
    done = subprocess.run(
        ["sh", str(run)],
        cwd=tmp_path,
        env={**os.environ, "PYTHON": "false"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    first, second = done.stdout.splitlines()[:2]
    assert first == "Fuzzing PySyncObj 0.3.14 and 0.3.17, 200 runs of each of 4 scenarios."
    assert second.startswith("200 runs of each take about two minutes in all, on one core; before that, ")
    assert "about two minutes" in (FILE.parents[2] / "Makefile").read_text(encoding="utf-8")
