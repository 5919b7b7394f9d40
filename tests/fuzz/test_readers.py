"""Inputs that are almost right, for whatever Clew reads: no traceback, no other exit code than 0 to 3, no hang.

4 would mean that an input made Clew fail.  With ``--thorough`` a million inputs, which takes hours.  A long run
that can be resumed is ``PYTHONPATH=tests python -m fuzz``.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random

import click
import pytest

from clew.cli.process.main import COMMANDS, main
from fuzz.command_lines import FLAGS, LEFT_OUT, OPTIONS
from fuzz.inputs import LIMIT, LIMITED, Input
from fuzz.readers import READERS, Reader, input_of, prepare_folder
from fuzz.running import fuzz_reader

#: Of a million, each of the readers gets its share.
_THOROUGH = 1_000_000 // len(READERS)

_ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}

#: Commands that are started as a user starts them, for each reader.
_STARTED = 2


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_nothing_that_is_read_makes_it_fail(
    reader: Reader, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """In a process of its own: a copy of one in which libraries have threads may wait for a lock for ever."""
    number = _THOROUGH if request.config.getoption("--thorough") else reader.inputs
    log = tmp_path / "log"
    asked = ["--reader", reader.name, "--inputs", str(number), "--log", str(log)]
    command = [sys.executable, "-m", "fuzz", *asked]
    subprocess.run(command, env=_ENVIRONMENT, stdout=subprocess.DEVNULL, check=False)
    told = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    assert [finding for part in told for finding in part["findings"]] == []
    assert sum(part["inputs"] for part in told) == number
    # Not all of them are refused: what is behind the reader gets something to do, too.
    codes = sum((Counter(part["codes"]) for part in told), Counter[str]())
    assert codes["0"] + codes["1"] > 0, codes


def test_only_the_time_that_an_input_uses_itself_counts() -> None:
    """One that goes on for ever is ended; one that waits, as all do on a machine with much to do, is not."""
    programs = ["while True: pass", "import time; time.sleep(2)", "pass"]

    def make(source: Random) -> Input:
        chosen = next(p for n, p in enumerate(programs) if source.getstate() == Random(f"odd/{n}").getstate())
        return Input(("calm", "given.py", *LIMITED), {"given.py": chosen.encode()})

    tally = fuzz_reader(Reader("odd", make, len(programs)), range(len(programs)))
    assert (tally.ended, tally.findings, tally.codes) == ([0], [], {2: 2})


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_commands_know_the_options_that_they_are_given(reader: Reader) -> None:
    """Or they refuse every input for that, and nothing of them is tried."""
    for number in range(40):
        command, *words = input_of(reader, number).arguments
        given = words[-len(LIMITED) :] if reader.name == "command" else words
        found = main.get_command(click.Context(main), command)
        assert found is not None or reader.name == "command"
        if found is not None:
            known = {name for option in found.params for name in option.opts}
            assert {word for word in given if word.startswith("--")} <= known


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_of_a_command_is_tried(command: str) -> None:
    found = main.get_command(click.Context(main), command)
    assert found is not None
    known = {name for option in found.params for name in option.opts if name.startswith("--")}
    assert known - set(OPTIONS) - set(FLAGS) - LEFT_OUT == set()


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_the_same_number_is_the_same_input(reader: Reader) -> None:
    backwards = [input_of(reader, number) for number in reversed(range(8))]
    assert backwards[::-1] == [input_of(reader, number) for number in range(8)]


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_commands_as_users_start_them(reader: Reader, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """With all that is around a command: the supervisor, and the limits of memory and time."""
    prepare_folder(tmp_path)
    first = 1_000_000_000  # others than above
    for number in range(first, first + (500 if request.config.getoption("--thorough") else _STARTED)):
        given = input_of(reader, number)
        for name, content in given.files.items():
            (tmp_path / name).write_bytes(content)
        command = [sys.executable, "-m", "clew", *given.arguments, "--memory-limit", "2G"]
        begun = time.monotonic()
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120, check=False)
        taken = time.monotonic() - begun
        assert done.returncode in range(4), (number, done.stderr)
        assert b"Traceback" not in done.stderr, (number, done.stderr)
        # The imports are not part of the limit, and the machine may have other things to do.
        assert taken < LIMIT + 5 + 20, number
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 2 << 20
