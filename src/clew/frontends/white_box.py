"""The dataflow of a Bloom program, from the file that a user names."""

from __future__ import annotations

from dataclasses import replace

from clew.analysis.blazes.extraction.system import Extraction, extract
from clew.errors import ClewError, Notice
from clew.files.python_module import split_name
from clew.frontends.dataflows import known_as, load_bloom


def is_program(where: str) -> bool:
    """Whether this names a program, not a description of a dataflow."""
    return split_name(where)[0].endswith(".py")


def load_extraction(where: str) -> Extraction:
    """What ``FILE.py`` or ``FILE.py:Class`` is as a dataflow; places have the names that the user knows."""
    loaded, file = load_bloom(where), split_name(where)[0]
    try:
        found = extract(loaded.module, loaded.files)
    except ClewError as error:
        if error.position:
            error.position = replace(error.position, file=known_as(error.position.file, file))
        raise
    return replace(found, notices=tuple(_shown(notice, file) for notice in found.notices))


def _shown(notice: Notice, file: str) -> Notice:
    if notice.position is None:
        return notice
    return replace(notice, position=replace(notice.position, file=known_as(notice.position.file, file)))
