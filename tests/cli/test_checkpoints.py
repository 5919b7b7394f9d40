"""``--checkpoint`` as a user has it: real processes that are killed, and the same answer in the end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

from command import ROOT, clew
from scenario_files import TOKENS, scenario_file

#: From this seed on, it breaks in the 467th run, after a second or two.
RARE = TOKENS.replace("LIMIT = 40", "LIMIT = 62")
SEED = "144"
EXAMPLES = ROOT / "examples"


class Killed:
    """A command that is started again and again, and killed every time but the last."""

    def __init__(self, folder: Path, *arguments: str, seed: int) -> None:
        self._folder = folder
        self._arguments = (*arguments, "--checkpoint", "ck")
        self._random = Random(seed)
        #: How often it was continued from a file.
        self.continued = 0

    def start(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "clew", *self._arguments],
            cwd=self._folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def kill(self, *, child: bool = False) -> None:
        """Start it, wait until it has saved something new, and a bit longer, and kill it."""
        file = self._folder / "ck"
        before = file.stat().st_mtime_ns if file.exists() else None
        process = self.start()
        while process.poll() is None and (not file.exists() or file.stat().st_mtime_ns == before):
            time.sleep(0.01)
        time.sleep(self._random.random() / 5)
        if process.poll() is None:  # on a fast machine it may be done already, and the next one begins anew
            for victim in children_of(process.pid) if child else [process.pid]:
                os.kill(victim, signal.SIGKILL)
        _, errors = process.communicate()
        self.continued += "continued from ck: " in errors

    def finish(self) -> tuple[int, str]:
        process = self.start()
        output, errors = process.communicate()
        self.continued += "continued from ck: " in errors
        assert "Traceback" not in errors
        assert not (self._folder / "ck").exists()
        return process.returncode, output


def children_of(process: int) -> list[int]:
    return list(map(int, Path(f"/proc/{process}/task/{process}/children").read_text(encoding="utf-8").split()))


def answer(folder: Path, *arguments: str) -> tuple[int, str]:
    done = clew(*arguments, cwd=folder)
    return done.returncode, done.stdout


FUZZ = ("fuzz", "s.py", "--seed", SEED, "-o", "rec.json")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, str, bytes]:
    """Return what fuzzing comes to that nobody ends, and its recording."""
    folder = tmp_path_factory.mktemp("found")
    scenario_file(folder, RARE)
    code, output = answer(folder, *FUZZ)
    assert code == 1
    return code, output, (folder / "rec.json").read_bytes()


@pytest.mark.parametrize("workers", ["1", "2"])
def test_fuzz(tmp_path: Path, workers: str, found: tuple[int, str, bytes]) -> None:
    scenario_file(tmp_path, RARE)
    killed = Killed(tmp_path, *FUZZ, "--workers", workers, seed=7)
    for _ in range(2):
        killed.kill()
    assert (*killed.finish(), (tmp_path / "rec.json").read_bytes()) == found
    assert killed.continued >= 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rec.json", "s.py"]


def test_minimize(tmp_path: Path) -> None:
    # So that it takes a few times as long as it is until something is saved.
    scenario_file(tmp_path, TOKENS.replace("LIMIT = 40", "LIMIT = 10"))
    assert clew("fuzz", "s.py", "-o", "rec.json", cwd=tmp_path).returncode == 1
    command = ("minimize", "rec.json", "--brief", "-o", "min.json")
    expected = answer(tmp_path, *command)
    assert expected[0] == 0
    smallest = (tmp_path / "min.json").read_bytes()
    killed = Killed(tmp_path, *command, seed=8)
    for _ in range(2):
        killed.kill()
    assert killed.finish() == expected
    assert killed.continued >= 1
    assert (tmp_path / "min.json").read_bytes() == smallest


@pytest.mark.parametrize(
    "how",
    [
        ("paxos-synod", "--strategy", "lineage"),
        ("redun-deliv", "--strategy", "exhaustive", "--eot", "6", "--eff", "4", "--max-runs", "25000"),
        ("paxos-synod", "--effort", "0.15"),
    ],
    ids=["lineage", "exhaustive", "sweep"],
)
def test_check(tmp_path: Path, how: tuple[str, ...]) -> None:
    name, *options = how
    command = ("check", str(EXAMPLES / f"{name}.ded"), *options)
    expected = answer(tmp_path, *command)
    killed = Killed(tmp_path, *command, seed=9)
    for _ in range(2):
        killed.kill()
    assert killed.finish() == expected
    assert killed.continued >= 1


def test_a_child_that_is_killed(tmp_path: Path, found: tuple[int, str, bytes]) -> None:
    """The process that watches it cannot tell why it died, but leaves the checkpoint alone."""
    scenario_file(tmp_path, RARE)
    killed = Killed(tmp_path, *FUZZ, seed=10)
    killed.kill(child=True)
    assert (tmp_path / "ck").exists()
    assert killed.finish() == found[:2]
    assert killed.continued == 1


def test_an_interrupt_says_how_to_go_on(tmp_path: Path, found: tuple[int, str, bytes]) -> None:
    scenario_file(tmp_path, RARE)
    process = Killed(tmp_path, *FUZZ, seed=0).start()
    while not (tmp_path / "ck").exists():
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate()
    assert process.returncode == 3
    assert output.startswith("INCOMPLETE: interrupted; no violation so far.\n")
    assert errors == "to go on, run the same command again: ck holds what was done\n"
    done = clew(*FUZZ, "--checkpoint", "ck", cwd=tmp_path)
    assert (done.returncode, done.stdout) == found[:2]
    runs = output.splitlines()[1].split()[1]
    assert done.stderr == f"continued from ck: {runs} runs done\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ("fuzz", "s.py", "--time-limit", "0.000001"),
        ("check", str(EXAMPLES / "3pc.ded"), "--strategy", "lineage", "--time-limit", "0.000001"),
        ("check", str(EXAMPLES / "3pc.ded"), "--effort", "1", "--time-limit", "0.000001"),
    ],
)
def test_a_time_limit_is_no_part_of_the_question(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    scenario_file(tmp_path, TOKENS)
    assert clew(*arguments, "--checkpoint", "ck", cwd=tmp_path).returncode == 3
    done = clew(*arguments[:-2], "--checkpoint", "ck", cwd=tmp_path)
    assert (done.returncode, done.stdout) == answer(tmp_path, *arguments[:-2])
    assert not (tmp_path / "ck").exists()


def test_a_run_that_ends_its_process(tmp_path: Path) -> None:
    """It is found again from the checkpoint, and answers the question."""
    ending = RARE.replace('return Broken("few"', 'import os; os._exit(7); return Broken("few"')
    scenario_file(tmp_path, ending)
    expected = answer(tmp_path, "fuzz", "s.py", "--seed", SEED)
    assert "the process ended by itself (exit code 7)" in expected[1]
    killed = Killed(tmp_path, "fuzz", "s.py", "--seed", SEED, seed=11)
    killed.kill()
    assert killed.finish() == expected


def test_an_answer_that_nobody_got_is_not_removed(tmp_path: Path) -> None:
    scenario_file(tmp_path, TOKENS)
    clew("fuzz", "s.py", "--time-limit", "0.000001", "--checkpoint", "ck", cwd=tmp_path)
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        command = [sys.executable, "-m", "clew", "fuzz", "s.py", "--checkpoint", "ck"]
        done = subprocess.run(command, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 4
    assert (tmp_path / "ck").exists()


# -- what is refused ---------------------------------------------------------------------------------------------


def refused(folder: Path, *arguments: str) -> str:
    done = clew(*arguments, cwd=folder, seconds=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    return done.stderr


def test_files_that_are_no_checkpoints(tmp_path: Path) -> None:
    scenario_file(tmp_path, TOKENS)
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "note").write_text("keep me", encoding="utf-8")
    for file, message in (
        ("folder", "folder: is no regular file"),
        ("fifo", "fifo: is no regular file"),
        ("/dev/full", "/dev/full: is no regular file"),
        ("/dev/stdin", "/dev/stdin: is no regular file"),
        ("none/ck", "none/ck cannot be written (No such file or directory)"),
        ("note", "error: not JSON"),
        ("-", "--checkpoint needs a file, not standard output"),
    ):
        for command in (("fuzz", "s.py"), ("check", str(EXAMPLES / "3pc.ded"), "--strategy", "lineage")):
            assert message in refused(tmp_path, *command, "--checkpoint", file)
    assert (tmp_path / "note").read_text(encoding="utf-8") == "keep me"


def test_the_checkpoint_of_another_search(tmp_path: Path) -> None:
    scenario_file(tmp_path, TOKENS)
    clew("fuzz", "s.py", "--time-limit", "0.000001", "--checkpoint", "ck", cwd=tmp_path)
    before = (tmp_path / "ck").read_bytes()
    assert refused(tmp_path, "fuzz", "s.py", "--seed", "5", "--checkpoint", "ck") == (
        "error: ck: is the checkpoint of another search: --seed was 0, and is 5\n"
        "  remedy: give the same program and options, or delete it to start from the beginning, or name another "
        "file\n"
    )
    message = 'another search: command was "fuzz", and is "check"'
    assert message in refused(
        tmp_path, "check", str(EXAMPLES / "3pc.ded"), "--strategy", "lineage", "--checkpoint", "ck"
    )
    assert (tmp_path / "ck").read_bytes() == before


def test_exact_search(tmp_path: Path) -> None:
    message = refused(tmp_path, "check", str(EXAMPLES / "3pc.ded"), "--checkpoint", "ck")
    assert message.startswith("error: the exact strategy does not support --checkpoint, unless it sweeps")
