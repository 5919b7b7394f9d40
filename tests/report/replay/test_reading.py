"""The table of bad documents: what can be wrong with a file that is to be read back, and what is said about it."""

from __future__ import annotations

import copy
import json
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

import clew
from clew.files.json_document import LARGEST_DOCUMENT
from clew.report.replay.reading import SavedVerdict, read_verdict
from clew.report.verdict.document import to_json, verdict_document
from command import ROOT

GONE = object()

CANDIDATE = {
    "losses": [["b", "Z", 1]],
    "crashes": [],
    "delays": [],
    "violated": [{"relation": "pre", "row": ["C", "w1"]}],
}


@cache
def kafka() -> clew.Verdict:
    return clew.check(ROOT / "examples" / "kafka.ded")


def good() -> dict[str, Any]:
    """Losses b,Z,1 and c,Z,1 and a crash a,4, within EOT 6, EFF 4, 1 crash."""
    return verdict_document(kafka(), ["kafka.ded"])


def test_a_good_document(tmp_path: Path) -> None:
    file = tmp_path / "verdict.json"
    file.write_text(to_json(kafka(), ["kafka.ded"]), encoding="utf-8")
    saved = read_verdict(file)
    assert saved == SavedVerdict(
        ("kafka.ded",), ("a", "b", "c", "C", "Z"), 6, 4, 1, 0, clew.Answer.COUNTEREXAMPLE, kafka().counterexamples
    )
    assert saved.spec == kafka().spec
    assert read_verdict(str(file)) == saved


#: The survey, and what a sweep tells beside its settings.
NEW_IN_VERSION_2 = ("cautions", "remarks", "promises", "coverage", "certified", "candidates")


def test_documents_of_the_first_version_are_read(tmp_path: Path) -> None:
    """They are kept beside bug reports and in repositories, and replayed years later."""
    file = tmp_path / "verdict.json"
    document = {k: v for k, v in good().items() if k not in NEW_IN_VERSION_2} | {"version": 1}
    file.write_text(json.dumps(document), encoding="utf-8")
    saved = read_verdict(file)
    assert (saved.counterexamples, saved.candidates) == (kafka().counterexamples, ())
    del document["sweep"]
    file.write_text(json.dumps(document), encoding="utf-8")
    assert "the field 'sweep' is missing" in refusal(file).message


def test_a_byte_order_mark_is_no_defect(tmp_path: Path) -> None:
    file = tmp_path / "verdict.json"
    file.write_text(to_json(kafka()), encoding="utf-8-sig")
    assert read_verdict(file).answer is clew.Answer.COUNTEREXAMPLE


# -- files that are no document ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class NoDocument:
    """The bytes of verdict.json, words of the message, and how the place it points to begins."""

    name: str
    content: bytes
    says: str
    at: str | None = None


NO_DOCUMENTS = [
    NoDocument("empty", b"", "verdict.json: is empty"),
    NoDocument("blank", b" \n\n", "verdict.json: is empty"),
    NoDocument("not UTF-8", b'{"format": "\xff"}', "verdict.json: not UTF-8 text, from byte 12 on"),
    NoDocument("UTF-16", '{"format": 1}'.encode("utf-16"), "verdict.json: not UTF-8 text, from byte 0 on"),
    NoDocument("binary", bytes(range(256)), "not UTF-8"),
    NoDocument("cut off", to_json(kafka()).encode()[:60], "not JSON", at="4:"),
    NoDocument("a program", b'n("a")@1;\n', "not JSON: expecting value", at="1:1"),
    NoDocument("two documents", b"{}\n{}", "not JSON: extra data", at="2:1"),
    NoDocument("trailing comma", b'{"a": 1,}', "not JSON", at="1:"),
    NoDocument("single quotes", b"{'a': 1}", "not JSON", at="1:2"),
    NoDocument("raw control character", b'{"a": "\x01"}', "not JSON: invalid control character", at="1:8"),
    NoDocument("NUL", b"\0", "not JSON", at="1:1"),
    NoDocument("deep lists", b"[" * 200_000, "nested too deeply"),
    NoDocument("deep objects", b'{"a":' * 200_000, "nested too deeply"),
    NoDocument("deep and closed", b"[" * 200_000 + b"]" * 200_000, "nested too deeply"),
    NoDocument("deep but not too deep", b"[" * 500 + b"]" * 500, "expected an object, found a list of 1"),
    NoDocument("a list", b"[]", "expected an object, found a list of 0"),
    NoDocument("a string", b'"clew verdict"', "expected an object, found the string 'clew verdict'"),
    NoDocument("null", b"null", "expected an object, found null"),
    NoDocument("a number", b"12", "expected an object, found 12"),
    NoDocument("a huge number", b"1" * 1_000_000, "expected an object, found an integer of 1000000 digits"),
    NoDocument("a huge float", b"1e999999999", "expected an object, found inf"),
    NoDocument("NaN", b"NaN", "expected an object, found NaN, which JSON does not have"),
    NoDocument("an empty object", b"{}", "the field 'format' is missing"),
    NoDocument("other JSON", b'{"name": "x", "dependencies": {}}', "the field 'format' is missing"),
    NoDocument(
        "format twice", b'{"format": "clew verdict", "format": "x"}', "the field 'format' stands there twice"
    ),
]


