"""Failures that are stored: by test, in files that are written whole, and that the commands of Clew read.

A test that makes several checks has a file for each, by their number.  A file holds the recording, or the verdict
of a model, as the commands write them: ``clew replay`` takes it.  Beside it is the text that was shown, bound to
the file by a digest; it is shown again only if the failure happens again exactly.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from clew.files.json_document import LARGEST_DOCUMENT
from clew.files.reading import read_input
from clew.files.writing import write_whole
from clew.names import harmless
from clew.pytest_plugin.options import Settings

#: So much of a test's name is kept to be read, and so many digits of its digest to tell it from all others.
_MOST_READ, _DIGITS = 60, 32
_DIGEST = "of the file beside it, with the SHA-256 "
#: A text that is shown has a hundred lines at most.
_LARGEST_TEXT = 100_000
#: What the usual folder says to git: what is in it is found anew, what is to stay is a regression test.
_IGNORE_ALL = (
    "# Written by pytest: failures that Clew found.  They are replayed first, and found again without.\n*\n"
)


class Slot(NamedTuple):
    """Where the failure of one check of one test is stored; ``folder_is_usual``: nobody chose the folder."""

    document: Path
    folder_is_usual: bool

    @property
    def text(self) -> Path:
        return self.document.with_suffix(".txt")

    @property
    def is_taken(self) -> bool:
        """Tell whether a failure is stored."""
        return self.document.is_file()


def find_slot(settings: Settings, test: str, number: int) -> Slot:
    """Return where the failure of a check is stored: the ``number``-th, from 1 on, of the test of this id."""
    name = name_of_test(test if number == 1 else f"{test}#{number}")
    return Slot(settings.folder / f"{name}.json", settings.is_usual_folder)


def name_of_test(test: str) -> str:
    """Return the name of a file for a test: readable, safe on every system, another one for every other test."""
    # Ids have parameters in them, and these may be anything: slashes, dots, megabytes, what no file can be called.
    readable = re.sub("[^A-Za-z0-9]+", "-", test).strip("-")[-_MOST_READ:].strip("-").lower()
    return f"{readable}-{hashlib.sha256(test.encode('utf-8', 'surrogatepass')).hexdigest()[:_DIGITS]}"


def store(slot: Slot, document: str, lines: Sequence[str]) -> str | None:
    """Store a failure and how it is told; return why that was not possible, if so."""
    digest = hashlib.sha256(document.encode("utf-8", "replace")).hexdigest()
    try:
        folder = slot.document.parent
        folder.mkdir(parents=True, exist_ok=True)
        ignore = folder / ".gitignore"
        if slot.folder_is_usual and not ignore.exists():
            write_whole(ignore, _IGNORE_ALL)
        # First the failure, then its text: between the two, the digest tells that the text is of another one.
        write_whole(slot.document, document)
        write_whole(slot.text, "\n".join([*lines, f"{_DIGEST}{digest}", ""]))
    except OSError as error:
        return f"{slot.document}: {error.strerror or error}"
    return None


def read_stored_text(slot: Slot) -> list[str] | None:
    """Return how a stored failure was told; None if that is of another file than the one beside it."""
    try:
        *lines, last = read_input(slot.text, _LARGEST_TEXT).decode("utf-8").splitlines()
        digest = hashlib.sha256(read_input(slot.document, LARGEST_DOCUMENT)).hexdigest()
    except (OSError, ValueError):  # also of an empty file, and of bytes that are no text
        return None
    return [harmless(line) for line in lines] if last == f"{_DIGEST}{digest}" else None


def forget(slot: Slot) -> None:
    """Remove what is stored of a failure that is none any more."""
    for file in (slot.document, slot.text):
        with suppress(OSError):
            file.unlink()
