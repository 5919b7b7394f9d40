"""Recordings: an execution written down so that it can be done again, exactly, by anyone who has the code.

A recording is readable JSON with one step a line; ``docs/json.md`` documents it.  Nothing in it is executed: code
blocks and conditions are names, which the scenario resolves, and messages are made of the scenario's own types.
For every event it keeps digests of what it did, so that a replay can tell the first that did something else.

``clew.simulation.recordings.reading`` reads it back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from clew.files.json_document import json_line
from clew.names import harmless
from clew.simulation.events import Elapse, Heal, Partition, Restart, Send, Start, Stop, WaitQuiescence
from clew.simulation.execution.effects import Effect
from clew.simulation.execution.steps import Act, At, Ended, Size, Step, size_of
from clew.simulation.execution.trace import Execution, execute
from clew.simulation.execution.watchdog import step_limit
from clew.simulation.loading import LoadedScenario
from clew.simulation.scenario import Broken, Network, Scenario, expect_node
from clew.simulation.timing import Clock, to_seconds
from clew.simulation.values import to_json
from clew.simulation.world import CodeBlock, External, Wait, WaitCondition

#: What the document calls itself, and the version of its shape; readers refuse what they do not know.
FORMAT, VERSION = "clew-recording", 4
#: The version of documents with virtual time.  The others stay as they are: whoever reads them may not know it.
TIMED = 5

_FIELDS = (
    "format", "version", "scenario", "name", "code", "files", "digests", "seed", "network", "violation",
    "beginning", "steps",
)  # fmt: skip

#: The fields of each version that can be read.
FIELDS = {
    1: tuple(field for field in _FIELDS if field not in ("files", "digests", "beginning")),
    2: tuple(field for field in _FIELDS if field not in ("files", "digests")),
    3: tuple(field for field in _FIELDS if field != "digests"),
    VERSION: _FIELDS,
    TIMED: (*_FIELDS[:-1], "clocks", _FIELDS[-1]),
}

#: What is broken when the process ends by itself, and what is recorded of the event that does it.
#: The event itself cannot be recorded: nothing is left afterwards that could look at its effect.
PROCESS_GOES_ON, NOT_PERFORMED = "the process goes on", "0" * 12

#: What a recording says it waited for when that was no condition of the scenario.
QUIESCENCE = "quiescence"


class WaitOutcome(NamedTuple):
    """After how many events a condition held; None if it did not until the next event from outside, or the end."""

    events: int | None


@dataclass(frozen=True)
class Recording:
    """``file`` and ``name`` of the scenario are as they were given, "" for one made in Python.

    ``code`` is a digest of the scenario's code, which is in ``files``, as seen from its folder; ``digests`` has
    one of each of these, so that a file that has changed can be named.  ``seed`` is for what the nodes draw.
    ``effects`` has an entry for each step, None for those that are no events; ``beginning`` is what nodes did that
    are up before the first.  ``broken`` is the violation that it ends with, if it does, and ``identity`` what
    makes it that one.  ``version`` is that of the document it was read from, which may lack some of this.
    ``clocks``: with virtual time, how fast the clock of each node runs.
    """

    file: str
    name: str
    # Not in the repr: digests, and thousands of steps, which a failing assertion would print.
    code: str = field(repr=False)
    files: tuple[str, ...] = field(repr=False)
    seed: int
    network: Network
    broken: Broken | None
    identity: str | None
    steps: tuple[Step, ...] = field(repr=False)
    effects: tuple[Effect | WaitOutcome | None, ...] = field(repr=False)
    beginning: Effect = field(repr=False)
    version: int = field(default=VERSION, repr=False)
    digests: tuple[str, ...] = field(default=(), repr=False)
    clocks: tuple[tuple[str, float], ...] = field(default=(), repr=False)

    def __str__(self) -> str:
        end = "nothing is broken" if self.broken is None else f"broken: {self.broken}"
        return harmless(f"{self.scenario or 'a scenario made in Python'}, seed {self.seed}: {self.size}; {end}")

    @property
    def scenario(self) -> str:
        """Return the scenario as a command names it."""
        return f"{self.file}:{self.name}" if self.file else ""

    def pin(self, scenario: Scenario) -> Scenario:
        """Return the scenario with the clocks that were recorded, and not those that belong to a seed."""
        if scenario.time is None:
            return scenario
        return replace(scenario, time=scenario.time.with_clocks(dict(self.clocks)))

    @property
    def ends_process(self) -> bool:
        """Tell whether the last step was not performed when this was recorded, because it ends the process."""
        return self.broken is not None and self.broken.invariant == PROCESS_GOES_ON

    @property
    def size(self) -> Size:
        return size_of(self.steps)

    @property
    def deliveries(self) -> int:
        return self.size.deliveries


def make_recording(
    loaded: LoadedScenario, seed: int, steps: Sequence[Step], execution: Execution | None = None
) -> Recording:
    """Make the recording of a schedule that can be followed; steps after a violation are left out.

    ``execution`` is what came of it, where that is known already.
    """
    scenario = loaded.scenario
    if execution is None:
        execution = execute(scenario, seed, steps)
    taken, effects = _with_effects(steps, execution)
    for step in taken:
        # Of nodes that have come into being, whoever reads the recording must know.
        if isinstance(step, Act):
            expect_node(scenario, step.target)
    return Recording(
        loaded.file,
        loaded.name,
        loaded.code,
        loaded.files,
        seed,
        scenario.network,
        execution.broken,
        execution.identity,
        taken,
        effects,
        execution.beginning,
        VERSION if scenario.time is None else TIMED,
        loaded.digests if loaded.file else (),
        _read_speeds(scenario, seed),
    )


def _read_speeds(scenario: Scenario, seed: int) -> tuple[tuple[str, float], ...]:
    if scenario.time is None:
        return ()
    clock = Clock(scenario.time, seed)
    return tuple((name, clock.speed(name)) for name in scenario.nodes)


def _with_effects(
    steps: Sequence[Step], execution: Execution
) -> tuple[tuple[Step, ...], tuple[Effect | WaitOutcome | None, ...]]:
    taken: list[Step] = []
    effects: list[Effect | WaitOutcome | None] = []
    done = iter(moment.effect for moment in execution.moments)
    waits = iter(map(WaitOutcome, execution.waits))
    when: list[Step] = []
    for step in steps:
        effect: Effect | WaitOutcome | None = None
        if isinstance(step, At):
            when = [step]  # a part of the event that follows, if that was taken
            continue
        if not isinstance(step, WaitQuiescence | Elapse | Ended):
            effect = next(waits if isinstance(step, WaitCondition) else done, None)
            if effect is None:
                break
        taken += [*when, step]
        effects += [*(None for _ in when), effect]
        when = []
    return tuple(taken), tuple(effects)


def record_deadly(loaded: LoadedScenario, seed: int, steps: Sequence[Step], what: str) -> Recording:
    """Record a schedule whose last step ends the process and is not performed; ``what`` says how it ends."""
    deadly = steps[-1]
    when = steps[-2:-1] if len(steps) > 1 and isinstance(steps[-2], At) else ()
    with step_limit(loaded.scenario.step_seconds):
        # Without the last step, which would end this process, too.
        survived = make_recording(loaded, seed, steps[: len(steps) - len(when) - 1])
    node = deadly.target if isinstance(deadly, Act) else getattr(deadly, "node", "")
    broken = Broken(PROCESS_GOES_ON, what, (node,) if node else ())
    return replace(
        survived,
        steps=(*survived.steps, *when, deadly),
        effects=(*survived.effects, *(None for _ in when), Effect(NOT_PERFORMED)),
        broken=broken,
        identity=f"{PROCESS_GOES_ON}: {what}",
    )


# -- writing -----------------------------------------------------------------------------------------------------


def write_recording(recording: Recording) -> str:
    """Write the document: one step a line."""
    head = {
        "format": FORMAT,
        "version": recording.version,
        "scenario": recording.file,
        "name": recording.name,
        "code": recording.code,
        "files": list(recording.files),
        "digests": dict(zip(recording.files, recording.digests, strict=False)),  # earlier versions have none
        "seed": recording.seed,
        "network": recording.network.value,
        "violation": _violation(recording),
        "beginning": _effect(recording.beginning),
        "clocks": dict(recording.clocks),
    }
    known = FIELDS[recording.version]
    lines = [f"  {json_line(name)}: {json_line(value)}," for name, value in head.items() if name in known]
    steps = [f"    {json_line(step)}" for step in _list_steps(recording)]
    body = ",\n".join(steps)
    return "\n".join(["{", *lines, '  "steps": [', *([body] if steps else []), "  ]", "}", ""])


def _list_steps(recording: Recording) -> Iterator[dict[str, Any]]:
    """Yield the steps as objects; with virtual time, each event says when it happens."""
    time: float | None = None if recording.version != TIMED else 0
    for step, effect in zip(recording.steps, recording.effects, strict=True):
        if isinstance(step, At):
            time = to_seconds(step.time)
        else:
            when = {} if time is None or isinstance(step, Wait | Ended) else {"at": time}
            yield {**when, **_step(step), **_effect(effect)}


def _violation(recording: Recording) -> dict[str, Any] | None:
    broken = recording.broken
    if broken is None:
        return None
    return {
        "invariant": broken.invariant,
        "what": broken.what,
        "nodes": list(broken.nodes),
        "identity": recording.identity,
    }


def _effect(effect: Effect | WaitOutcome | None) -> dict[str, Any]:
    if effect is None:
        return {}
    if isinstance(effect, WaitOutcome):
        return {} if effect.events is None else {"held_after": effect.events}
    parts = {"state": dict(effect.state), "sent": effect.sent, "remarks": effect.remarks}
    parts["beside"] = dict(effect.beside)
    return {"digest": effect.all, **{name: part for name, part in parts.items() if part}}


def _step(step: External | Act | Ended) -> dict[str, Any]:
    match step:
        case Act():
            return _act(step)
        case Start(node):
            return {"start": node}
        case Stop(node):
            return {"stop": node}
        case Restart(node):
            return {"restart": node}
        case Send(node, message):
            return {"send": node, "message": to_json(message)}
        case Partition(source, target, one_way):
            return {"partition": [source, target], **({"one_way": True} if one_way else {})}
        case Heal(source, target):
            return {"heal": [source, target] if source or target else []}
        case WaitQuiescence():
            return {"wait": QUIESCENCE}
        case WaitCondition(name, _):
            return {"wait_for": name}
        case Elapse(seconds):
            return {"elapse": seconds}
        case CodeBlock(name, _):
            return {"code": name}
        case Ended():
            return {"end": True}


def _act(act: Act) -> dict[str, Any]:
    if act.timer:
        return {"timer": [act.target, act.nth], "name": act.kind}
    document = {act.do.value: [act.source, act.nth], "to": act.target, "message": act.kind}
    return document if act.fingerprint == act.kind else {**document, "fingerprint": act.fingerprint}
