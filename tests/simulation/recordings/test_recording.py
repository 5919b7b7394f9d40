"""Recordings: what is written is read back, and the table of bad documents."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from clew.errors import UsageError
from clew.files.json_document import read_document
from clew.simulation import Scenario
from clew.simulation.execution.effects import Effect
from clew.simulation.execution.steps import Act
from clew.simulation.fuzzing.fuzz import fuzz, record
from clew.simulation.loading import as_loaded, load_scenario
from clew.simulation.recordings.reading import LARGEST_SEED, open_recording, read_recording
from clew.simulation.recordings.recording import FORMAT, Recording, make_recording, write_recording
from scenario_files import CRASH, TOKENS, scenario_file


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A document only names what is below the working directory."""
    monkeypatch.chdir(tmp_path)


def written(recording: Recording, folder: Path) -> str:
    file = folder / "rec.json"
    file.write_text(write_recording(recording), encoding="utf-8")
    return str(file)


# -- there and back ----------------------------------------------------------------------------------------------


def test_recordings_of_all_that_can_happen_are_read_back(tmp_path: Path) -> None:
    scenario = scenario_file(tmp_path, TOKENS)
    kinds: set[str] = set()
    for seed in range(8):
        recording = record(scenario, seed)
        opened = open_recording(written(recording, tmp_path))
        assert opened.recording == recording and opened.same_code
        assert write_recording(opened.recording) == write_recording(recording)
        kinds |= {s.do.value if isinstance(s, Act) else type(s).__name__ for s in recording.steps}
        kinds |= {"timer" for s in recording.steps if isinstance(s, Act) and s.timer}
    assert sorted(kinds) == [
        "CodeBlock", "Heal", "Partition", "Restart", "Send", "Start", "Stop", "WaitCondition", "WaitQuiescence",
        "deliver", "duplicate", "lose", "timer",
    ]  # fmt: skip


def test_the_document(tmp_path: Path) -> None:
    file = scenario_file(tmp_path, CRASH)
    recording = fuzz(file).recording
    assert recording is not None
    digests = [effect.all for effect in recording.effects if isinstance(effect, Effect)]
    assert write_recording(replace(recording, file="s.py")) == (
        "{\n"
        '  "format": "clew-recording",\n'
        '  "version": 4,\n'
        '  "scenario": "s.py",\n'
        '  "name": "scenario",\n'
        f'  "code": "{load_scenario(file).code}",\n'
        '  "files": ["s.py"],\n'
        f'  "digests": {{"s.py": "{sha256(CRASH.encode()).hexdigest()}"}},\n'
        '  "seed": 0,\n'
        '  "network": "fifo",\n'
        '  "violation": {"invariant": "no uncaught exception", '
        '"what": "ValueError: no thanks (in Fragile.on_message)", "nodes": ["a"], '
        '"identity": "no uncaught exception at a: ValueError in Fragile.on_message"},\n'
        f'  "beginning": {{"digest": "{recording.beginning.all}"}},\n'
        '  "steps": [\n'
        f'    {{"start": "a", "digest": "{digests[0]}"}},\n'
        f'    {{"send": "a", "message": "thanks", "digest": "{digests[1]}", "sent": "{_sent(recording)}"}},\n'
        '    {"wait": "quiescence"},\n'
        f'    {{"deliver": ["", 1], "to": "a", "message": "str", "digest": "{digests[2]}"}}\n'
        "  ]\n"
        "}\n"
    )


def _sent(recording: Recording) -> str:
    effect = recording.effects[1]
    assert isinstance(effect, Effect)
    return effect.sent


def test_names_that_utf8_cannot_hold(tmp_path: Path) -> None:
    scenario = as_loaded(scenario_file(tmp_path, CRASH.replace("thanks", "\\ud800 \\u00fc")))
    recording = record(scenario, 0)
    assert open_recording(written(recording, tmp_path), scenario).recording == recording


