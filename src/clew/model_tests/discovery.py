"""Find the files that may contain models: those that are named, and all below the folders that are named.

Nothing is executed here, and no symbolic link is followed but one that is named: a folder that is tested must not
lead to files elsewhere, and what it leads to inside is found anyway.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from clew.errors import Notice, UsageError
from clew.files.python_names import split_name

#: What the names of files with models end in.
SUFFIXES = (".ded", ".py")

#: Folders of others, as a rule with thousands of Python files.
_OF_OTHERS = ("__pycache__", "node_modules", "site-packages")
#: Every virtual environment has this file.
_ENVIRONMENT = "pyvenv.cfg"

#: So many are named in a notice.
_MOST_NAMED = 3


@dataclass(frozen=True)
class Candidate:
    """A file that may contain models; ``name``: the one in it that is meant, "" for all."""

    file: str
    name: str = ""

    @property
    def is_python(self) -> bool:
        return self.file.endswith(".py")


@dataclass
class Discovery:
    """The files, each once, in the order of what was named; and what was left out that a user would look for."""

    candidates: list[Candidate] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    _seen: dict[str, set[str]] = field(default_factory=dict)

    def add(self, candidate: Candidate) -> None:
        """Add a file, unless it has been found under this or another name."""
        seen = self._seen.setdefault(os.path.realpath(candidate.file), set())
        if not {"", candidate.name} & seen:  # "": all of its models
            self.candidates.append(candidate)
        seen.add(candidate.name)

    def notices(self) -> list[Notice]:
        """Say what was left out."""
        notices = []
        if self.links:
            notices.append(
                Notice(f"not followed: {_name_some(self.links, 'symbolic link')}; name what is to be tested")
            )
        if self.unreadable:
            notices.append(
                Notice(f"not tested: {_name_some(self.unreadable, 'file or folder')} that cannot be read")
            )
        return notices


def discover(paths: Sequence[str], go_on: Callable[[], None] = lambda: None) -> Discovery:
    """Find the files that are named, and those below the folders that are; ``go_on`` may raise to stop that."""
    found = Discovery()
    for path in paths:
        if os.path.isdir(path):  # noqa: PTH112  # unlike Path.is_dir, it never raises
            for file in _walk(Path(path), found, go_on):
                found.add(Candidate(str(file)))
        else:
            found.add(_candidate(path))
    return found


def _candidate(path: str) -> Candidate:
    """Return the file that a path names; refuse what cannot be one of models."""
    file, name = split_name(path)
    try:
        mode = os.stat(file).st_mode  # noqa: PTH116  # a text, as the user gave it
    except (OSError, ValueError):
        raise UsageError(
            f"{path}: no such file or folder", remedy="name a model, or a folder with models"
        ) from None
    if not stat.S_ISREG(mode):
        raise UsageError(f"{file}: not a regular file", remedy="name a model, or a folder with models")
    if not file.endswith(SUFFIXES):
        raise UsageError(
            f"{file}: its name ends neither in .ded nor in .py", remedy="name a model, or a folder with models"
        )
    return Candidate(file, name)


def _walk(folder: Path, found: Discovery, go_on: Callable[[], None]) -> Iterator[Path]:
    """Yield the files below a folder that may contain models, in the order of their names."""

    def note(error: OSError) -> None:
        found.unreadable.append(str(error.filename))

    for parent, folders, files in os.walk(folder, onerror=note):
        go_on()
        found.links += [str(Path(parent) / name) for name in sorted(folders) if _is_link(parent, name)]
        # In place: ``walk`` goes down into what is left, in this order.
        folders[:] = sorted(name for name in folders if _is_own(parent, name))
        for name in sorted(files):
            if name.startswith(".") or not name.endswith(SUFFIXES):
                continue
            path = Path(parent) / name
            if _is_link(parent, name):
                found.links.append(str(path))
            else:
                yield path


def _is_own(parent: str, name: str) -> bool:
    """Tell whether a folder may have models of the user: it is neither hidden nor one of installed packages."""
    if name.startswith(".") or name in _OF_OTHERS or _is_link(parent, name):
        return False
    return not os.path.lexists(Path(parent) / name / _ENVIRONMENT)  # it never raises


def _is_link(parent: str, name: str) -> bool:
    return not name.startswith(".") and os.path.islink(Path(parent) / name)  # noqa: PTH114  # it never raises


def _name_some(names: Sequence[str], noun: str) -> str:
    nouns = {"file or folder": "files or folders"}.get(noun, f"{noun}s")
    some = ", ".join(names[:_MOST_NAMED]) + (", ..." if len(names) > _MOST_NAMED else "")
    return f"{len(names)} {noun if len(names) == 1 else nouns} ({some})"
