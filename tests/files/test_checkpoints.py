"""The file of a checkpoint: what is refused, what is left alone, and when it is written."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from unittest import mock

import pytest

from clew.errors import UsageError
from clew.files import checkpoints
from clew.files.checkpoints import Checkpoint, Question
from clew.files.json_document import LARGEST_DOCUMENT

QUESTION: Question = {"command": "fuzz", "the code digest": "abc", "--seed": 1, "--runs": 100}


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def saved(file: Path, state: object = None) -> bytes:
    """Write a checkpoint of ``QUESTION``."""
    checkpoint = Checkpoint(file)
    checkpoint.open(QUESTION)
    checkpoint.state = lambda: {"runs": 3} if state is None else state
    checkpoint.save()
    return file.read_bytes()


def test_what_was_saved_is_read(tmp_path: Path) -> None:
    file = tmp_path / "ck"
    assert Checkpoint(file).open(QUESTION) is None
    saved(file, {"runs": 3, "text": "\ud800 ü", "big": 2**70})
    found = Checkpoint(file).open(QUESTION)
    assert found is not None
    assert found.value == {"runs": 3, "text": "\ud800 ü", "big": 2**70}
    assert names_in(tmp_path) == ["ck"]


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({**QUESTION, "command": "check"}, 'another search: command was "fuzz", and is "check"'),
        ({**QUESTION, "--seed": 2}, "another search: --seed was 1, and is 2"),
        ({**QUESTION, "--seed": True}, "another search: --seed was 1, and is true"),
        ({**QUESTION, "--seed": None}, "another search: --seed was 1, and is null"),
        ({**QUESTION, "--more": "x"}, 'another search: --more was not given, and is "x"'),
        ({**QUESTION, "the code digest": "abd"}, "another search: the code has changed since"),
        ({"command": "fuzz"}, "question: 'the code digest' is nothing that this search depends on"),
    ],
)
def test_another_question_is_refused(tmp_path: Path, question: Question, message: str) -> None:
    file = tmp_path / "ck"
    before = saved(file)
    with pytest.raises(UsageError, match="delete it") as refused:
        Checkpoint(file).open(question)
    assert message in refused.value.message
    assert file.read_bytes() == before


def test_another_version_of_clew_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "ck"
    saved(file)
    with mock.patch.object(checkpoints, "_own_version", lambda: "99"), pytest.raises(UsageError, match='is "99"'):
        Checkpoint(file).open(QUESTION)


def _edited(before: bytes, **changes: object) -> bytes:
    return json.dumps({**json.loads(before), **changes}).encode()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (lambda good: b"", "is empty"),
        (lambda good: b"\0" * 100, "not JSON"),
        (lambda good: b"\xff\xfe", "not UTF-8"),
        (lambda good: good[:-20], "not JSON"),
        (lambda good: good + good, "not JSON"),
        (lambda good: b"[" * 100_000, "nested too deeply"),
        (lambda good: b"[]", "is no document of Clew"),
        (lambda good: b"{}", "not a checkpoint"),
        (lambda good: b'{"format": "clew-recording", "version": 1}', "not a checkpoint"),
        (lambda good: _edited(good, version=2), "this clew reads version 1"),
        (lambda good: _edited(good, version=True), "expected an integer"),
        (lambda good: _edited(good, more=1), "unknown field 'more'"),
        (lambda good: _edited(good, state={"runs": 100}), "was edited or damaged"),
        (lambda good: _edited(good, question={}), "was edited or damaged"),
        (lambda good: _edited(good, digest=7), "was edited or damaged"),
        (lambda good: _edited(good, digest=None, state={"runs": float("nan")}), "was edited or damaged"),
        (lambda good: good.replace(b'"runs": 3', b'"runs": 3, "runs": 4'), "was edited or damaged"),
        (lambda good: good.replace(b'"runs": 3', b'"runs": ' + b"9" * 9000), "was edited or damaged"),
        (lambda good: b" " * (LARGEST_DOCUMENT + 1), "is larger than 50 MB"),
    ],
)
def test_what_is_no_checkpoint_is_refused_and_left_alone(
    tmp_path: Path, content: Callable[[bytes], bytes], message: str
) -> None:
    file = tmp_path / "ck"
    given = content(saved(file))
    file.write_bytes(given)
    checkpoint = Checkpoint(file)
    with pytest.raises(UsageError) as refused:
        checkpoint.open(QUESTION)
    assert message in refused.value.message
    assert "delete it" in (refused.value.remedy or "")
    assert file.read_bytes() == given


def test_a_digest_of_nothing_is_no_digest(tmp_path: Path) -> None:
    """What cannot be written down has the digest None, which a file must not simply claim."""
    file = tmp_path / "ck"
    saved(file)
    document = json.loads(file.read_bytes())
    text = json.dumps({**document, "digest": None, "state": {"runs": 7}}).replace("7", "Infinity")
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match="was edited or damaged"):
        Checkpoint(file).open(QUESTION)


# -- paths -------------------------------------------------------------------------------------------------------


def test_what_is_no_regular_file_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("fifo")
    for path in ("/dev/full", "/dev/null", "/dev/stdin", tmp_path, tmp_path / "fifo", tmp_path / "link", ""):
        with pytest.raises(UsageError, match="is no regular file"):
            Checkpoint(path)
    for path in (tmp_path / "none" / "ck", tmp_path / "file" / "ck", "a\0b"):
        with pytest.raises(UsageError, match="cannot be written"):
            Checkpoint(path)
    assert names_in(tmp_path) == ["fifo", "file", "link"]


def test_a_link_stays_and_what_it_leads_to_is_the_checkpoint(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("real")
    saved(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert not (tmp_path / "real").is_symlink()
    checkpoint = Checkpoint(tmp_path / "link")
    assert checkpoint.open(QUESTION) is not None
    checkpoint.answered = True
    checkpoint.conclude()
    assert names_in(tmp_path) == ["link"]


# -- writing -----------------------------------------------------------------------------------------------------


def opened(file: Path, told: list[str]) -> Checkpoint:
    checkpoint = Checkpoint(file, tell=told.append)
    checkpoint.open(QUESTION)
    checkpoint.state = lambda: {"runs": 3}
    return checkpoint


def test_a_full_disk_does_not_end_the_search(tmp_path: Path) -> None:
    told: list[str] = []
    checkpoint = opened(tmp_path / "ck", told)
    checkpoint.save()
    before = (tmp_path / "ck").read_bytes()
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    with mock.patch.object(checkpoints, "write_whole", side_effect=full):
        checkpoint.save()
        checkpoint.save()
    assert len(told) == 1
    assert "cannot be written (No space left on device); the search goes on without" in told[0]
    assert (tmp_path / "ck").read_bytes() == before
    checkpoint.save()  # there may be room again
    assert opened(tmp_path / "ck", told).saved is not None


def test_what_could_not_be_read_is_not_written(tmp_path: Path) -> None:
    told: list[str] = []
    checkpoint = opened(tmp_path / "ck", told)
    checkpoint.save()
    before = (tmp_path / "ck").read_bytes()
    with mock.patch.object(checkpoints, "LARGEST_DOCUMENT", len(before) - 1):
        checkpoint.save()
    assert "would be larger than can be read" in told[0]
    assert (tmp_path / "ck").read_bytes() == before


def test_of_two_processes_the_first_to_write_keeps_the_file(tmp_path: Path) -> None:
    told: list[str] = []
    other_told: list[str] = []
    one, other = opened(tmp_path / "ck", told), opened(tmp_path / "ck", other_told)
    one.save()
    before = (tmp_path / "ck").read_bytes()
    other.state = lambda: {"runs": 99}
    other.save()
    other.answered = True
    other.conclude()
    assert (tmp_path / "ck").read_bytes() == before
    assert other_told == [
        f"warning: {tmp_path / 'ck'} was changed by another process; this one leaves it alone from now on"
    ]
    one.answered = True
    one.conclude()
    assert told == []
    assert not (tmp_path / "ck").exists()


def test_a_file_that_came_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    checkpoint = opened(tmp_path / "ck", [])
    (tmp_path / "ck").write_text("mine", encoding="utf-8")
    checkpoint.save()
    checkpoint.answered = True
    checkpoint.conclude()
    assert (tmp_path / "ck").read_text(encoding="utf-8") == "mine"


def test_one_that_is_not_to_be_touched(tmp_path: Path) -> None:
    before = saved(tmp_path / "ck")
    checkpoint = Checkpoint(tmp_path / "ck", untouched=True)
    assert checkpoint.open(QUESTION) is not None
    checkpoint.state = lambda: {"runs": 4}
    checkpoint.save()
    checkpoint.answered = True
    checkpoint.conclude()
    assert (tmp_path / "ck").read_bytes() == before


def test_it_is_written_every_few_seconds_and_at_most_a_twentieth_of_the_time(tmp_path: Path) -> None:
    now = 1000.0
    with mock.patch("clew.files.checkpoints.time.monotonic", lambda: now):
        checkpoint = opened(tmp_path / "ck", [])
        writes: list[float] = []

        def state() -> dict[str, int]:
            nonlocal now
            writes.append(now)
            now += 0.5 if len(writes) == 8 else 0.0
            return {"runs": 3}

        checkpoint.state = state
        for _ in range(6000):
            now += 0.01
            checkpoint.offer()
    gaps = [round(later - earlier, 1) for earlier, later in pairwise(writes)]
    assert gaps[:7] == [0.3, 0.5, 1.0, 2.0, 4.0, 5.0, 5.0]
    assert gaps[7] == 10.5  # writing took half a second
    assert gaps[8:] == [5.0] * len(gaps[8:])
