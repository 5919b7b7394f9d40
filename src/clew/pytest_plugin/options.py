"""What the command line and the configuration file of pytest say to the plugin."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

#: Below the root directory, unless something else is said.
DEFAULT_FOLDER = ".clew"
#: What ``--clew-replay`` knows beside files, and the configuration file alone.
REPLAYS = ("first", "never", "only")
_REPLAYS_ALWAYS = ("first", "never")


class Settings(NamedTuple):
    """What holds for all checks of a run.

    ``time_limit`` and ``seed`` are those of the command line, which win over what a test says; the ``usual`` ones,
    of the configuration file, are for tests that say nothing.  ``replay_file`` is replayed instead of all else.
    """

    time_limit: float | None
    usual_time_limit: float | None
    seed: int | None
    usual_seed: int | None
    replay: str
    replay_file: Path | None
    folder: Path
    is_usual_folder: bool
    writes_tests: bool


_KEY = pytest.StashKey[Settings]()


def read_settings(config: pytest.Config) -> Settings:
    """Return the settings of a run, or raise ``pytest.UsageError``."""
    # Kept in the configuration, not in a global: pytest may run inside of pytest.
    known = config.stash.get(_KEY, None)
    if known is None:
        known = config.stash[_KEY] = _read(config)
    return known


def _read(config: pytest.Config) -> Settings:
    replay, file = _read_replay(config)
    folder = config.getoption("clew_artifacts")
    # As everywhere in pytest: paths on the command line are seen from where it was given, others from the root.
    usual = config.getini("clew_artifacts") or DEFAULT_FOLDER
    chosen = config.rootpath / usual if folder is None else config.invocation_params.dir / folder
    return Settings(
        _read_seconds("--clew-time-limit", config.getoption("clew_time_limit")),
        _read_seconds("clew_time_limit", config.getini("clew_time_limit") or None),
        _read_seed("--clew-seed", config.getoption("clew_seed")),
        _read_seed("clew_seed", config.getini("clew_seed") or None),
        replay,
        file,
        chosen,
        chosen == config.rootpath / DEFAULT_FOLDER,
        bool(config.getoption("clew_write_test")),
    )


def _read_replay(config: pytest.Config) -> tuple[str, Path | None]:
    """Return what is replayed, and the file if it is one."""
    always = config.getini("clew_replay") or _REPLAYS_ALWAYS[0]
    if always not in _REPLAYS_ALWAYS:
        # With "only" there, every run would be green that searches nothing.
        raise pytest.UsageError(f"clew_replay is '{always}': give {' or '.join(_REPLAYS_ALWAYS)}")
    given = config.getoption("clew_replay")
    if given is None or given in REPLAYS:
        return given or always, None
    file = config.invocation_params.dir / given
    if not file.is_file():
        raise pytest.UsageError(
            f"--clew-replay {given}: no such file; give a recording or a verdict, or {', '.join(REPLAYS)}"
        )
    # Whoever gives a file wants to see that failure: a search beside it would hide whether it is still one.
    return "only", file


def _read_seconds(name: str, text: str | None) -> float | None:
    if text is None:
        return None
    # Most runs give none, and do not wait for these.
    from click import BadParameter

    from clew.cli.process.limits import Duration

    try:
        seconds = Duration().convert(text, None, None)
    except BadParameter as error:
        raise pytest.UsageError(f"{name}: {error.message}") from None
    if not seconds > 0:  # also refuses "not a number"
        raise pytest.UsageError(f"{name} is {text}: give a time above 0")
    return seconds


def _read_seed(name: str, text: str | None) -> int | None:
    if text is None:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > len(str(2**63)):
        raise pytest.UsageError(f"{name} is '{text}': give a whole number, from 0 on")
    return int(text)
