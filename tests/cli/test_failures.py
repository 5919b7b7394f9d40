"""A crash is never a verdict: whatever fails in Clew or around it, a command ends with 2, 3 or 4, and says so."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from command import ROOT
from command import start_clew as clew
from scenario_files import TOKENS, scenario_file

KAFKA = "examples/kafka.ded"
CERTIFIED = "examples/redun-deliv.ded"
HASTY = "examples/lock/lock.py:hasty"
JOBS = "examples/jobs/jobs.py:cached"

#: Commands that together go through every stage.
COMMANDS = {
    "check": ["check", KAFKA, "--json", "{folder}/verdict.json"],
    "certify": ["check", CERTIFIED, "--junit", "{folder}/junit.xml"],
    "lineage": ["check", "examples/ack-deliv.ded", "--strategy", "lineage", "--eot", "4", "--eff", "3"],
    "report": ["check", "examples/simple-deliv.ded", "--report", "{folder}/report.html"],
    "bloom": ["check", "examples/bloom/broadcast.py:Simple"],
    "run": ["run", KAFKA, "--lose", "b,Z,1", "--svg", "{folder}/run.svg"],
    "fuzz": ["fuzz", HASTY, "--runs", "50", "-o", "{folder}/rec.json"],
    "explore": ["explore", "examples/lock/lock.py:three_hasty"],
    "replay": ["replay", "{recording}"],
    "minimize": ["minimize", "{small}", "{scenario}", "--time-limit", "20", "--brief"],
    "calm": ["calm", "examples/bloom/kvs.py:BasicKVS"],
    "blazes": ["blazes", "examples/blazes/word-count.yaml"],
    "check code": ["check", JOBS, "--json", "{folder}/verdict.json"],
    "run code": ["run", JOBS, "-o", "{folder}/rec.json"],
    "run coroutines": ["run", "examples/asyncio/streams_store_scenarios.py:read_two"],
    "fuzz coroutines": ["fuzz", "examples/asyncio/shared_counter_scenarios.py:comparing", "--runs", "2"],
    "history": ["history", "examples/histories/stale-read.jsonl", "--report", "{folder}/history.html"],
    "export": ["export", "{recording}", "--format", "otlp", "-o", "{folder}/trace.json"],
    "verify": ["verify", "{proof}"],
    "test": ["test", KAFKA],
    "cover": ["cover", "examples/bloom/kvs.py:BasicKVS", "--", "true"],
}
#: How many functions of each command fail in the usual suite; with --thorough, all of them.
SOME = 5

#: A function of the user that cannot be understood is opaque, whatever the reason: that is the careful answer.
#: So is a rule without its text, which only reports show.
CAREFUL = re.compile(r"bloom/(ir/(symbolic|function_code)\.py|language/capture\.py (statement_at|_parse_source)$)")


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("recording") / "rec.json"
    assert clew("fuzz", HASTY, "--runs", "50", "-o", str(file)).returncode == 1
    return str(file)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a recording that is minimized in a quarter of the time, by as many functions."""
    folder = tmp_path_factory.mktemp("small")
    scenario_file(folder, TOKENS.replace("LIMIT = 40", "LIMIT = 1").replace("count=30", "count=5"))
    assert clew("fuzz", "s.py", "-o", "rec.json", cwd=folder).returncode == 1
    return folder