def refusal(file: str | Path) -> clew.UsageError:
    with pytest.raises(clew.UsageError) as caught:
        read_verdict(file)
    assert caught.value.remedy
    assert len(caught.value.message) < len(str(file)) + 400
    return caught.value


@pytest.mark.parametrize("bad", NO_DOCUMENTS, ids=lambda bad: bad.name)
def test_files_that_are_no_document(bad: NoDocument, tmp_path: Path) -> None:
    file = tmp_path / "verdict.json"
    file.write_bytes(bad.content)
    error = refusal(file)
    assert bad.says in error.message
    if bad.at is None:
        assert error.position is None and str(file) in error.message
    else:
        assert str(error.position).startswith(f"{file}:{bad.at}")


def test_paths_that_are_no_file(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "file").write_text("{}", encoding="utf-8")
    for name, says in [
        ("gone.json", "no such file"),
        (".", "is a folder"),
        ("loop", "cannot be read"),
        ("file/below", "cannot be read"),
        ("a" * 5000, "cannot be read"),
        ("nul\0", "cannot be read"),
    ]:
        assert says in refusal(tmp_path / name).message


def test_too_large_files_are_not_read(tmp_path: Path) -> None:
    file = tmp_path / "verdict.json"
    with file.open("wb") as stream:
        stream.truncate(LARGEST_DOCUMENT + 1)
    assert "is larger than 50 MB" in refusal(file).message


def test_a_pipe_is_read_once() -> None:
    """The message carries the place itself: to show the line, the pipe would have to be opened again."""
    reader, writer = os.pipe()
    os.write(writer, b"\n  [")
    os.close(writer)
    pipe = f"/dev/fd/{reader}"
    error = refusal(pipe)
    os.close(reader)
    assert error.position is None
    assert error.message == f"{pipe}:2:4: not JSON: expecting value"


# -- documents with a defect -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bad:
    """One value changed: where (in dots and numbers), to what, and what the message says about it."""

    at: str
    value: Any
    says: str


def changed(document: dict[str, Any], at: str, value: Any) -> dict[str, Any]:
    holder: Any = document
    *way, last = (int(key) if key.isdecimal() else key for key in at.split("."))
    for key in way:
        holder = holder[key]
    if value is GONE:
        del holder[last]
    elif isinstance(holder, list) and last == len(holder):
        holder.append(value)
    else:
        holder[last] = value
    return document


ONE = "counterexamples.0"
INT32 = "expected an integer from -2147483648 to 2147483647"