def test_steps_after_the_violation_are_left_out(tmp_path: Path) -> None:
    loaded = load_scenario(scenario_file(tmp_path, CRASH))
    steps = record(loaded, 0).steps
    assert make_recording(loaded, 0, [*steps, steps[0]]) == record(loaded, 0)


def test_a_scenario_made_in_python_has_to_be_given_again(tmp_path: Path) -> None:
    scenario = load_scenario(scenario_file(tmp_path, CRASH)).scenario
    file = written(record(scenario, 0), tmp_path)
    assert isinstance(scenario, Scenario)
    assert open_recording(file, scenario).recording.scenario == ""
    with pytest.raises(UsageError, match="names no scenario, for it was recorded from Python"):
        open_recording(file)


def test_a_scenario_that_is_not_where_it_was(tmp_path: Path) -> None:
    scenario = scenario_file(tmp_path, CRASH)
    file = written(record(scenario, 0), tmp_path)
    Path(scenario).rename(tmp_path / "t.py")
    with pytest.raises(UsageError, match=r"the scenario was in .*s\.py, and there is no such file here"):
        open_recording(file)
    assert open_recording(file, str(tmp_path / "t.py")).loaded.name == "scenario"


# -- the table of bad documents ----------------------------------------------------------------------------------

GONE = object()


@dataclass(frozen=True)
class Edit:
    """The path of a value in the document, what is put there, and what is said about it."""

    path: tuple[str | int, ...]
    value: Any
    says: str

    def __str__(self) -> str:
        return ".".join(map(str, self.path)) + (" gone" if self.value is GONE else f" {self.value}"[:20])


#: The steps of the recording that is edited: start a, start b, start c, wait for, then what is below.
SEND, TIMER, DELIVER, PARTITION, CODE = 5, 6, 7, 8, 9