@pytest.fixture(scope="module")
def proof(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("proof") / "proof.zip"
    options = ["--eot", "4", "--eff", "2", "--crashes", "0", "--proof", str(file)]
    assert clew("check", CERTIFIED, *options).returncode == 0
    return str(file)


Tries = list[dict[str, Any]]


@pytest.fixture(scope="module")
def try_failures() -> Iterator[Callable[[list[str], int], Tries]]:
    """Return a function that asks ``injecting.py`` how a command ends; it imports everything once."""
    exceptions = ["RuntimeError", "KeyError", "MemoryError", "OSError", "SystemExit"]
    with subprocess.Popen(
        [sys.executable, str(ROOT / "tests" / "cli" / "injecting.py")],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:

        def ask(arguments: list[str], some: int) -> Tries:
            assert process.stdin is not None and process.stdout is not None
            process.stdin.write(
                json.dumps({"arguments": arguments, "some": some, "exceptions": exceptions}) + "\n"
            )
            process.stdin.flush()
            tries: Tries = json.loads(process.stdout.readline())
            return tries

        yield ask


@pytest.mark.parametrize("name", COMMANDS)
def test_no_failure_of_ours_reads_as_an_answer(
    name: str,
    recording: str,
    small: Path,
    proof: str,
    try_failures: Callable[[list[str], int], Tries],
    thorough: bool,
) -> None:
    given = {"{recording}": recording, "{small}": str(small / "rec.json"), "{scenario}": str(small / "s.py")}
    given["{proof}"] = proof
    arguments = [given.get(argument, argument) for argument in COMMANDS[name]]
    tries = try_failures(arguments, 0 if thorough else SOME)
    assert len(tries) >= SOME
    for found in tries:
        if not CAREFUL.match(" ".join(found["function"])):
            # A counterexample that is found and confirmed stays one; that it could not be followed is told.
            told = found["code"] == 1 and "open whether it lasts: " in found["output"]
            # A row of ``test`` says the answer only, and that a counterexample is expected is right.
            told = told or (name == "test" and found["function"][0] == "engine/recurrence.py")
            assert found["code"] in (2, 3, 4) or told, found
            assert found["output"].strip(), found


# -- standard streams --------------------------------------------------------------------------------------------


def shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a line of a shell in which ``clew`` is the command."""
    script = f'clew() {{ "{sys.executable}" -m clew "$@"; }}\n{line}'
    return subprocess.run(
        ["bash", "-c", script],
        cwd=ROOT,
        env={**os.environ, "OUT": str(folder / "verdict.json")},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ('clew check {program} --json "$OUT" >/dev/full', 4),
        ('clew check {program} --json "$OUT" >/dev/full 2>/dev/full', 4),
        ('clew check {program} --json "$OUT" >&-', None),
        ('clew check {program} --json "$OUT" 2>&-', None),
        ('clew check {program} --json "$OUT" <&- >&- 2>&-', None),
        ('clew check {program} --json "$OUT" | true; exit ${PIPESTATUS[0]}', None),
    ],
)
@pytest.mark.parametrize(("program", "answer"), [(KAFKA, 1), (CERTIFIED, 0)])
def test_the_answer_survives_its_streams(
    line: str, code: int | None, program: str, answer: int, tmp_path: Path
) -> None:
    done = shell(line.replace("{program}", program), tmp_path)
    assert done.returncode == (answer if code is None else code)
    verdict = json.loads((tmp_path / "verdict.json").read_text())
    assert verdict["verdict"] == ("counterexample" if answer else "certified")
    assert "Traceback" not in done.stderr and "Broken" not in done.stderr
    if code == 4 and "2>" not in line:
        assert done.stderr.splitlines()[0].startswith("clew failed: OSError: [Errno 28] No space left on device")


def test_a_full_disk_is_no_failure_of_what_prints_nothing(tmp_path: Path) -> None:
    done = shell("PYTHONUNBUFFERED=1 clew check missing.ded >/dev/full", tmp_path)
    assert (done.returncode, done.stderr.splitlines()[0]) == (2, "error: missing.ded: no such file")


def test_a_file_without_room_is_no_bad_program() -> None:
    done = clew("check", CERTIFIED, "--json", "/dev/full")
    assert done.returncode == 4
    assert "CERTIFIED" in done.stdout
    assert done.stderr.startswith("error: /dev/full cannot be written (No space left on device)")


# -- memory and time ---------------------------------------------------------------------------------------------


def test_memory_that_runs_out_is_incomplete_with_what_was_covered(tmp_path: Path) -> None:
    """A search that fails in its 40th execution: what was covered up to it is told."""
    done = run_with(
        "from clew.checker.model import Model\n"
        "original, runs = Model.run, []\n"
        "def failing(self, faults):\n"
        "    runs.append(faults)\n"
        "    if len(runs) > 40: raise MemoryError\n"
        "    return original(self, faults)\n"
        "Model.run = failing\n",
        ["check", "examples/ack-deliv.ded", "--strategy", "exhaustive"],
        tmp_path,
    )
    assert done.returncode == 3
    assert done.stdout.splitlines()[0].startswith("INCOMPLETE: no counterexample found")
    assert done.stdout.splitlines()[1] == "  memory ran out"
    assert "41 executions" in done.stdout


def test_traceback_shows_where_clew_failed(tmp_path: Path) -> None:
    # In a function of Clew: of the user's, the message would say that.
    broken = (
        "import clew.cli.commands.check, clew.names\n"
        "def check(*a, **k): clew.names.in_one_line(None)\n"
        "clew.cli.commands.check.check = check\n"
    )
    quiet = run_with(broken, ["check", KAFKA], tmp_path)
    loud = run_with(broken, ["check", KAFKA, "--traceback"], tmp_path)
    assert quiet.returncode == loud.returncode == 4
    assert quiet.stderr.startswith("clew failed: TypeError: ") and "(in clew/names.py, line " in quiet.stderr
    assert "please report it" in quiet.stderr and "Traceback" not in quiet.stderr
    assert loud.stderr.startswith("Traceback") and loud.stderr.endswith(quiet.stderr)


def run_with(change: str, arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the command after a change of its own functions."""
    script = folder / "changed.py"
    script.write_text(f"{change}\nfrom clew.cli.process.entry import run\nrun()\n")
    return subprocess.run(
        [sys.executable, str(script), *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )


# -- interrupts --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("after", [0.02, 0.05, 0.1, 0.2])
def test_an_interrupt_is_quiet_from_the_first_import_on(after: float) -> None:
    code, errors = next(ended for ended in iter(lambda: interrupt(after), None) if BEFORE_OURS not in ended[1])
    assert code in (0, 1, 3), errors  # it may have come to its answer before
    assert "Traceback" not in errors


#: Where a machine with much to do has not even called us.
BEFORE_OURS = 'File "<string>", line 1, in <module>\nKeyboardInterrupt'


def interrupt(after: float) -> tuple[int, str]:
    """Return how a command ends that is interrupted so long after its first module was imported."""
    begun = subprocess.Popen(
        [sys.executable, "-c", "import clew.cli.process.entry, sys; "
         "sys.argv = ['clew', 'check', 'examples/kafka.ded', '--delays', '3']; "
         "sys.stdout.write('x'); sys.stdout.flush(); clew.cli.process.entry.run()"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    assert begun.stdout is not None
    assert begun.stdout.read(1) == "x"
    time.sleep(after)
    begun.send_signal(signal.SIGINT)
    _, errors = begun.communicate(timeout=60)
    return begun.returncode, errors
