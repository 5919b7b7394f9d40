"""Signals at random moments of all commands, while they write files: nothing is torn, left over, or wrong.

The moments are drawn from a seed.  In the suite a dozen signals, with ``--thorough`` 500.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

import pytest

from command import ROOT
from fuzz.readers import prepare_folder

#: A command that tells when ``run`` is called: until then Python starts, and reads four small files of ours, which
#: import nothing (see the first test).
_START = "from clew.cli.process.entry import run; print('begun', flush=True); run()"
#: A command whose rules are counted.
_STEP = """\
import sys
sys.path.insert(0, ".")
from kvs import BasicKVS
node = BasicKVS()
node.kvput.insert(("me", "key", 1, "value"))
node.tick()
"""
#: Most of the time is spent in code of the user, so that signals come there.
_SLOW = """\
import time
from clew.simulation import Faults, Node, Scenario, Send, VirtualTime

class Passing(Node):
    seen = 0

    def on_message(self, ctx, sender, message):
        time.sleep(0.02)
        self.seen = message
        if message < 9:
            ctx.send("b" if ctx.me == "a" else "a", message + 1)

def looked_at(nodes):
    time.sleep(0.01)

def arrives(nodes):
    return None

slow = Scenario(nodes={"a": Passing, "b": Passing}, running=["a", "b"], before=[Send("a", 1)],
                time=VirtualTime(until=5), invariants=[looked_at], promises=[arrives], faults=Faults(losses=1))

class Slow:
    initial = ()

    def step(self, state, op):
        time.sleep(0.02)
        return [(op.line,)]