DEFECTS = [
    Bad("format", "clew recording", "format: expected \"clew verdict\", found the string 'clew recording'"),
    Bad("format", 1, "format: expected the name of a format, found 1"),
    Bad("version", GONE, "the field 'version' is missing"),
    Bad("version", 3, "version 3 is newer than version 2, which this clew reads"),
    Bad("version", 1, "unknown field 'cautions'"),
    Bad("version", 0, "version: expected an integer from 1 to 2147483647, found 0"),
    Bad("version", "1", "version: expected an integer from 1 to 2147483647, found the string '1'"),
    Bad("version", True, "version: expected an integer from 1 to 2147483647, found true"),
    Bad("version", 1.0, "version: expected an integer from 1 to 2147483647, found 1.0"),
    Bad("version", 10**30, "version: expected an integer"),
    Bad("files", GONE, "the field 'files' is missing"),
    Bad("files", "kafka.ded", "files: expected a list, found the string 'kafka.ded'"),
    Bad("files.0", 7, "files[0]: expected the path of a file, found 7"),
    Bad("files.0", "", "files[0]: expected the path of a file, found the string ''"),
    Bad("files.1", "a\0b", r"files[1]: expected the path of a file, found the string 'a\x00b'"),
    Bad("files.1", "\ud800", r"files[1]: expected the path of a file, found the string '\ud800'"),
    Bad("comment", "hello", "unknown field 'comment'; the fields are format, version, files"),
    Bad("\x1b[31m", 1, r"unknown field '\x1b[31m'"),
    Bad(
        "verdict", "perhaps", 'verdict: expected "counterexample" or "certified" or "incomplete", found the string'
    ),
    Bad("verdict", ["certified"], "verdict: expected"),
    Bad("verdict", "certified", "counterexamples: expected none with the verdict 'certified', found a list of 1"),
    Bad("verdict", "incomplete", "counterexamples: expected none with the verdict 'incomplete'"),
    Bad("strategy", "luck", 'strategy: expected "exact" or "lineage" or "random" or "exhaustive"'),
    Bad("spec", None, "spec: expected an object, found null"),
    Bad("spec.eot", GONE, "spec: the field 'eot' is missing"),
    Bad("spec.eto", 6, "spec: unknown field 'eto'; the fields are nodes, eot, eff, crashes, delays"),
    Bad("spec.eot", 0, "spec.eot: expected an integer from 1 to 1000, found 0"),
    Bad("spec.eot", 10**9, "spec.eot: expected an integer from 1 to 1000, found 1000000000"),
    Bad("spec.eot", 6.0, "spec.eot: expected an integer from 1 to 1000, found 6.0"),
    Bad("spec.eff", -1, "spec.eff: expected an integer from 0 to 2147483647, found -1"),
    Bad("spec.eff", 7, "spec.eff: expected an integer from 0 to 6, found 7"),
    Bad("spec.crashes", 6, "spec.crashes: expected an integer from 0 to 5, found 6"),
    Bad("spec.delays", 1001, "spec.delays: expected an integer from 0 to 1000, found 1001"),
    Bad("spec.nodes", "abc", "spec.nodes: expected a list, found the string 'abc'"),
    Bad("spec.nodes", {}, "spec.nodes: expected a list, found an object"),
    Bad("spec.nodes.2", None, "spec.nodes[2]: expected a node: a string or an integer, found null"),
    Bad("spec.nodes.2", True, f"spec.nodes[2]: {INT32}, found true"),
    Bad("spec.nodes.2", 2**31, f"spec.nodes[2]: {INT32}, found 2147483648"),
    Bad(
        "spec.nodes.2",
        "\x1b]0;",
        r"spec.nodes[2]: expected a node with a printable name, found the string '\x1b]0;'",
    ),
    Bad("spec.nodes.2", "\udcff", "spec.nodes[2]: expected a node with a printable name"),
    Bad("spec.nodes.5", "a", "spec.nodes[5]: 'a' is listed twice"),
    Bad(
        "counterexamples",
        [],
        "counterexamples: expected some with the verdict 'counterexample', found a list of 0",
    ),
    Bad("counterexamples", {}, "counterexamples: expected a list, found an object"),
    Bad(ONE, [], "counterexamples[0]: expected an object, found a list of 0"),
    Bad(f"{ONE}.delays", GONE, "counterexamples[0]: the field 'delays' is missing"),
    Bad(f"{ONE}.losses", None, "counterexamples[0].losses: expected a list, found null"),
    Bad(f"{ONE}.losses.2", ["a", "b"], "losses[2]: expected [from, to, time], found a list of 2"),
    Bad(f"{ONE}.losses.2", ["a", "b", 1, 1], "losses[2]: expected [from, to, time], found a list of 4"),
    Bad(f"{ONE}.losses.2", {"from": "a"}, "losses[2]: expected [from, to, time], found an object"),
    Bad(f"{ONE}.losses.2", ["a", 1.5, 1], "losses[2][1]: expected a node: a string or an integer, found 1.5"),
    Bad(f"{ONE}.losses.2", ["a", "b", "1"], "losses[2][2]: expected an integer from 1 to 2147483647, found the"),
    Bad(f"{ONE}.losses.2", ["a", "b", 0], "losses[2][2]: expected an integer from 1 to"),
    Bad(f"{ONE}.losses.2", ["a", "b", True], "losses[2][2]: expected an integer from 1 to 2147483647, found true"),
    Bad(
        f"{ONE}.losses.2",
        ["a", "b", 4],
        "losses[2]: the fault O(a,b,4) is not possible within the bounds of 'spec'",
    ),
    Bad(f"{ONE}.losses.2", ["a", "a", 1], "losses[2]: the fault O(a,a,1) is not possible"),
    Bad(f"{ONE}.losses.2", ["a", "q", 1], "losses[2]: the fault O(a,q,1) is not possible"),
    Bad(f"{ONE}.losses.2", ["b", "Z", 1], "losses[2]: 'O(b,Z,1)' is listed twice"),
    Bad(f"{ONE}.crashes.0", ["a", 6], "crashes[0]: the fault C(a,6) is not possible"),
    Bad(f"{ONE}.crashes.0", ["a"], "crashes[0]: expected [node, time], found a list of 1"),
    Bad(
        f"{ONE}.crashes.1", ["b", 4], "counterexamples[0]: these faults are not possible together: at most 1 crash"
    ),
    Bad(f"{ONE}.delays.0", ["a", "b", 1, 1], "delays[0]: the fault D(a,b,1,1) is not possible"),
    Bad(f"{ONE}.delays.0", ["a", "b", 1], "delays[0]: expected [from, to, time, lag], found a list of 3"),
    Bad("counterexamples.1", good()["counterexamples"][0], "[1]: an earlier counterexample has the same faults"),
    Bad(f"{ONE}.violated", [], "violated: expected at least one violated row, found a list of 0"),
    Bad(f"{ONE}.violated.0", "pre(C, w1)", "violated[0]: expected an object, found the string 'pre(C, w1)'"),
    Bad(f"{ONE}.violated.0.relation", None, "violated[0].relation: expected a string, found null"),
    Bad(f"{ONE}.violated.0.row", "C", "violated[0].row: expected a list, found the string 'C'"),
    Bad(
        f"{ONE}.violated.0.row.1",
        1.5,
        "violated[0].row[1]: expected a string, an integer, null or an array of such, found 1.5",
    ),
    Bad(
        f"{ONE}.violated.0.row.1",
        [["w1", {"a": 1}]],
        "row[1][0][1]: expected a string, an integer, null or an array of such, found an object",
    ),
    Bad("runs", -1, "runs: expected an integer from 0 to 2147483647, found -1"),
    Bad("runs", None, "runs: expected an integer from 0 to 2147483647, found null"),
    Bad("combinations", -1, "combinations: expected an integer from 0 on, found -1"),
    Bad("combinations", True, "combinations: expected an integer from 0 on, found true"),
    Bad("combinations", 1e25, "combinations: expected an integer from 0 on, found 1e+25"),
    Bad("seconds", "1", "seconds: expected a number of seconds from 0 on, found the string '1'"),
    Bad("seconds", -0.5, "seconds: expected a number of seconds from 0 on, found -0.5"),
    Bad("seconds", False, "seconds: expected a number of seconds from 0 on, found false"),
    Bad(
        "seconds", float("nan"), "seconds: expected a number of seconds from 0 on, found NaN, which JSON does not"
    ),
    Bad("seconds", float("inf"), "seconds: expected a number of seconds from 0 on, found Infinity, which JSON"),
    Bad("reason", 1, "reason: expected a string or null, found 1"),
    Bad("vacuous", 0, "vacuous: expected true or false, found 0"),
    Bad("vacuous", None, "vacuous: expected true or false, found null"),
    Bad("warnings", "none", "warnings: expected a list, found the string 'none'"),
    Bad("warnings.0", {}, "warnings[0]: expected a string, found an object"),
    Bad("sweep.0", {}, "sweep[0]: the field 'eot' is missing"),
    Bad("sweep.0", {"eot": 1, "eff": -1, "verdict": "certified"}, "sweep[0].eff: expected an integer from 0 to"),
    Bad("sweep.0", {"eot": 1, "eff": 0, "verdict": "good"}, 'sweep[0].verdict: expected "counterexample" or'),
    Bad("certified", {"eot": 1}, "certified: the field 'eff' is missing"),
    Bad("certified", {"eot": 0, "eff": 0}, "certified.eot: expected an integer from 1 to 1000, found 0"),
    Bad("certified", {"eot": 3, "eff": 2}, "certified: expected null without a sweep, found an object"),
    Bad("certified", 4, "certified: expected an object, found 4"),
    Bad("candidates", None, "candidates: expected a list, found null"),
    Bad("candidates.0", {}, "candidates[0]: the field 'losses' is missing"),
    Bad(
        "candidates", [CANDIDATE], "candidates: expected none with the verdict 'counterexample', found a list of 1"
    ),
]


