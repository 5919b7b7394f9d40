"""``clew.cover`` from Python: the counts of several files together, and what is refused."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import clew
from clew.bloom.tracing.counters import CollectionCounts, CountsFile, Layout, RuleCounts
from clew.bloom.tracing.rule_names import RuleName
from clew.coverage.collecting import add_up, collect_records
from clew.coverage.running import describe_end
from command import ROOT

KVS = str(ROOT / "examples" / "bloom" / "kvs.py")


def test_counts_are_added_and_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    common, other = RuleName("/a.py", 1, 1, "A.b", 0), RuleName("/a.py", 2, 1, "A.b", 0)
    for rules in ((common,), (common, other)):
        file = CountsFile(tmp_path, Layout(rules, ("kept",)))
        file.count_step(is_first=True)
        for number in range(len(rules)):
            file.count_rule(number, 2 + number, 1, 10)
        file.count_collection(0, 3, len(rules))
    (tmp_path / "1-a.counts").write_bytes(b"clewcov1")
    (tmp_path / "1-b").write_bytes(b"of a process that is just beginning")
    total = add_up(tmp_path)
    assert total.rules == {common: RuleCounts(4, 2, 2, 20), other: RuleCounts(3, 1, 1, 10)}
    assert total.collections == {"kept": CollectionCounts(6, 2)}
    # Both files are of this process.
    assert (total.steps, total.nodes, len(total.processes)) == (2, 2, 1)
    assert [str(notice) for notice in total.notices] == [
        "warning: the counts of a process cannot be read: it does not begin as counts do"
    ]


def test_pipes_in_the_place_of_recordings_are_not_waited_for(tmp_path: Path) -> None:
    """Code that is counted can put them there; opening one would wait for ever."""
    os.mkfifo(tmp_path / "1-a.counts")
    os.mkfifo(tmp_path / "1-a.trace")
    assert [str(notice) for notice in add_up(tmp_path).notices] == [
        "warning: the counts of a process cannot be read: it is a named pipe, not a regular file"
    ]
    assert collect_records(tmp_path) == []


def test_records_are_in_the_order_of_the_clock(tmp_path: Path) -> None:
    line = '[%s, "%s", 1, "A.b, line 3", "kept", "<=", [], null]\n'
    (tmp_path / "1-a.trace").write_text(
        line % (1.0, "a") + line % (3.0, "a") + line % (3.0, "b"), encoding="utf-8"
    )
    (tmp_path / "2-a.trace").write_text(line % (2.0, "c"), encoding="utf-8")
    assert [record.node for record in collect_records(tmp_path)] == ["a", "c", "a", "b"]


def test_a_command_is_a_list_of_words() -> None:
    with pytest.raises(clew.UsageError, match="the command is the text 'pytest -q'") as caught:
        clew.cover(f"{KVS}:BasicKVS", "pytest -q")
    assert caught.value.remedy == "give its words: ['pytest', '-q']"
    with pytest.raises(clew.UsageError, match="no command is given"):
        clew.cover(f"{KVS}:BasicKVS", [])


def test_what_nobody_executes_is_nothing_ran() -> None:
    covered = clew.cover(f"{KVS}:BasicKVS", [sys.executable, "-c", "print('heard')"], stdout=subprocess.DEVNULL)
    assert (covered.answer.value, covered.exit_code, covered.percentage) == ("nothing ran", 3, 0)
    assert "never fired" not in str(covered)


@pytest.mark.parametrize(
    ("code", "words"),
    [(0, "ended with exit code 0"), (-15, "was ended by SIGTERM"), (-63, "was ended by signal 63")],
)
def test_ends_in_words(code: int, words: str) -> None:
    assert describe_end(code) == words
