"""What ``clew --help`` says, one word for one thing, and what shells complete."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from clew.cli.process.limits import Duration
from clew.cli.process.main import COMMANDS, main
from command import ROOT, clew
from scenario_files import CRASH, TOKENS, scenario_file


def options(name: str) -> dict[str, click.Parameter]:
    command = main.get_command(click.Context(main), name)
    assert command is not None
    return {flag: option for option in command.params for flag in option.opts if flag.startswith("--")}


def test_every_summary_fits_into_one_line_of_80_columns() -> None:
    done = clew("--help", COLUMNS="80")
    lines = done.stdout.splitlines()
    assert all(len(line) <= 80 for line in lines)
    for name, summary in COMMANDS.items():
        assert f"  {name:8}  {summary}" in lines


@pytest.mark.parametrize("name", COMMANDS)
def test_one_word_for_one_thing(name: str) -> None:
    known = options(name)
    assert isinstance(known["--time-limit"].type, Duration)
    assert "--budget" not in known
    if name == "export":  # which has no answer, but writes an execution
        assert {"--format", "--output"} <= set(known)
        return
    assert "--json" in known
    assert name == "verify" or {"--junit", "--report"} <= set(known)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("90s", 90), ("2m", 120), ("1h", 3600), ("1.5m", 90), (" 2s ", 2), ("1e2", 100)],
)
def test_durations(text: str, seconds: float) -> None:
    assert Duration().convert(text, None, None) == seconds


@pytest.mark.parametrize("text", ["", "s", "2x", "m2", "1m30s", "2 minutes", "0x10"])
def test_what_is_not_a_duration(text: str) -> None:
    with pytest.raises(click.BadParameter, match="is not a duration: give seconds, or 90s, 2m, 1h"):
        Duration().convert(text, None, None)


@pytest.mark.parametrize("command", ["check", "run", "calm"])
@pytest.mark.parametrize("limit", ["0", "-1", "0m", "nan"])
def test_no_time_at_all_is_refused(command: str, limit: str) -> None:
    done = clew(command, "examples/simple-deliv.ded", f"--time-limit={limit}")
    assert done.returncode == 2
    assert "error: --time-limit is " in done.stderr


def test_a_time_limit_with_a_unit_ends_a_search(tmp_path: Path) -> None:
    scenario_file(tmp_path, TOKENS.replace("LIMIT = 40", "LIMIT = 10**9"))
    done = clew("fuzz", "s.py", "--runs", "1000000", "--time-limit", "0.01m", cwd=tmp_path)
    assert done.returncode == 3
    assert "the time limit of 0.6 s ran out" in done.stdout


# -- what commands import ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command", [("fuzz", "s.py"), ("explore", "s.py"), ("minimize", "rec.json"), ("replay", "rec.json")]
)
def test_simulated_code_needs_no_solver(command: tuple[str, ...], tmp_path: Path) -> None:
    scenario_file(tmp_path, CRASH)
    clew("fuzz", "s.py", "-o", "rec.json", cwd=tmp_path)
    files = ["--json", "out.json", "--junit", "out.xml", "--report", "out.html"]
    script = (
        "import sys\n"
        "from clew.cli.process.main import main\n"
        "try:\n"
        f"    main({[*command, *files]!r})\n"
        "finally:\n"
        "    print({'clingo', 'pysat'} & set(sys.modules), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stderr.splitlines()[-1] == "set()"
    assert (tmp_path / "out.html").exists()


# -- completion --------------------------------------------------------------------------------------------------


def complete(line: str, cwd: Path = ROOT) -> list[str]:
    """Return what bash is told to complete the last word of a line with."""
    words = line.split(" ")
    environment = {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    done = subprocess.run(
        [_clew()], cwd=cwd, env={**os.environ, **environment, "_CLEW_COMPLETE": "bash_complete"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def _clew() -> str:
    """The installed command: the name of the variable is made of that of the program."""
    return str(Path(sys.executable).parent / "clew")


def test_commands_complete() -> None:
    assert complete("clew ") == [f"plain,{name}" for name in COMMANDS]
    assert complete("clew re") == ["plain,replay"]


def test_options_choices_and_files_complete() -> None:
    assert "plain,--time-limit" in complete("clew minimize --t")
    assert complete("clew check --strategy e") == ["plain,exact", "plain,exhaustive"]
    assert complete("clew check exa") == ["file,exa"]
    assert complete("clew fuzz s.py --json ou") == ["file,ou"]


def test_to_complete_a_command_imports_none_of_them() -> None:
    script = (
        "import sys, click\n"
        "from clew.cli.process.main import main\n"
        "print([item.value for item in main.shell_complete(click.Context(main), 'ch')])\n"
        "print([name for name in sys.modules if name.startswith('clew.cli.commands.')])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["['check']", "[]"]


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_takes_the_script() -> None:
    """As docs/tutorial.md says: source it, and ask it as readline would."""
    script = (
        'eval "$(_CLEW_COMPLETE=bash_source clew)"\n'
        "COMP_WORDS=(clew che) COMP_CWORD=1\n"
        '_clew_completion clew\necho "${COMPREPLY[@]}"\n'
    )
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", script], env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("check\n", "")
