"""What the pytest plugin costs whoever does not use it: ``pytest --collect-only`` of an empty project.

Both sides are the same pytest, from the same files, beside the same Clew; only one of them has the entry point.
They alternate, so that whatever else the machine does slows both, and the medians of processor time count.
"""

from __future__ import annotations

import importlib.util
import shutil
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.bars import Bar
from benchmarks.coldstart import processor_seconds
from benchmarks.effort import Effort, say

#: Seconds.
MOST_MORE = 0.020
#: What pytest consists of.
_PARTS = ("pytest", "_pytest", "py", "pluggy", "iniconfig", "packaging", "pygments")
#: What pytest ends with when there is no test.
_NO_TESTS = 5
_SCRIPT = """
import os, sys
os.chdir({empty!r})
sys.path[:0] = [{parts!r}, {clew!r}]
import pytest
sys.exit(pytest.main(["--collect-only"]))
"""
_SOURCE = Path(__file__).parents[1] / "src" / "clew"


class PluginStart(NamedTuple):
    """Medians in seconds of processor time."""

    with_plugin: float
    without: float


def measure(effort: Effort) -> Iterator[Bar]:
    """The bar of the start."""
    say("plugin: pytest --collect-only")
    found = measure_start(effort.cold_starts)
    more = found.with_plugin - found.without
    yield Bar(
        "pytest --collect-only of an empty project, with the plugin unused",
        f"{more * 1000:+.1f} ms ({found.with_plugin:.3f} s / {found.without:.3f} s)",
        f"{MOST_MORE * 1000:g} ms",
        more <= MOST_MORE,
    )


def measure_start(times: int) -> PluginStart:
    """Start both so many times, one after the other."""
    with tempfile.TemporaryDirectory() as scratch:
        parts = _link_parts(Path(scratch))
        commands = {
            name: _command(parts, _install(Path(scratch) / name, with_plugin=name == "with_plugin"), scratch)
            for name in PluginStart._fields
        }
        for command in commands.values():
            processor_seconds(command, _NO_TESTS)  # writes the bytecode
        rounds = [{n: processor_seconds(c, _NO_TESTS) for n, c in commands.items()} for _ in range(times)]
    return PluginStart(**{name: median(r[name] for r in rounds) for name in commands})


def _command(parts: Path, clew: Path, scratch: str) -> tuple[str, ...]:
    empty = Path(scratch) / "empty"
    empty.mkdir(exist_ok=True)
    script = _SCRIPT.format(empty=str(empty), parts=str(parts), clew=str(clew))
    # Nothing of this environment, which has the plugin: only what is named.
    return (sys.executable, "-I", "-S", "-c", script)


def _link_parts(scratch: Path) -> Path:
    """Make a folder with pytest and what it imports, and nothing else."""
    parts = scratch / "parts"
    parts.mkdir()
    for name in _PARTS:
        spec = importlib.util.find_spec(name)
        assert spec is not None, "the tests need it"
        assert spec.origin is not None, "it is no namespace"
        origin = Path(spec.origin)
        own = origin.parent if spec.submodule_search_locations else origin
        (parts / own.name).symlink_to(own)
        # pytest asks which pluggy this is.
        for about in origin.parents[1].glob(f"{name}-*.dist-info"):
            (parts / about.name).symlink_to(about)
    return parts


def _install(folder: Path, *, with_plugin: bool) -> Path:
    """Make a folder with Clew as pip would install it."""
    shutil.copytree(_SOURCE, folder / "clew", ignore=shutil.ignore_patterns("__pycache__"))
    version = distribution("clew").version
    about = folder / f"clew-{version}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: clew\nVersion: {version}\n")
    points = "[console_scripts]\nclew = clew.cli.process.entry:run\n"
    plugin = "[pytest11]\nclew = clew.pytest_plugin.hooks\n" if with_plugin else ""
    (about / "entry_points.txt").write_text(points + plugin)
    # pytest reads the list of files of each distribution that has plugins, to rewrite assertions in them.
    files = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    (about / "RECORD").write_text("".join(f"{path.as_posix()},sha256={'x' * 43},1000\n" for path in files))
    return folder
