"""Files of counts: what one process adds is what another reads, and what is none is refused."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from clew.bloom.tracing.counters import (
    BadCountsError,
    CollectionCounts,
    CountsFile,
    Layout,
    RuleCounts,
    read_counts,
)
from clew.bloom.tracing.record_lines import read_lines
from clew.bloom.tracing.recording import Task, read_task
from clew.bloom.tracing.rule_names import RuleName

LAYOUT = Layout((RuleName("/a.py", 3, 9, "A.b", 0), RuleName("/a.py", 3, 9, "A.b", 1)), ("kept", "sent", "ä"))


def _only(folder: Path) -> Path:
    (path,) = folder.glob("*.counts")
    return path


def test_counts_are_in_the_file_at_once(tmp_path: Path) -> None:
    file = CountsFile(tmp_path, LAYOUT)
    for first in (True, False):
        file.count_step(is_first=first)
    file.count_rule(1, 5, 2, 2**40)
    file.count_rule(1, 1, 0, 0)
    file.count_collection(2, 4, 4)
    file.count_collection(2, 1, 3)
    found = read_counts(_only(tmp_path))
    assert (found.steps, found.nodes) == (2, 1)
    assert list(found.rules.values()) == [RuleCounts(), RuleCounts(6, 2, 2, 2**40)]
    nothing = CollectionCounts()
    assert found.collections == {"kept": nothing, "sent": nothing, "ä": CollectionCounts(5, 4)}
    file.count_step(is_first=False)
    assert read_counts(_only(tmp_path)).steps == 3


def test_a_process_that_is_killed_has_counted(tmp_path: Path) -> None:
    child = os.fork()
    if child == 0:
        CountsFile(tmp_path, LAYOUT).count_step(is_first=True)
        os.kill(os.getpid(), 9)
    os.waitpid(child, 0)
    assert read_counts(_only(tmp_path)).steps == 1


def test_what_is_no_file_of_counts_is_refused(tmp_path: Path) -> None:
    CountsFile(tmp_path, LAYOUT)
    good = _only(tmp_path).read_bytes()
    path = tmp_path / "other"
    draw = random.Random(0)
    for _ in range(400):
        data = bytearray(good)
        for _ in range(draw.randint(1, 8)):
            match draw.randint(0, 2):
                case 0 if data:
                    data[draw.randrange(len(data))] = draw.randrange(256)
                case 1:
                    del data[draw.randint(0, len(data)) :]
                case _:
                    data.insert(draw.randint(0, len(data)), draw.randrange(256))
        path.write_bytes(data)
        try:
            found = read_counts(path)
        except BadCountsError:
            continue
        assert len(found.rules) <= 2  # a changed name, or number


@pytest.mark.parametrize("data", [b"", b"clewcov1", b"clewcov1\xff\xff\xff\xff", b"clewcov1\x02\x00\x00\x00[]"])
def test_beginnings_are_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "other"
    path.write_bytes(data)
    with pytest.raises(BadCountsError):
        read_counts(path)


def test_half_a_record_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "1.trace"
    whole = b'[1.5, "a", 2, "A.b, line 3", "kept", "<=", ["1"], null]\n'
    for rest in (b"", whole[:20], b"[1]\n", b"nonsense\n", b"[" * 100_000):
        path.write_bytes(whole + whole + rest)
        assert [str(record) for record in read_lines(path)] == ["a step 2: kept <= (1) (A.b, line 3)"] * 2


def test_tasks_are_read_as_they_were_written() -> None:
    task = Task("/f", "/a.py", "A", ("kept",))
    assert read_task(task.to_text()) == task
    assert [read_task(text) for text in ("", "[]", "{", '{"folder": 1}')] == [None] * 4
