"""A command that is forked from a warm process cannot be told from one that was started."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from command import clew, start_clew
from scenario_files import CRASH, scenario_file

#: Prints what a process sees of its surroundings, and what it was left by those before it.
LOOKS = """
import json, os, signal, sys, threading

import neighbour

before = sys.modules.get("left")
sys.modules["left"] = neighbour
print(json.dumps({
    "arguments": sys.argv, "folder": os.getcwd(), "first": [sys.path[0], sys.path[1]], "path": len(sys.path),
    "environment": sorted(item for item in os.environ.items() if item[0] != "_"),
    "main": sys.modules["__main__"].__file__,
    "streams": [[s.encoding, s.errors, s.line_buffering, s.isatty()] for s in (sys.stdin, sys.stdout, sys.stderr)],
    "threads": threading.active_count(), "left": before is None, "input": os.fstat(0).st_rdev,
    "descriptors": sorted(int(n) for n in os.listdir("/proc/self/fd") if int(n) < 3),
    "interrupt": str(signal.getsignal(signal.SIGINT)), "mask": sorted(signal.pthread_sigmask(0, [])),
}))
"""


def _outcome(done: subprocess.CompletedProcess[str]) -> tuple[int, str, str]:
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    "words",
    [
        "",
        "--version",
        "--help",
        "check examples/kafka.ded --no-such",
        "check examples/kafka.ded",
        "run examples/simple-deliv.ded --relation log --lose a,b,1",
        "check none.ded",
        "calm examples/bloom/cart.py:DestructiveCart",
        "fuzz examples/lock/lock.py --runs 3",
    ],
)
def test_both_say_the_same(words: str) -> None:
    assert _outcome(clew(*words.split())) == _outcome(start_clew(*words.split()))


@pytest.mark.parametrize("end", ["os._exit(7)", "os.kill(os.getpid(), 9)", "sys.exit(5)", "1 / 0"])
def test_both_end_alike(end: str, tmp_path: Path) -> None:
    scenario_file(tmp_path, f"import os, sys\n{end}\n" + CRASH)
    for options in ([], ["--in-process"]):
        assert _outcome(clew("fuzz", "s.py", *options, cwd=tmp_path)) == _outcome(
            start_clew("fuzz", "s.py", *options, cwd=tmp_path)
        )


def test_a_command_finds_what_a_started_one_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LATER", "v\udc80")
    monkeypatch.delenv("HOME", raising=False)
    (tmp_path / "neighbour.py").touch()
    scenario_file(tmp_path, LOOKS + CRASH)
    first, second = (clew("fuzz", "s.py", cwd=tmp_path, MORE="1") for _ in range(2))
    assert _outcome(first) == _outcome(second) == _outcome(start_clew("fuzz", "s.py", cwd=tmp_path, MORE="1"))
    assert '["LATER", "v\\udc80"], ' in first.stdout and '"HOME"' not in first.stdout


def test_what_an_interpreter_reads_when_it_starts_is_read(tmp_path: Path) -> None:
    scenario_file(tmp_path, "print(hash('x'))\n" + CRASH)
    first, again, other = (
        clew("fuzz", "s.py", cwd=tmp_path, PYTHONHASHSEED=seed).stdout.split()[0] for seed in "112"
    )
    assert first == again != other


def test_one_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    scenario_file(tmp_path, "import os, time\nopen('pid', 'w').write(str(os.getpid()))\ntime.sleep(60)\n")
    with pytest.raises(subprocess.TimeoutExpired):
        clew("fuzz", "s.py", "--in-process", cwd=tmp_path, seconds=2)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
    assert clew("--version").returncode == 0