EDITS = [
    Edit(("format",), "clew verdict", "not a recording, but a 'clew verdict'"),
    Edit(("format",), GONE, "does not say what it is: the field 'format' is missing"),
    Edit(("version",), 2, "unknown field 'files'"),
    Edit(("version",), 3, "unknown field 'digests'"),
    Edit(("version",), 5, "the field 'clocks' is missing"),
    Edit(("version",), 6, "version: this clew reads versions 1 to 5, found 6"),
    Edit(("version",), "1", "version: expected an integer from 1"),
    Edit(("version",), GONE, "the field 'version' is missing"),
    Edit(("extra",), 1, "unknown field 'extra'"),
    Edit(("scenario",), 5, "scenario: expected the file of a scenario, found 5"),
    Edit(("scenario",), "", "name: expected the name of a scenario, if and only if there is a file"),
    Edit(("name",), "other", "defines no scenario 'other'"),
    Edit(("code",), "abc", "code: expected 64 hexadecimal digits, found the string 'abc'"),
    Edit(("code",), None, "code: expected 64 hexadecimal digits, found null"),
    Edit(("code",), "0" * 64, "this is a recording of other code: "),
    Edit(("files",), "s.py", "files: expected a list, found the string 's.py'"),
    Edit(("files",), [], "files: expected the file of the scenario and others, each once, found a list of 0"),
    Edit(("files",), ["s.py", "s.py"], "files: expected the file of the scenario and others, each once"),
    Edit(("files",), ["s.py", "gone.py"], "digests: expected a digest of each of the files, and of nothing else"),
    Edit(("digests",), [], "digests: expected an object, found a list of 0"),
    Edit(("digests",), {}, "digests: expected a digest of each of the files, and of nothing else"),
    Edit(("digests", "s.py"), "abc", "digests.s.py: expected 64 hexadecimal digits, found the string 'abc'"),
    Edit(("digests", "t.py"), "0" * 64, "digests: expected a digest of each of the files, and of nothing else"),
    Edit(("files",), ["s.py", "../s.py"], "files[1]: expected the name of a Python file below the folder"),
    Edit(("files",), ["s.py", "/etc/x.py"], "files[1]: expected the name of a Python file below the folder"),
    Edit(("files",), ["s.py", "passwd"], "files[1]: expected the name of a Python file below the folder"),
    Edit(("files",), ["s.py", 1], "files[1]: expected the name of a file, found 1"),
    Edit(("seed",), -1, "seed: expected an integer from 0"),
    Edit(("seed",), LARGEST_SEED + 1, "seed: expected an integer from 0"),
    Edit(("seed",), True, "seed: expected an integer from 0"),
    Edit(("network",), "tcp", 'network: expected "fifo" or "reordering", found the string'),
    Edit(("network",), "fifo", 'network: expected "reordering", as the scenario has it'),
    Edit(("violation",), [], "violation: expected an object, found a list of 0"),
    Edit(("violation",), {"invariant": "x"}, "violation: the field 'what' is missing"),
    Edit(
        ("violation",),
        {"invariant": "x", "what": "y", "nodes": [1], "identity": ""},
        "violation.nodes[0]: expected the name of a node, found 1",
    ),
    Edit(("beginning",), GONE, "the field 'beginning' is missing"),
    Edit(("beginning",), {}, "beginning: the field 'digest' is missing"),
    Edit(("beginning", "digest"), "xyz", "beginning.digest: expected 12 hexadecimal digits"),
    Edit(("beginning", "start"), "a", "beginning: unknown field 'start'; the fields are digest"),
    Edit(("steps",), {}, "steps: expected a list, found an object"),
    Edit(("steps", 0), "start", "steps[0]: expected an object, found the string 'start'"),
    Edit(("steps", 0), {}, "steps[0]: expected exactly one of start, stop"),
    Edit(("steps", 0, "stop"), "a", "steps[0]: expected exactly one of start, stop"),
    Edit(("steps", 0, "start"), "z", "steps[0].start: expected the name of a node: a, b, c, found the string 'z'"),
    Edit(("steps", 0, "start"), ["a"], "steps[0].start: expected the name of a node: a, b, c, found a list of 1"),
    Edit(("steps", 0, "digest"), GONE, "steps[0]: the field 'digest' is missing"),
    Edit(("steps", 0, "digest"), "xyz", "steps[0].digest: expected 12 hexadecimal digits"),
    Edit(("steps", 0, "state"), {"lives": "?"}, "steps[0].state.lives: expected 6 hexadecimal digits"),
    Edit(("steps", 0, "sent"), "", "steps[0].sent: expected 6 hexadecimal digits"),
    Edit(("steps", 0, "beside"), {"the timers": 3}, "steps[0].beside.the timers: expected 6 hexadecimal digits"),
    Edit(("steps", 0, "to"), "a", "steps[0]: unknown field 'to'; the fields are start, digest"),
    Edit(("steps", 3, "wait_for"), "rain", 'steps[3].wait_for: expected "all up", found the string'),
    Edit(("steps", 3, "digest"), "0" * 12, "steps[3]: unknown field 'digest'"),
    Edit(("steps", 3, "held_after"), -1, "steps[3].held_after: expected an integer from 0"),
    Edit(("steps", 3, "held_after"), None, "steps[3].held_after: expected an integer from 0"),
    Edit(("steps", 4, "held_after"), 1, "steps[4]: unknown field 'held_after'; the fields are wait"),
    Edit(("steps", 4), {"wait": "rain"}, 'steps[4].wait: expected "quiescence", found the string'),
    Edit(("steps", SEND, "message"), GONE, f"steps[{SEND}]: the field 'message' is missing"),
    Edit(("steps", SEND, "message"), {"$Vote": {}}, "$Vote: unknown message type 'Vote'"),
    Edit(("steps", SEND, "message"), {"x": 1}, f"steps[{SEND}].message: expected a value"),
    Edit(("steps", TIMER, "name"), 1, f"steps[{TIMER}].name: expected the name of a timer, found 1"),
    Edit(("steps", TIMER, "timer"), ["a"], f"steps[{TIMER}].timer: expected [node, number], found a list of 1"),
    Edit(("steps", TIMER, "timer"), ["", 1], f"steps[{TIMER}].timer[0]: expected the name of a node"),
    Edit(("steps", DELIVER, "deliver"), ["z", 1], f"steps[{DELIVER}].deliver[0]: expected the name of a node"),
    Edit(("steps", DELIVER, "deliver"), ["a", 0], f"steps[{DELIVER}].deliver[1]: expected an integer from 1"),
    Edit(("steps", DELIVER, "deliver"), ["a", 10**10], f"steps[{DELIVER}].deliver[1]: expected an integer from 1"),
    Edit(("steps", DELIVER, "to"), "", f"steps[{DELIVER}].to: expected the name of a node"),
    Edit(("steps", DELIVER, "message"), 3, f"steps[{DELIVER}].message: expected the type of a message"),
    Edit(("steps", PARTITION, "partition"), [], f"steps[{PARTITION}].partition: expected [node, node]"),
    Edit(("steps", PARTITION, "one_way"), False, f"steps[{PARTITION}].one_way: expected true, or no such field"),
    Edit(
        ("steps", PARTITION),
        {"heal": ["a"], "digest": "0" * 12},
        f"steps[{PARTITION}].heal: expected [node, node]",
    ),
    Edit(("steps", CODE, "code"), "rm", f'steps[{CODE}].code: expected "forget", found the string'),
]

