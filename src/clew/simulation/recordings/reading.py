"""A recording read back from the JSON that ``clew.simulation.recordings.recording`` wrote.

In two parts: what can be said of the document alone, which names the scenario, and what needs the scenario.

Documents of earlier versions are read, too; what they do not have is not compared by a replay
(``clew.simulation.recordings.replaying``).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from clew.errors import UsageError
from clew.files.json_document import Item, format_of, quote_short, read_document, refuse_elsewhere
from clew.files.python_module import digest_file, digest_files, find_own_files
from clew.files.python_names import split_name
from clew.names import in_one_line
from clew.simulation.events import Send
from clew.simulation.execution.effects import Effect
from clew.simulation.execution.steps import At, Step
from clew.simulation.loading import LoadedScenario, as_loaded
from clew.simulation.recordings.recording import FIELDS, FORMAT, TIMED, VERSION, Recording, WaitOutcome
from clew.simulation.recordings.step_kinds import MOST_SENT, STEP_KINDS, KnownNames, read_seconds
from clew.simulation.scenario import Broken, Network, Scenario, expect_node
from clew.simulation.timing import is_number, to_ticks
from clew.simulation.values import unknown_type

#: The largest seed that is read.
LARGEST_SEED = 2**63 - 1

_EFFECT = ("digest", "state", "sent", "remarks", "beside")
_HEXADECIMAL = re.compile("[0-9a-f]+")


@dataclass(frozen=True)
class SavedRecording:
    """What a document says; ``steps`` are to be understood with the scenario."""

    file: str
    name: str
    code: str
    files: tuple[str, ...]
    seed: int
    network: Item
    broken: Broken | None
    identity: str | None
    steps: tuple[SavedStep, ...]
    beginning: Effect
    document: str
    version: int
    digests: tuple[str, ...]
    clocks: Item | None

    def recording(self, loaded: LoadedScenario) -> Recording:
        """Make the recording, with the scenario that it is of."""
        if Network(self.network.value) is not loaded.scenario.network:
            self.network.refuse(f'"{loaded.scenario.network.value}", as the scenario has it')
        clocks = _understand_clocks(self, loaded.scenario)
        steps, effects = _understand_steps(self.steps, KnownNames(loaded))
        return Recording(
            self.file,
            self.name,
            self.code,
            self.files,
            self.seed,
            loaded.scenario.network,
            self.broken,
            self.identity,
            steps,
            effects,
            self.beginning,
            self.version,
            self.digests,
            clocks,
        )


class SavedStep(NamedTuple):
    """The fields of a step by name, of which ``kind`` says what it is; with virtual time, ``at`` is its time."""

    kind: str
    parts: Mapping[str, Item]
    effect: Effect | WaitOutcome | None
    at: int | None = None


def _understand_steps(
    saved: Sequence[SavedStep], known: KnownNames
) -> tuple[tuple[Step, ...], tuple[Effect | WaitOutcome | None, ...]]:
    """Return the steps and their effects, with the scenario that they are of.

    Only what the scenario itself has: types, conditions and code blocks are never looked up anywhere else.
    """
    steps: list[Step] = []
    effects: list[Effect | WaitOutcome | None] = []
    time = 0
    for step in saved:
        if step.at is not None and step.at != time:
            time = step.at
            steps.append(At(time))
            effects.append(None)
        steps.append(STEP_KINDS[step.kind].make(step.parts, known))
        effects.append(step.effect)
    return tuple(steps), tuple(effects)


def _understand_clocks(saved: SavedRecording, scenario: Scenario) -> tuple[tuple[str, float], ...]:
    """Return how fast clocks run, if the scenario has virtual time and lets them."""
    if (saved.clocks is None) != (scenario.time is None):
        has = "none" if scenario.time is None else "it"
        raise UsageError(
            f"{saved.document}: version: {saved.version} is that of recordings "
            f"{'with' if saved.clocks is not None else 'without'} virtual time, and the scenario has {has}",
            remedy="record again with this scenario",
        )
    if saved.clocks is None or scenario.time is None:
        return ()
    for node in saved.clocks.mapping():
        if node:
            expect_node(scenario, node)
    if sorted(saved.clocks.mapping()) != sorted(scenario.nodes):
        saved.clocks.refuse(f"the speed of each clock: {', '.join(scenario.nodes)}")
    speeds: list[tuple[str, float]] = []
    for node in scenario.nodes:
        item = saved.clocks.member(node)
        speed = item.value
        if not is_number(speed) or not scenario.time.has_speed(node, speed):
            item.refuse("a speed that the scenario allows (clocks, drift)")
        speeds.append((node, float(speed)))
    return tuple(speeds)


class OpenedRecording(NamedTuple):
    """A recording and the scenario as it is now; ``same_code``: whether it is the code that was recorded."""

    recording: Recording
    loaded: LoadedScenario

    @property
    def same_code(self) -> bool:
        return self.recording.code == self.loaded.code


def open_recording(
    path: str, scenario: Scenario | str | LoadedScenario | None = None, *, changed_code: bool = False
) -> OpenedRecording:
    """Open the recording in a file; ``scenario`` stands for the one that it names."""
    return open_saved(read_recording(read_document(path)), scenario, changed_code=changed_code)


def open_given(
    recording: Recording | str | Path,
    scenario: Scenario | str | LoadedScenario | None = None,
    *,
    changed_code: bool = False,
) -> OpenedRecording:
    """Open a recording that was made just now, or the one in a file."""
    if not isinstance(recording, Recording):
        return open_recording(str(recording), scenario, changed_code=changed_code)
    given = scenario if scenario is not None else recording.scenario
    if not given:
        raise UsageError("the recording names no scenario", remedy="give the scenario as the second argument")
    return OpenedRecording(recording, as_loaded(given))


def open_saved(
    saved: SavedRecording, scenario: Scenario | str | LoadedScenario | None = None, *, changed_code: bool = False
) -> OpenedRecording:
    """Load the scenario of a recording; its code is compared with what was recorded before it is executed."""
    where = _name_scenario(saved) if scenario is None else scenario
    if isinstance(where, str) and not changed_code:
        # Before it is imported: a recording must not choose code that is executed.
        _refuse_other_code(saved, where)
    loaded = as_loaded(where)
    return OpenedRecording(saved.recording(loaded), loaded)


def changed_code_error(opened: OpenedRecording) -> UsageError:
    """Make the error that the scenario, or something that it uses, is not what was recorded."""
    recording, loaded = opened.recording, opened.loaded
    recorded = _digests_recorded(recording, loaded.file)
    return _other_code_error(loaded.file, _list_changes(loaded.file, recorded, loaded.digests_by_file))


def _other_code_error(file: str, changes: Sequence[str]) -> UsageError:
    """Make the error; without ``changes``, as it is not known what of the code has changed."""
    unknown = f"{file or 'the scenario'} has changed since, or a module that it uses"
    return UsageError(
        f"this is a recording of other code: {'; '.join(changes) or unknown}",
        remedy="record again; or, to see whether the change helped, replay with --changed-code",
    )


def _list_changes(file: str, recorded: Mapping[str, str], now: Mapping[str, str | None]) -> list[str]:
    """Say which files are not what was recorded; ``now`` has None for one that cannot be read.

    Nothing where digests were not recorded: in earlier versions, and of a scenario that was made in Python.
    """
    if not recorded:
        return []
    folder = Path(file).parent
    gone = [name for name in recorded if now.get(name) is None]
    changed = [name for name, digest in recorded.items() if name not in gone and now[name] != digest]
    added = [name for name in now if name not in recorded]
    return [
        *_told(folder, changed, "has changed since", "have changed since"),
        *_told(folder, gone, "cannot be read", "cannot be read"),
        *_told(folder, added, "was not used then", "were not used then"),
    ]


def _told(folder: Path, names: Sequence[str], one: str, several: str) -> Iterator[str]:
    """Say something of files, if there are any."""
    shown = [in_one_line(str(folder / name)) for name in names]
    if len(shown) > 1:
        yield f"{', '.join(shown[:-1])} and {shown[-1]} {several}"
    elif shown:
        yield f"{shown[0]} {one}"


def _refuse_other_code(saved: SavedRecording, where: str) -> None:
    """Raise before anything is executed.  What was recorded from Python has no files and is compared later."""
    file = Path(split_name(where)[0])
    if not saved.file or not os.path.isfile(file):  # noqa: PTH113  # unlike Path.is_file, it never raises
        return
    try:
        files = _recorded_files(saved, file)
        same = all(path.is_file() for path in files) and digest_files(files) == saved.code
    except (OSError, SyntaxError, ValueError, RecursionError):
        same = False
    if not same:
        recorded = _digests_recorded(saved, str(file))
        now = {name: _digest_now(file.resolve().parent / name if name != file.name else file) for name in recorded}
        raise _other_code_error(str(file), _list_changes(str(file), recorded, now))


def _digests_recorded(recorded: SavedRecording | Recording, file: str) -> dict[str, str]:
    """Return the recorded digests by file; the scenario itself under the name of the file that it is in now."""
    own, now = Path(recorded.file).name, Path(file).name
    names = (now if name == own else name for name in recorded.files)
    return dict(zip(names, recorded.digests, strict=False))  # earlier versions have none


def _digest_now(path: Path) -> str | None:
    """Return the digest of a file, None if it cannot be read; only to say which file has changed."""
    try:
        return digest_file(path)
    except (OSError, ValueError):
        return None


def _recorded_files(saved: SavedRecording, scenario: Path) -> Iterable[Path]:
    """Return the files that the digest of the code is of, if the scenario is in this one now."""
    if "files" not in FIELDS[saved.version]:
        # Found in the text of the imports.  Taking them for granted would let whoever writes such a document
        # choose code that is executed.
        return find_own_files(scenario)
    folder, own = scenario.resolve().parent, Path(saved.file).name
    return [scenario if name == own else folder / name for name in saved.files]


def _name_scenario(saved: SavedRecording) -> str:
    if not saved.file:
        raise UsageError(
            f"{saved.document}: names no scenario, for it was recorded from Python",
            remedy="replay it from Python: replay(path, scenario), or name the file of the scenario",
        )
    # A document may come from anybody; what it names is executed only below the working directory.
    refuse_elsewhere(
        saved.document,
        saved.file,
        "run it where the scenario is; or, if you trust that file, say so: --scenario FILE",
    )
    if not os.path.exists(saved.file):  # noqa: PTH110  # unlike Path.exists, it never raises
        raise UsageError(
            f"{saved.document}: the scenario was in {saved.file}, and there is no such file here",
            remedy="run it where that was, or name the file of the scenario",
        )
    return f"{saved.file}:{saved.name}"


def refuse_unreadable(recording: Recording, loaded: LoadedScenario) -> None:
    """Raise if a recording could be written but not read: its messages are made anew from the names of types."""
    for step in recording.steps:
        kind = unknown_type(step.message, loaded.types) if isinstance(step, Send) else None
        if kind is not None:
            raise UsageError(
                f"a message from outside has a {kind.__qualname__}, which a recording could only name: "
                "the scenario does not know it by this name",
                remedy=f"list it in the scenario: messages=[{kind.__name__}]",
            )


# -- the document ------------------------------------------------------------------------------------------------


def read_recording(document: Item) -> SavedRecording:
    """Read what a document says, and check all that can be checked without the scenario."""
    if format_of(document) != FORMAT:
        raise UsageError(
            f"{document.file}: not a recording, but a {quote_short(format_of(document))}",
            remedy="give a file that clew fuzz ... -o FILE wrote",
        )
    version = _read_version(document)
    fields = FIELDS[version]
    part = dict(zip(fields, document.members(*fields), strict=True))
    file, name = part["scenario"].text("the file of a scenario"), part["name"].text("the name of a scenario")
    if bool(file) != bool(name) or "\0" in file or "\0" in name:
        part["name"].refuse("the name of a scenario, if and only if there is a file")
    broken, identity = _read_violation(part["violation"])
    part["network"].one_of(kind.value for kind in Network)
    return SavedRecording(
        file,
        name,
        _read_digest(part["code"], 64),
        _read_files(part["files"], file) if "files" in part else (),
        part["seed"].number(0, LARGEST_SEED),
        part["network"],
        broken,
        identity,
        tuple(_read_steps(part["steps"], version)),
        _read_beginning(part["beginning"]) if "beginning" in part else Effect(""),
        document.file,
        version,
        _read_file_digests(part["digests"], part["files"]) if "digests" in part else (),
        part.get("clocks"),
    )


def _read_files(part: Item, scenario: str) -> tuple[str, ...]:
    """Read the files that the digest is of: they lie below the folder of the scenario, which is one of them."""
    names = tuple(item.text("the name of a file") for item in part.items())
    for item, name in zip(part.items(), names, strict=True):
        # Names of files in a document are data of strangers, until they are known to stay in their folder.
        if not name.endswith(".py") or "\0" in name or ".." in PurePosixPath(name).parts or name.startswith("/"):
            item.refuse("the name of a Python file below the folder of the scenario")
    if (Path(scenario).name in names) != bool(scenario) or len(set(names)) < len(names):
        part.refuse("the file of the scenario and others, each once")
    return names


def _read_file_digests(part: Item, files: Item) -> tuple[str, ...]:
    """Read the digest of each of the files, in their order."""
    names = [item.text() for item in files.items()]
    if sorted(part.mapping()) != sorted(names):
        part.refuse("a digest of each of the files, and of nothing else")
    return tuple(_read_digest(part.member(name), 64) for name in names)


def _read_version(document: Item) -> int:
    version = document.member("version").number(1) if "version" in document.mapping() else VERSION
    if version not in FIELDS:
        raise UsageError(
            f"{document.file}: version: this clew reads versions 1 to {max(FIELDS)}, found {version}",
            remedy="upgrade clew, or record again with this one",
        )
    return version


def _read_violation(item: Item) -> tuple[Broken | None, str | None]:
    if item.value is None:
        return None, None
    invariant, what, nodes, identity = item.members("invariant", "what", "nodes", "identity")
    broken = Broken(
        invariant.text(), what.text(), tuple(node.text("the name of a node") for node in nodes.items())
    )
    return broken, identity.text()


def _read_steps(part: Item, version: int) -> Iterator[SavedStep]:
    time = 0
    for item in part.items():
        step = _read_step(item, version)
        if step.at is not None:
            if step.at < time:
                item.member("at").refuse("a time that is not before that of the step before it")
            time = step.at
        yield step


def _read_step(item: Item, version: int) -> SavedStep:
    members = item.mapping()
    kinds = [name for name in members if name in STEP_KINDS]
    if len(kinds) != 1:
        item.refuse(f"exactly one of {', '.join(STEP_KINDS)}")
    kind = STEP_KINDS[kinds[0]]
    effect = () if kind.waits else _EFFECT if version > 1 else _EFFECT[:-1]
    when = ("at",) if version == TIMED and not kind.waits else ()
    parts = _parts(item, (kinds[0], *kind.needed, *when, *effect[:1]), (*kind.optional, *effect[1:]))
    at = to_ticks(read_seconds(parts["at"])) if when else None
    return SavedStep(kinds[0], parts, _read_outcome(kinds[0], parts, version), at)


def _read_outcome(kind: str, parts: Mapping[str, Item], version: int) -> Effect | WaitOutcome | None:
    if STEP_KINDS[kind].waits:
        return _read_wait(parts) if kind == "wait_for" and version > 1 else None
    return _read_effect(parts)


def _read_beginning(item: Item) -> Effect:
    return _read_effect(_parts(item, _EFFECT[:1], _EFFECT[1:]))


def _parts(item: Item, needed: tuple[str, ...], optional: tuple[str, ...]) -> dict[str, Item]:
    """Return the members of an object that must have some and may have others."""
    members = item.mapping()
    for name in members:
        if name not in (*needed, *optional):
            raise item.problem(f"unknown field {quote_short(name)}; the fields are {', '.join(needed)}")
    for name in needed:
        if name not in members:
            raise item.problem(f"the field {name!r} is missing")
    return {name: item.member(name) for name in members}


def _read_wait(parts: Mapping[str, Item]) -> WaitOutcome:
    return WaitOutcome(parts["held_after"].number(0, MOST_SENT) if "held_after" in parts else None)


def _read_effect(parts: Mapping[str, Item]) -> Effect:
    return Effect(
        _read_digest(parts["digest"], 12),
        _read_digests(parts["state"]) if "state" in parts else (),
        _read_digest(parts["sent"], 6) if "sent" in parts else "",
        _read_digest(parts["remarks"], 6) if "remarks" in parts else "",
        _read_digests(parts["beside"]) if "beside" in parts else (),
    )


def _read_digests(item: Item) -> tuple[tuple[str, str], ...]:
    """Return digests by name, "" for what went away."""
    return tuple(
        (name, "" if value == "" else _read_digest(item.member(name), 6)) for name, value in item.mapping().items()
    )


def _read_digest(item: Item, length: int) -> str:
    text = item.text(f"{length} hexadecimal digits")
    if len(text) != length or not _HEXADECIMAL.fullmatch(text):
        item.refuse(f"{length} hexadecimal digits")
    return text
