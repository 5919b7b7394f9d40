"""Files that are no proofs: each is unreadable with a reason, and nothing is read without a limit."""

from __future__ import annotations

import io
import json
import os
import random
import zipfile
from functools import cache
from pathlib import Path

import pytest

from clew import parse_program
from clew.budgets.deadline import Deadline
from clew.faults import FailureSpec
from clew.program.checks import check_program
from clew.proof.refuting import Refutation, refute
from clew.verify.archive import Bounds, read_archive, read_parts
from clew.verify.refusals import UnreadableError
from verify.parts import archive_of, contents, write_parts

PROGRAM = 'p("a", 1)@1; p(X, Y)@next :- p(X, Y); pre(X) :- p(X, _); post(X) :- p(X, _);'


@cache
def archive() -> bytes:
    program = check_program(parse_program(PROGRAM)).program
    found = refute(program, FailureSpec(("a", 1, "é"), 3, 2, 1, 1), Deadline(None))
    assert isinstance(found, Refutation)
    return archive_of(found)


def about(**changes: object) -> bytes:
    stated = json.loads(contents(archive())["about.json"])
    bounds = stated["bounds"] | {k: v for k, v in changes.items() if k in stated["bounds"]}
    return json.dumps(stated | {k: v for k, v in changes.items() if k not in bounds} | {"bounds": bounds}).encode()


def test_a_file_says_what_it_is_about(tmp_path: Path) -> None:
    file = tmp_path / "proof.zip"
    file.write_bytes(archive())
    read = read_parts(file)
    assert read.bounds == Bounds(
        ("a", 1, "é"), {"eot": 3, "eff": 2, "crashes": 1, "delays": 1}, read.bounds.grounder
    )
    assert read.bounds.grounder.startswith("clingo 5.")
    assert read.cnf.startswith(b"p cnf ")


def test_the_parts_are_in_public_formats() -> None:
    parts = contents(archive())
    assert list(parts) == [
        "README.txt",
        "about.json",
        "program.lp",
        "ground.aspif",
        "definitions.txt",
        "question.cnf",
        "proof.drat",
    ]
    assert parts["ground.aspif"].startswith(b"asp 1 0 0\n")
    assert parts["proof.drat"].endswith(b"\n0\n") or parts["proof.drat"] == b"0\n"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "no archive"),
        (b"p cnf 1 2\n1 0\n-1 0\n", "no archive"),
        (b"PK\x03\x04" + b"\0" * 100, "no archive"),
        (b"PK\x05\x06" + b"\xff" * 18, "no archive"),
    ],
)
def test_what_is_no_archive(content: bytes, says: str, tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_bytes(content)
    with pytest.raises(UnreadableError, match=says):
        read_parts(file)


@pytest.mark.parametrize("end", [10, 100, -1, -30])
def test_half_an_archive(end: int, tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_bytes(archive()[:end])
    with pytest.raises(UnreadableError):
        read_parts(file)


def test_an_archive_with_a_wrong_byte(tmp_path: Path) -> None:
    """The archive has check sums: a byte of the contents that changes by accident is noticed."""
    whole = archive()
    place = whole.index(b"question.cnf") + 40
    file = tmp_path / "x"
    file.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
    with pytest.raises(UnreadableError):
        read_parts(file)


@pytest.mark.parametrize("name", ["about.json", "program.lp", "ground.aspif", "question.cnf", "proof.drat"])
def test_a_part_is_missing_or_there_twice(name: str, tmp_path: Path) -> None:
    parts = contents(archive())
    without = {n: c for n, c in parts.items() if n != name}
    with pytest.raises(UnreadableError, match=f"no part {name}"):
        read_parts(write_parts(tmp_path / "x", without))
    file = write_parts(tmp_path / "y", parts)
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(file, "a") as opened:
        opened.writestr(name, parts[name])
    with pytest.raises(UnreadableError, match="or several"):
        read_parts(file)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"{", "no archive"),
        (b"[]", "not that of a proof"),
        (b"\xff", "no archive"),
        (b"[" * 100_000, "nested|no archive"),
        (b'{"format": "clew proof", "version": ' + b"9" * 5000 + b"}", "no archive"),
        (about(format="clew verdict"), "not that of a proof"),
        (about(version=2), "has not version 1"),
        (b'{"format": "clew proof", "version": 1, "bounds": 3, "grounder": ""}', "state its bounds"),
        (about(nodes="ab"), "neither texts nor numbers"),
        (about(nodes=[["a"]]), "neither texts nor numbers"),
        (about(nodes=[True]), "neither texts nor numbers"),
        (about(eot=-1), "no numbers"),
        (about(eot=1.5), "no numbers"),
        (about(eot=10**9), "no numbers"),
        (about(crashes=None), "no numbers"),
        (about(grounder=None), "state its bounds"),
    ],
)
def test_what_it_is_about_is_not_said(content: bytes, says: str, tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match=says):
        read_parts(write_parts(tmp_path / "x", contents(archive()) | {"about.json": content}))


def test_no_part_is_read_beyond_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few bytes can become very many: what is said of their number is not trusted."""
    file = tmp_path / "bomb"
    parts = contents(archive()) | {"proof.drat": b"0\n" * 100_000}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, content in parts.items():
            opened.writestr(name, content)
    monkeypatch.setattr("clew.verify.archive.MOST_BYTES", 100_000)
    assert file.stat().st_size < 50_000
    with pytest.raises(UnreadableError, match=r"proof\.drat is longer than"):
        read_parts(file)
    monkeypatch.setattr("clew.verify.archive.MOST_BYTES", 100)
    with pytest.raises(UnreadableError, match="it is longer than"):
        read_parts(file)


def test_many_parts(tmp_path: Path) -> None:
    parts = contents(archive()) | {f"extra{n}": b"" for n in range(100)}
    with pytest.raises(UnreadableError, match="more than 100 parts"):
        read_parts(write_parts(tmp_path / "x", parts))


def test_what_is_no_regular_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(UnreadableError, match="no regular file"):
            read_parts(path)
    with pytest.raises(UnreadableError, match="No such file"):
        read_parts(tmp_path / "none")
    with pytest.raises(UnreadableError, match="null byte"):
        read_parts("a\0b")


def test_an_unusual_compression(tmp_path: Path) -> None:
    file = tmp_path / "x"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_BZIP2) as opened:
        for name, content in contents(archive()).items():
            opened.writestr(name, content)
    with pytest.raises(UnreadableError, match="unusual way"):
        read_parts(file)


def test_damaged_files_are_refused_or_have_the_same_parts() -> None:
    """Changed anywhere, mostly at the end, where the directory of an archive is."""
    whole, draw = archive(), random.Random(5)
    expected = read_archive(io.BytesIO(whole))
    for _ in range(500):
        changed = bytearray(whole)
        for _ in range(draw.choice([1, 1, 2, 4, 20])):
            place = draw.randrange(len(changed)) if draw.random() < 0.3 else len(changed) - draw.randrange(1, 600)
            if draw.random() < 0.6:
                changed[place] = draw.choice([0, 1, 127, 128, 255, draw.randrange(256)])
            else:
                changed[place : place + draw.randrange(3)] = draw.randbytes(draw.randrange(4))
        try:
            assert read_archive(io.BytesIO(bytes(changed))) == expected
        except UnreadableError:
            continue
