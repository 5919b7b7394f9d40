"""``--clew-cover``: what the rules of a Bloom class do in a run of pytest, as ``clew cover`` tells it."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest

from clew.coverage.api import Watch, watching
from clew.coverage.result import BloomCoverage
from clew.errors import ClewError
from clew.files.writing import write_whole


class Covering(NamedTuple):
    """What is recorded while pytest runs, until ``ends``."""

    watch: Watch
    ends: ExitStack


#: Options that are about what ``--clew-cover`` counts.
_OTHERS = tuple(f"clew-cover-{what}" for what in ("fail-under", "fail-on-dead", "json", "report"))
_KEY = pytest.StashKey[Covering]()
_RESULT = pytest.StashKey[BloomCoverage]()


def begin_covering(config: pytest.Config) -> None:
    """Record from now on what the rules of the class do, in this process and in those that it starts."""
    # Workers of pytest-xdist are such processes: they find out by themselves, from the environment.
    if hasattr(config, "workerinput"):
        return
    source = config.getoption("clew_cover")
    if source is None:
        given = next(name for name in _OTHERS if config.getoption(name.replace("-", "_")) not in (None, False))
        raise pytest.UsageError(f"--{given} says nothing without --clew-cover FILE:CLASS")
    _read_least(config)
    for option in ("clew_cover_json", "clew_cover_report"):
        _refuse_unwritable(config, option)
    ends = ExitStack()
    try:
        config.stash[_KEY] = Covering(ends.enter_context(watching(source)), ends)
    except ClewError as error:
        raise pytest.UsageError(f"--clew-cover {source}: {error}") from None


def judge_coverage(session: pytest.Session) -> None:
    """Add up what was recorded, and let a run fail that fired too few rules."""
    covering = session.config.stash.get(_KEY, None)
    if covering is None:
        return
    config = session.config
    least, dead = _read_least(config), bool(config.getoption("clew_cover_fail_on_dead"))
    words = ("pytest", *config.invocation_params.args)
    found = covering.watch.result(words, int(session.exitstatus), fail_under=least, fail_on_dead=dead)
    config.stash[_RESULT] = found
    # A run that failed keeps the exit code that says how; one that nobody asks anything of stays as it is.
    if session.exitstatus == pytest.ExitCode.OK and found.exit_code and (least is not None or dead):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def show_coverage(terminal: pytest.TerminalReporter) -> None:
    """Tell what was recorded, and write the files that were asked for."""
    found = terminal.config.stash.get(_RESULT, None)
    if found is None:
        return
    from clew.report.coverage.renderer import text
    from clew.report.writing import write_report

    terminal.section("clew cover")
    for notice in found.notices:
        terminal.write_line(str(notice))
    terminal.write_line(text(found))
    for option, write in (("clew_cover_json", _write_json), ("clew_cover_report", write_report)):
        file = terminal.config.getoption(option)
        if file is None:
            continue
        path = terminal.config.invocation_params.dir / file
        try:
            write(found, path)
        except OSError as error:
            terminal.write_line(f"clew cover: {file} cannot be written: {error.strerror}")
        else:
            terminal.write_line(f"wrote {file}")


def end_covering(config: pytest.Config) -> None:
    """Record no more, and remove what was recorded."""
    covering = config.stash.get(_KEY, None)
    if covering is not None:
        covering.ends.close()


def _write_json(found: BloomCoverage, path: Path) -> None:
    write_whole(path, found.to_json())


def _read_least(config: pytest.Config) -> float | None:
    given = config.getoption("clew_cover_fail_under")
    if given is None:
        return None
    try:
        least = float(given)
    except ValueError:
        least = -1.0
    if not 0 <= least <= 100:
        raise pytest.UsageError(f"--clew-cover-fail-under is '{given}': give a percentage, from 0 to 100")
    return least


def _refuse_unwritable(config: pytest.Config, option: str) -> None:
    """Refuse a file before the tests run, which may take long."""
    file = config.getoption(option)
    if file is None:
        return
    name = f"--{option.replace('_', '-')}"
    path = config.invocation_params.dir / file
    if not path.parent.is_dir():
        raise pytest.UsageError(f"{name} {file}: there is no folder {path.parent}")
    if path.is_dir():
        raise pytest.UsageError(f"{name} {file}: this is a folder; give a file")
