"""Histories in files: both notations, whole operations, and every defect with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from clew.errors import UsageError
from clew.histories import Outcome, check_history, read_history
from clew.histories.inputs import reading

EDN = """
{:type :invoke, :f :write, :value 1, :process 0, :time 3}
{:type :info, :f :start, :process :nemesis}
#jepsen.history.Op{:index 2, :type :invoke, :f :read, :value nil, :process 1, :time 4}
{:type :ok, :f :read, :value 1, :process 1, :time 5}
{:type :info, :f :write, :value 1, :process 0, :time 6, :error :timeout}
"""


def write(folder: Path, text: str, name: str = "h.jsonl") -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_jepsens_history(tmp_path: Path) -> None:
    history = read_history(write(tmp_path, EDN, "history.edn"))
    write_, read_ = history.operations
    assert (write_.process, write_.argument, write_.outcome, write_.end, write_.line) == (
        0,
        1,
        Outcome.UNKNOWN,
        None,
        2,
    )
    assert (read_.result, read_.outcome, read_.start, read_.end, read_.ended) == (1, Outcome.OK, 1, 2, 5)
    assert read_history(write(tmp_path, f"[{EDN}]", "vector.edn")).operations == history.operations


def test_pairs_of_keys_and_values(tmp_path: Path) -> None:
    text = (
        "{:process 0 :type :invoke :f :write :value [:x 1]}\n{:process 0 :type :ok :f :write :value [:x 1]}\n"
        "{:process 0 :type :invoke :f :read :value [:y nil]}\n{:process 0 :type :ok :f :read :value [:y 1]}\n"
    )
    verdict = check_history(write(tmp_path, text, "h.edn"), keyed=True)
    assert [window.key for window in verdict.windows] != []
    assert verdict.reason == "key :y: read → 1 of client 0 cannot be explained"


def test_whole_operations_share_their_moments(tmp_path: Path) -> None:
    """What ends when another begins overlaps it: the clock cannot tell which was first."""
    lines = [
        '{"process": 0, "f": "write", "argument": 1, "start": 0, "end": 5}',
        '{"process": 1, "f": "read", "result": null, "start": 5, "end": 6.5}',
        '{"process": 2, "f": "write", "argument": 2, "start": 7, "type": "unknown"}',
    ]
    verdict = check_history(write(tmp_path, "\n".join(lines)))
    assert (verdict.answer.value, verdict.unknown) == ("holds", 1)
    later = lines[1].replace('"start": 5', '"start": 5.1')
    assert check_history(write(tmp_path, "\n".join([lines[0], later]))).answer.value == "violated"


def test_true_is_not_one(tmp_path: Path) -> None:
    lines = [
        '{"process": 0, "f": "write", "argument": 1, "start": 0, "end": 1}',
        '{"process": 1, "f": "read", "result": true, "start": 2, "end": 3}',
    ]
    assert check_history(write(tmp_path, "\n".join(lines))).answer.value == "violated"


INVOKE = '{"process": 0, "type": "invoke", "f": "read"}'
OK = '{"process": 0, "type": "ok", "f": "read", "value": 1}'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nothing", "h.jsonl:1:1: error: not JSON: expecting value"),
        (f"{INVOKE}\n{{", "h.jsonl:2:2: error: not JSON"),
        ("[1]", "h.jsonl:1:1: error: expected an object"),
        ('{"a": 1, "a": 2}', "a field stands there twice"),
        ('{"a": NaN}', "NaN is no number that JSON has"),
        ('{"a": ' + "[" * 150 + "]" * 150 + "}", "nested too deeply"),
        ('{"a": ' + "[" * 100_000 + "]" * 100_000 + "}", "nested too deeply"),
        ('{"type": "ok", "f": "read"}', "the field 'process' is missing"),
        ('{"process": 0, "f": "read"}', "the field 'type' is missing"),
        ('{"process": 0, "type": "done", "f": "read"}', "expected one of invoke, ok, fail, unknown, info"),
        ('{"process": 0, "type": "ok", "f": 3}', "expected the name of a function as 'f', found 3"),
        ('{"process": 0, "type": "invoke", "f": "read", "time": "x"}', "expected a number as 'time', found x"),
        (OK, "client 0 gets an answer to read, but has nothing under way"),
        (f"{INVOKE}\n{INVOKE}", "h.jsonl:2:1: error: client 0 invokes read, but has read of line 1 under way"),
        (f"{INVOKE}\n{OK.replace('read', 'write')}", "gets an answer to write, but has read of line 1 under way"),
        ('{"process": 0, "f": "read", "start": 3}', "the field 'end' is missing"),
        ('{"process": 0, "f": "read", "start": 3, "end": 2}', "ends at 2, before it starts at 3"),
        ('{"process": 0, "f": "read", "start": null, "end": 2}', "expected a number as 'start', found nil"),
        ('{"process": 0, "type": "invoke", "f": "jump"}', "the model register has no function 'jump'"),
        (
            '{"process": 0, "f": "cas", "argument": 1, "start": 0, "end": 2}',
            "line 1: cas takes [expected, new], not 1",
        ),
    ],
)
def test_defects(text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, text)
    with pytest.raises(UsageError) as refused:
        check_history("h.jsonl")
    assert message in str(refused.value)
    assert refused.value.remedy


def test_values_that_are_no_pairs(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="expected a pair of a key and a value, found nil"):
        read_history(write(tmp_path, INVOKE), keyed=True)


def test_files_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="no such file"):
        read_history(tmp_path / "none.jsonl")
    with pytest.raises(UsageError, match="cannot be read"):
        read_history(tmp_path)
    (tmp_path / "latin.jsonl").write_bytes(b"\xff\xff")
    with pytest.raises(UsageError, match="not UTF-8 text, from byte 0 on"):
        read_history(tmp_path / "latin.jsonl")
    monkeypatch.setattr(reading, "LARGEST_HISTORY", 10)
    with pytest.raises(UsageError, match="is larger than"):
        read_history(write(tmp_path, INVOKE))
