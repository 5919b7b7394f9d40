"""The code reads as the field writes: functions say what they do, comments say why, and folders are small."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from readability import Function, Measured, measure


@cache
def _measured() -> Measured:
    """Measure once, and not while tests are collected: every worker collects all of them."""
    return measure()


def test_docstrings_open_with_a_verb() -> None:
    without = [f"{f.file.name}:{f.line}: {f.opening}" for f in _measured().without_verb]
    assert len(without) <= 0.15 * _measured().described, without


def test_functions_are_named_by_what_they_do() -> None:
    participles = [f"{f.file.name}:{f.line}: {f.name}" for f in _measured().participles]
    assert len(participles) <= 0.07 * _measured().named, participles


def test_comments_say_why() -> None:
    assert _measured().commented >= 0.04 * _measured().lines


def test_rooms_and_files_have_a_size_that_can_be_read() -> None:
    assert _measured().largest_folder <= 16
    assert 120 <= _measured().median_file <= 220


@pytest.mark.parametrize(
    ("opening", "is_verb"),
    [
        ("Return the rows.", True),
        ("Tell whether it holds.", True),
        ("Name the stream of a port.", True),
        ("Name of the stream of a port.", False),
        ("The rows of a table.", False),
        ("Whether it holds.", False),
        ("Rows that are new.", False),
        ("Merging two lattices.", False),
        ("``pre`` as a whole.", False),
    ],
)
def test_openings_are_told_apart(opening: str, is_verb: bool) -> None:
    assert Function(Path("a.py"), 1, "f", opening, False).opens_with_verb is is_verb


@pytest.mark.parametrize(
    ("name", "is_participle"),
    [("loaded", True), ("_found_rows", True), ("load", False), ("__enter__", False), ("feed", False)],
)
def test_names_are_told_apart(name: str, is_participle: bool) -> None:
    assert Function(Path("a.py"), 1, name, "", False).is_named_by_participle is is_participle
