"""The command line within this process, for tests that run it often; and what a shell makes of a line."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from contextlib import chdir
from pathlib import Path
from typing import NamedTuple

from click.testing import CliRunner

from clew.cli.process.main import main


class Done(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def replay(self) -> str:
        """The (first) command that is printed to see the counterexample."""
        return self.out.split("\n  replay: ", 1)[1].split("\n", 1)[0]

    def lines(self, beginning: str) -> list[str]:
        """What follows this beginning on the lines that have it."""
        return [line.removeprefix(beginning) for line in self.out.splitlines() if line.startswith(beginning)]


def run_clew(folder: Path, arguments: Sequence[str]) -> Done:
    """Run ``clew`` with these arguments in a folder; an exception that is no exit is an error of ours."""
    with chdir(folder):
        done = CliRunner().invoke(main, list(arguments))
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return Done(done.exit_code, done.stdout, done.stderr)


def shell_arguments(line: str) -> list[str]:
    """Return what ``clew`` is given when a shell executes this line."""
    script = "clew() { printf '%s\\0' \"$@\"; }\n" + line
    done = subprocess.run(["sh", "-c", os.fsencode(script)], capture_output=True, check=True)
    assert done.stderr == b""
    return [os.fsdecode(word) for word in done.stdout.split(b"\0")[:-1]]
