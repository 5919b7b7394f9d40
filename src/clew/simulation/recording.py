"""Recordings: an execution written down so that it can be done again, exactly, by anyone who has the code.

A recording is readable JSON with one step a line; ``docs/json.md`` documents it.  Nothing in it is executed: code
blocks and conditions are names, which the scenario resolves, and messages are made of the scenario's own types.
For every event it keeps digests of what it did, so that a replay can tell the first that did something else.

``clew.simulation.saved_recording`` reads it back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from clew.json_file import json_line
from clew.simulation.events import (
    CodeBlock,
    Heal,
    Partition,
    Restart,
    Send,
    Start,
    Stop,
    Wait,
    WaitCondition,
    WaitQuiescence,
)
from clew.simulation.execution import Execution, Moment, digest_of, execute
from clew.simulation.loading import Loaded
from clew.simulation.scenario import Broken, Network
from clew.simulation.steps import Act, Do, Step
from clew.simulation.values import to_json

#: What the document calls itself, and the version of its shape; readers refuse what they do not know.
FORMAT, VERSION = "clew-recording", 1

#: What a recording says it waited for when that was no condition of the scenario.
QUIESCENCE = "quiescence"


class Effect(NamedTuple):
    """What an event did, in digests: ``all`` of everything, the others to tell what of it differed.

    ``state``: for each attribute of the node that it changed, of the new value ("" where it went away).
    ``sent`` and ``remarks`` are "" where there were none.
    """

    all: str
    state: tuple[tuple[str, str], ...] = ()
    sent: str = ""
    remarks: str = ""


@dataclass(frozen=True)
class Recording:
    """``file`` and ``name`` of the scenario are as they were given, "" for one made in Python.

    ``code`` is a digest of the scenario's code, ``seed`` is for what the nodes draw.  ``effects`` has an entry for
    each step, None for those that only wait.  ``broken`` is the violation that it ends with, if it does, and
    ``identity`` what makes it that one.
    """

    file: str
    name: str
    code: str
    seed: int
    network: Network
    broken: Broken | None
    identity: str | None
    steps: tuple[Step, ...]
    effects: tuple[Effect | None, ...]

    @property
    def scenario(self) -> str:
        """The scenario as a command names it."""
        return f"{self.file}:{self.name}" if self.file else ""

    @property
    def deliveries(self) -> int:
        return sum(isinstance(step, Act) and step.do is Do.DELIVER for step in self.steps)


def recorded(loaded: Loaded, seed: int, steps: Sequence[Step], execution: Execution | None = None) -> Recording:
    """The recording of a schedule that can be followed; steps after a violation are left out.

    ``execution`` is what came of it, where that is known already.
    """
    scenario = loaded.scenario
    if execution is None:
        execution = execute(scenario, seed, steps)
    taken, effects = _with_effects(steps, execution)
    return Recording(
        loaded.file,
        loaded.name,
        loaded.code,
        seed,
        scenario.network,
        execution.broken,
        execution.identity,
        taken,
        effects,
    )


def _with_effects(
    steps: Sequence[Step], execution: Execution
) -> tuple[tuple[Step, ...], tuple[Effect | None, ...]]:
    taken: list[Step] = []
    effects: list[Effect | None] = []
    moments = iter(execution.moments)
    for step in steps:
        if isinstance(step, Wait):
            taken.append(step)
            effects.append(None)
            continue
        moment = next(moments, None)
        if moment is None:
            break
        taken.append(step)
        effects.append(effect_of(moment))
    return tuple(taken), tuple(effects)


def effect_of(moment: Moment) -> Effect:
    happened = moment.happened
    before, after = moment.before or {}, moment.after or {}
    changed = [
        name
        for name in sorted({*before, *after})
        if name not in before or name not in after or before[name] != after[name]
    ]
    sent = [[e.nth, e.target, e.timer, content] for e, content in zip(happened.sent, moment.sent, strict=True)]
    return Effect(
        moment.digest,
        tuple((name, digest_of(after[name], 6) if name in after else "") for name in changed),
        digest_of(sent, 6) if sent else "",
        digest_of(happened.remarks, 6) if happened.remarks else "",
    )


# -- writing -----------------------------------------------------------------------------------------------------


def write_recording(recording: Recording) -> str:
    """The document: one step a line."""
    head = {
        "format": FORMAT,
        "version": VERSION,
        "scenario": recording.file,
        "name": recording.name,
        "code": recording.code,
        "seed": recording.seed,
        "network": recording.network.value,
        "violation": _violation(recording),
    }
    lines = [f"  {json_line(name)}: {json_line(value)}," for name, value in head.items()]
    steps = [
        f"    {json_line({**_step(step), **_effect(effect)})}"
        for step, effect in zip(recording.steps, recording.effects, strict=True)
    ]
    body = ",\n".join(steps)
    return "\n".join(["{", *lines, '  "steps": [', *([body] if steps else []), "  ]", "}", ""])


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


def _effect(effect: Effect | None) -> dict[str, Any]:
    if effect is None:
        return {}
    parts = {"state": dict(effect.state), "sent": effect.sent, "remarks": effect.remarks}
    return {"digest": effect.all, **{name: part for name, part in parts.items() if part}}


def _step(step: Step) -> dict[str, Any]:
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
        case CodeBlock(name, _):
            return {"code": name}


def _act(act: Act) -> dict[str, Any]:
    if act.timer:
        return {"timer": [act.target, act.nth], "name": act.kind}
    document = {act.do.value: [act.source, act.nth], "to": act.target, "message": act.kind}
    return document if act.fingerprint == act.kind else {**document, "fingerprint": act.fingerprint}