@pytest.mark.parametrize("bad", DEFECTS, ids=lambda bad: ascii(f"{bad.at} {bad.says}")[:90])
def test_documents_with_a_defect(bad: Bad, tmp_path: Path) -> None:
    file = tmp_path / "verdict.json"
    document = changed(copy.deepcopy(good()), bad.at, bad.value)
    file.write_text(json.dumps(document), encoding="utf-8")
    error = refusal(file)
    assert error.message.startswith(f"{file}: ")
    assert bad.says in error.message
    assert error.message.isprintable()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('"runs": 1', "runs: expected an integer from 0 to 2147483647, found an integer of 5000 digits"),
        ('"eot": 6', "spec.eot: expected an integer from 1 to 1000, found an integer of 5000 digits"),
        (
            '"crashes": 1',
            "spec.crashes: expected an integer from 0 to 2147483647, found an integer of 5000 digits",
        ),
    ],
)
def test_integers_that_python_does_not_read(text: str, says: str, tmp_path: Path) -> None:
    file = tmp_path / "verdict.json"
    huge = f"{text.split(':')[0]}: {'9' * 5000}"
    file.write_text(to_json(kafka()).replace(text, huge, 1), encoding="utf-8")
    assert says in refusal(file).message


def test_negative_combinations_that_python_does_not_read(tmp_path: Path) -> None:
    file = tmp_path / "verdict.json"
    file.write_text(
        to_json(kafka()).replace(f'"combinations": {kafka().combinations}', f'"combinations": -{"9" * 5000}'),
        encoding="utf-8",
    )
    assert "combinations: expected an integer from 0 on" in refusal(file).message