"""
_OLD = b"what was there before\n"
_SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGKILL]

_COMMANDS = [
    "check kafka.ded --json o.json --junit o.xml --report o.html",
    "check kafka.ded --strategy lineage --all --json o.json",
    "check redun-deliv.ded --eot 4 --eff 2 --crashes 0 --proof o.zip --json o.json",
    "check kafka.ded --grid eff=0..4 --grid crashes=0,1,9 --workers 2 --json o.json --junit o.xml --report o.html",
    "run kafka.ded --svg o.svg --report o.html",
    "fuzz lock.py:hasty -o o.json",
    "fuzz lock.py:careful --runs 60 --workers 2 -o o.json",
    "explore lock.py:three_careful --time-limit 30 -o o.json",
    "minimize recording.json --workers 2 -o o.json --report o.html",
    "replay recording.json --step",
    "replay kafka.json",
    "calm broadcast.py:Simple --json o.json --svg o.svg --report o.html",
    "blazes ad-report.yaml --json o.json --svg o.svg --report o.html --emit-yaml o.yaml",
    "blazes shop.py:Shop --json o.json --svg o.svg",
    "verify proof.zip",
    "test kafka.ded lock.py --json o.json --junit o.xml --report o.html",
    "check jobs.py:cached --json o.json --junit o.xml --report o.html",
    "run jobs.py:cached --json o.json --junit o.xml --report o.html",
    "export run.json --format otlp -o o.json",
    "history stale-read.jsonl --json o.json --junit o.xml --report o.html",
    "cover kvs.py:BasicKVS --json o.json --junit o.xml --report o.html -- python step.py",
    "run slow.py:slow --json o.json --junit o.xml --report o.html",
    "check slow.py:slow --strategy exhaustive --json o.json --junit o.xml --report o.html",
    "fuzz slow.py:slow --runs 3 --json o.json",
    "replay slow.json",
    "history stale-read.jsonl --model slow.py:Slow --json o.json",
    "fuzz shared_counter_scenarios.py:careless --workers 2 -o o.json --report o.html",
    "run streams_store_scenarios.py:busy --lose client,a,request,2 -o o.json --report o.html",
    "fuzz lock.py:three_careful --runs 80 --json o.json --checkpoint o.ck",
]


@dataclass(frozen=True)
class Undisturbed:
    """What a command does if it is let alone: its exit code, how long it takes, and how large its files are."""

    code: int
    seconds: float
    files: Mapping[str, int]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("signals")
    prepare_folder(made)
    (made / "step.py").write_text(_STEP, encoding="utf-8")
    (made / "slow.py").write_text(_SLOW, encoding="utf-8")
    for path in (ROOT / "examples" / "asyncio").glob("s*.py"):
        shutil.copy(path, made)
    with _started("run slow.py:slow -o slow.json", made) as process:
        process.communicate(timeout=60)
    return made


def test_nothing_is_imported_before_ctrl_c_is_answered() -> None:
    # -S: what an environment imports at the start of Python must not hide what Clew does
    program = (
        f"import os, sys; sys.path[:0] = {sys.path!r}; before = set(sys.modules); "
        "import clew.cli.process.entry; print(*sorted(set(sys.modules) - before))"
    )
    ran = subprocess.run([sys.executable, "-S", "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == [
        "__future__",
        "clew",
        "clew.cli",
        "clew.cli.process",
        "clew.cli.process.entry",
        "gc",
    ]


def test_signals_at_random_moments(folder: Path, thorough: bool) -> None:
    @cache
    def undisturbed(command: str) -> Undisturbed:
        return _let_alone(command, folder)

    inputs = {path.name for path in folder.iterdir()}
    ended = 0
    for number in range(500 if thorough else 12):
        source = Random(f"signals/{number}")
        command = _COMMANDS[7 * number % len(_COMMANDS)]
        told = source.choice(_SIGNALS)
        usual = undisturbed(command)
        existed = source.random() < 0.5
        _prepare(folder, usual, existed=existed)
        # Half of them at the end, where files are written.
        moment = source.choice([source.random(), source.uniform(0.7, 1.05)])
        code, errors = _signalled(command, folder, told, usual.seconds * moment)
        case = f"signals/{number}: {command}, {told.name}, exit code {code}, {errors!r}"
        _assert_code(code, told, usual, case)
        assert b"Traceback" not in errors, case
        if (folder / "o.ck").exists():  # the command left it to go on from
            _CHECKS[".ck"](folder / "o.ck")
        for name, size in usual.files.items():
            # Interrupted, minimize has a larger execution to show than it would have found.
            most = 2 * size if code == usual.code else 20 * size
            _assert_whole(folder / name, (0.5 * size, most), case, existed=existed)
        left = {path.name for path in folder.iterdir()} - inputs - set(usual.files) - {"__pycache__", "o.ck"}
        assert left == set(), case
        ended += code in (3, -told)
    assert ended > 3  # not all of them came too late


def _let_alone(command: str, folder: Path) -> Undisturbed:
    outputs = [word for word in command.split() if word.startswith("o.")]
    for name in outputs:
        (folder / name).unlink(missing_ok=True)
    begun = time.monotonic()
    with _started(command, folder) as process:
        process.communicate(timeout=300)
    sizes = {name: (folder / name).stat().st_size for name in outputs if (folder / name).exists()}
    return Undisturbed(process.returncode, time.monotonic() - begun, sizes)


def _prepare(folder: Path, usual: Undisturbed, *, existed: bool) -> None:
    for path in folder.glob("o.*"):
        path.unlink()
    for name in usual.files:
        if existed:
            (folder / name).write_bytes(_OLD)


def _started(command: str, folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", _START, *command.replace(" python ", f" {sys.executable} ").split()],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def _signalled(command: str, folder: Path, told: signal.Signals, moment: float) -> tuple[int, bytes]:
    """Start a command, signal it, and see that none of its processes is left."""
    with _started(command, folder) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"begun\n"
        time.sleep(moment)
        process.send_signal(told)
        _, errors = process.communicate(timeout=120)
    deadline = time.monotonic() + 30
    while _session(process.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert _session(process.pid) == [], command
    return process.returncode, errors


def _session(leader: int) -> list[int]:
    """Return the processes of a session that are alive."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == leader and fields[0] != "Z":
                found.append(int(entry.name))
    return found


def _assert_code(code: int, told: signal.Signals, usual: Undisturbed, case: str) -> None:
    """The command ends as it does by itself, or by the signal; interrupted, it is incomplete."""
    assert code in {usual.code, 3 if told is signal.SIGINT else -told}, case


def _assert_whole(path: Path, sizes: tuple[float, float], case: str, *, existed: bool) -> None:
    if not path.exists():
        assert not existed, case
        return
    content = path.read_bytes()
    if existed and content == _OLD:
        return
    assert sizes[0] < len(content) < sizes[1] or path.suffix == ".json", case
    _CHECKS[path.suffix](path)


def _read_zip(path: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None


def _end_of_page(path: Path) -> None:
    """Look for one page, and its end."""
    page = path.read_text(encoding="utf-8").rstrip()
    assert page.endswith("</html>") and page.count("<!doctype html>") == 1


def _last_line(path: Path) -> None:
    assert path.read_text(encoding="utf-8").endswith("\n")


def _read_json(path: Path) -> object:
    return json.loads(path.read_text(encoding="utf-8"))


_CHECKS: Mapping[str, Callable[[Path], object]] = {
    ".json": _read_json,
    ".ck": _read_json,
    ".xml": ElementTree.parse,
    ".svg": ElementTree.parse,
    ".html": _end_of_page,
    ".yaml": _last_line,
    ".zip": _read_zip,
}

pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="processes are found there")  # noqa: PTH112