MARK = {"digest": "0" * 12}


@cache
def _recorded() -> str:
    with TemporaryDirectory() as folder:
        return write_recording(replace(record(scenario_file(Path(folder), TOKENS), 0), file="s.py"))


def good(folder: Path) -> dict[str, Any]:
    scenario_file(folder, TOKENS)
    document = json.loads(_recorded())
    assert isinstance(document, dict)
    document["steps"] = [
        *document["steps"][:4],
        {"wait": "quiescence"},
        {
            "send": "a",
            "message": {"$Token": {"number": 1, "colour": {"$enum": ["Colour", "RED"]}, "seen": 0}},
            **MARK,
        },
        {"timer": ["a", 1], "name": "tick", **MARK},
        {"deliver": ["", 1], "to": "a", "message": "Token", **MARK},
        {"partition": ["a", "b"], **MARK},
        {"code": "forget", **MARK},
    ]
    return document


def test_the_document_that_is_edited_is_good(tmp_path: Path) -> None:
    file = tmp_path / "rec.json"
    file.write_text(json.dumps(good(tmp_path)), encoding="utf-8")
    assert len(open_recording(str(file)).recording.steps) == 10


@pytest.mark.parametrize("edit", EDITS, ids=str)
def test_bad_documents(edit: Edit, tmp_path: Path) -> None:
    document = good(tmp_path)
    place: Any = document
    for name in edit.path[:-1]:
        place = place[name]
    if edit.value is GONE:
        del place[edit.path[-1]]
    elif isinstance(place, dict) or isinstance(edit.path[-1], int):
        place[edit.path[-1]] = copy.deepcopy(edit.value)
    file = tmp_path / "rec.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        open_recording(str(file))
    assert edit.says in caught.value.message
    assert caught.value.remedy
    if edit.path == ("version",) and edit.value == 4:
        assert caught.value.remedy == "upgrade clew, or record again with this one"
    if "scenario" not in edit.says:
        assert "clew fuzz ... -o FILE" in caught.value.remedy or "record again" in caught.value.remedy


def test_a_recording_that_was_cut_off_anywhere(tmp_path: Path) -> None:
    text = write_recording(record(scenario_file(tmp_path, CRASH), 0))
    file = tmp_path / "rec.json"
    for length in range(0, len(text.rstrip()), 7):
        file.write_text(text[:length], encoding="utf-8")
        with pytest.raises(UsageError) as caught:
            open_recording(str(file))
        assert caught.value.remedy
        assert "not JSON" in caught.value.message or "is empty" in caught.value.message


def test_the_format_is_what_the_reader_of_documents_knows(tmp_path: Path) -> None:
    file = tmp_path / "rec.json"
    file.write_text(json.dumps({"format": FORMAT}), encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        read_recording(read_document(file))
    assert caught.value.remedy == "let clew fuzz ... -o FILE write it anew; docs/json.md describes every field"