@pytest.mark.parametrize("field", ["verdict", "eot", "losses", "relation"])
def test_fields_that_stand_there_twice(field: str, tmp_path: Path) -> None:
    file = tmp_path / "verdict.json"
    file.write_text(to_json(kafka()).replace(f'"{field}":', f'"{field}": 1, "{field}":', 1), encoding="utf-8")
    assert f"the field '{field}' stands there twice" in refusal(file).message


@pytest.mark.parametrize("field", NEW_IN_VERSION_2)
def test_the_first_version_had_no_such_field_and_the_second_always_has(field: str, tmp_path: Path) -> None:
    file = tmp_path / "verdict.json"
    first = {k: v for k, v in good().items() if k not in NEW_IN_VERSION_2}
    file.write_text(json.dumps({**first, "version": 1}), encoding="utf-8")
    assert len(read_verdict(file).counterexamples) == 1
    file.write_text(json.dumps({**first, "version": 1, field: good()[field]}), encoding="utf-8")
    assert f"unknown field '{field}'" in refusal(file).message
    file.write_text(json.dumps({k: v for k, v in good().items() if k != field}), encoding="utf-8")
    assert f"the field '{field}' is missing" in refusal(file).message


def test_a_newer_version_is_refused_before_its_fields_are_looked_at(tmp_path: Path) -> None:
    file = tmp_path / "verdict.json"
    file.write_text('{"format": "clew verdict", "version": 9, "new": []}', encoding="utf-8")
    error = refusal(file)
    assert "version 9 is newer than version 2" in error.message
    assert error.remedy is not None and "upgrade clew" in error.remedy


def test_damaged_documents_are_read_or_refused_and_nothing_else(tmp_path: Path) -> None:
    """A few bytes lost, changed or put in, at random."""
    random, text = Random(0), to_json(kafka(), ["kafka.ded"]).encode()
    pieces = [*b'"[]{},:-1', *(b"null", b"true", b"NaN", b"99999999999", b".5", b"e9", b"\xff", b"\\ud800")]
    file = tmp_path / "verdict.json"
    refused = 0
    for _ in range(500):
        damaged = bytearray(text)
        for _ in range(random.choice([1, 1, 3])):
            at, piece = random.randrange(len(damaged)), random.choice(pieces)
            damaged[at : at + random.choice([0, 1, 4])] = piece if isinstance(piece, bytes) else bytes([piece])
        file.write_bytes(damaged)
        try:
            read_verdict(file)
        except clew.UsageError as error:
            assert error.remedy
            refused += 1
    assert refused > 300
