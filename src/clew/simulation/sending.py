"""A scenario on its way to a worker that is no fork of this process: where its file is, and what must be in it.

A worker takes the file from the same path if it is the same there, on a disk that all share; otherwise it is sent
the files.  Either way their digests are compared before anything is executed, and again with what was imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from clew.errors import UsageError
from clew.files.python_module import digest_file
from clew.files.reading import read_source
from clew.simulation.loading import LoadedScenario, load_scenario
from clew.workers.serving import FilesNeededError


@dataclass(frozen=True)
class SentScenario:
    """``digests``: of its file and those from its folder that it uses, by their names there."""

    path: str
    name: str
    digests: tuple[tuple[str, str], ...]


def send_scenario(loaded: LoadedScenario) -> SentScenario:
    """Return what a worker is told of a scenario; one that was made in Python cannot be sent."""
    if not loaded.file:
        raise UsageError(
            "a scenario that was made in Python cannot be sent to the workers of an executor",
            remedy="name it by its file, as in fuzz('FILE.py:NAME', executor=...); workers=N needs no file",
        )
    path = Path(loaded.file).resolve()
    names = (Path(module).relative_to(path.parent).as_posix() for module in loaded.modules)
    return SentScenario(str(path), loaded.name, tuple(zip(names, loaded.digests, strict=True)))


def read_files(sent: SentScenario) -> Mapping[str, bytes]:
    """Read the files of a scenario, for a worker that does not have them."""
    folder = Path(sent.path).parent
    for name, digest in sent.digests:
        if _digest_of(folder / name) != digest:
            raise UsageError(f"{folder / name} has changed since it was loaded", remedy="start again")
    return {name: read_source(folder / name) for name, _ in sent.digests}


def open_scenario(sent: SentScenario, folder: str | None) -> LoadedScenario:
    """Load a scenario at a worker; ``folder`` has its files if they were sent."""
    root = Path(sent.path).parent if folder is None else Path(folder)
    for name, digest in sent.digests:
        if _digest_of(root / name) != digest:
            # With the files at hand it would be their digests that are wrong, and they are of these files.
            raise FilesNeededError(f"{root / name} is not what it is where the search was started")
    loaded = load_scenario(f"{root / Path(sent.path).name}:{sent.name}")
    here = send_scenario(loaded).digests
    if here != sent.digests:
        differing = sorted({name for name, _ in set(here) ^ set(sent.digests)})
        raise UsageError(
            f"{Path(sent.path).name} is made of other files there than here: {', '.join(differing)}",
            remedy="let what it imports from its folder not depend on the machine",
        )
    return loaded


def _digest_of(path: Path) -> str | None:
    try:
        return digest_file(path)
    except (OSError, ValueError):
        return None
