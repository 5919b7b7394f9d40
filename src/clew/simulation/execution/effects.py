"""What an event did, in digests: what a recording keeps, so that a replay can tell what has become different.

Everything counts that an event can do: the attributes of its node, what it sent and logged, and what is beside the
attributes (storage, timers, random numbers).  A code block may do anything to anybody, and so may the nodes that
start before the first event: of these, the whole cluster counts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from clew.errors import UsageError
from clew.simulation.node import Node
from clew.simulation.pool import Envelope
from clew.simulation.values import NoValueError, to_json, write_compactly
from clew.simulation.world import World

#: Attributes as JSON, by their names (in a whole cluster, "node.attribute"); None where there is no such process.
State = Mapping[str, Any] | None

#: How much of a digest stands for a whole event, and for one part of it.
#: Long enough that no replay is taken for the same by chance; short, for a recording has one for each event.
_WHOLE, _PART = 12, 6


class Effect(NamedTuple):
    """What an event did: ``all`` of it, the others to tell what of it differed.

    ``state``: for each attribute that it changed, of the new value ("" where it went away).  ``sent`` and
    ``remarks`` are "" where there were none.  ``beside``: what else it changed, by what that is called.
    """

    all: str
    state: tuple[tuple[str, str], ...] = ()
    sent: str = ""
    remarks: str = ""
    beside: tuple[tuple[str, str], ...] = ()


class Sight(NamedTuple):
    """What is seen after an event: the state as it was and as it is, and digests of all that is there now.

    ``changed`` is what of ``beside`` is not as it was, "" for what is gone.
    """

    before: State
    after: State
    attributes: Mapping[str, str]
    beside: Mapping[str, str]
    changed: tuple[tuple[str, str], ...]


def effect_of(
    sight: Sight,
    sent: Sequence[Envelope],
    contents: Sequence[Any],
    remarks: Sequence[str],
    depends: Sequence[int] = (),
    time: int | None = None,
) -> Effect:
    """Sum up an event; ``contents`` is what the envelopes that it ``sent`` contained then, as JSON.

    ``time`` is when it happened, in virtual time.
    """
    names = [[e.source, e.nth, e.target, e.timer] for e in sent]
    # Down is not the same as up without attributes.
    up = sight.after is not None
    everything = [names, contents, depends, remarks, up, sight.attributes, sight.beside]
    if time is not None:  # not where there is none: digests of recordings are to stay what they are
        everything.append(time)
    before, after = sight.before or {}, sight.after or {}
    changed = [
        name
        for name in sorted({*before, *after})
        if name not in before or name not in after or before[name] != after[name]
    ]
    parts = [[e.nth, e.target, e.timer, content] for e, content in zip(sent, contents, strict=True)]
    return Effect(
        digest_of(everything, _WHOLE),
        tuple((name, sight.attributes[name][:_PART] if name in after else "") for name in changed),
        digest_of(parts, _PART) if parts else "",
        digest_of(remarks, _PART) if remarks else "",
        tuple((name, digest[:_PART]) for name, digest in sight.changed),
    )


class Observer:
    """Sees what events change; every node is known as it was when it was last looked at.

    What did not change is kept as it is: an event changes little of a state, and a state can be large.
    """

    def __init__(self, world: World, names: Iterable[str]) -> None:
        self._world = world
        self._names = tuple(names)
        self._states: dict[str, dict[str, Any]] = {}
        self._digests: dict[str, dict[str, str]] = {}
        self._beside: dict[str, dict[str, str]] = {}
        self._stored: dict[str, tuple[int, str]] = {}  # by node: after how many writes, and a digest of it all

    def look_at(self, name: str) -> Sight:
        """Look at a node where an event happened; there is nothing to see where it happened at none."""
        if not name:
            return Sight(None, None, {}, {}, ())
        # Taken out, and put back below if it is still up: one that is down has no state.
        before, known = self._states.pop(name, None), self._digests.pop(name, {})
        had, beside = self._beside.get(name, {}), self._see_beside(name)
        self._beside[name] = beside
        changed = tuple((k, beside.get(k, "")) for k in sorted({*had, *beside}) if had.get(k) != beside.get(k))
        node = self._world.nodes.get(name)
        if node is None:
            return Sight(before, None, {}, beside, changed)
        after = state_of(node)
        digests: dict[str, str] = {}
        for attribute, value in after.items():
            if before is not None and attribute in before and before[attribute] == value:
                # The old object, so that the new one can go: states that hardly change take no memory.
                after[attribute] = before[attribute]
                digests[attribute] = known[attribute]
            else:
                digests[attribute] = digest_of(value, _WHOLE)
        self._states[name], self._digests[name] = after, digests
        return Sight(before, after, digests, beside, changed)

    def look_at_all(self) -> Sight:
        """Look at the whole cluster."""
        before: dict[str, Any] = {}
        after: dict[str, Any] = {}
        attributes: dict[str, str] = {}
        beside = self._see_network()
        changed = list(beside.items())
        for name in self._names:
            sight = self.look_at(name)
            before |= {f"{name}.{key}": value for key, value in (sight.before or {}).items()}
            after |= {f"{name}.{key}": value for key, value in (sight.after or {}).items()}
            attributes |= {f"{name}.{key}": digest for key, digest in sight.attributes.items()}
            beside |= {f"{key} of {name}": digest for key, digest in sight.beside.items()}
            changed += [(f"{key} of {name}", digest) for key, digest in sight.changed]
        return Sight(before, after, attributes, beside, tuple(sorted(changed)))

    def _see_beside(self, name: str) -> dict[str, str]:
        """Return digests of what a node has beside its attributes, as far as there is any."""
        process = self._world.processes.get(name)
        timers = sorted([str(e.payload), e.nth] for e in self._world.pool.timers if e.target == name)
        seen = {
            "the storage": self._see_storage(name),
            "the timers": digest_of(timers, _WHOLE) if timers else "",
            "the random numbers": process.drawn[:_WHOLE] if process is not None else "",
        }
        return {key: digest for key, digest in seen.items() if digest}

    def _see_storage(self, name: str) -> str:
        storage = self._world.storage_of(name)
        if not storage:
            return ""
        # By the number of writes: storage can be large, and most events do not write.
        writes, digest = self._stored.get(name, (-1, ""))
        if writes != storage.writes:
            digest = digest_of(to_json(dict(storage), strict=False), _WHOLE)
            self._stored[name] = storage.writes, digest
        return digest

    def _see_network(self) -> dict[str, str]:
        """Return digests of who is up and what is under way, for events that may have changed any of it."""
        world = self._world
        under_way = sorted(
            [e.source, e.nth, e.target, digest_of(to_json(e.payload, strict=False), _WHOLE)]
            for e in world.pool
            if not e.timer
        )
        seen = {
            "the nodes that are up": list[Any](sorted(world.nodes)),
            "the partitions": world.pool.held,
            "the messages under way": under_way,
        }
        return {key: digest_of(what, _WHOLE) for key, what in seen.items() if what}


def state_of(node: Node) -> dict[str, Any]:
    """Return the attributes of a node, as JSON that is the same for equal states."""
    return {name: _attribute_json(node, name, value) for name, value in sorted(vars(node).items())}


def _attribute_json(node: Node, name: str, value: Any) -> Any:
    try:
        return to_json(value, strict=False)
    except NoValueError as error:
        where = f"the attribute {name} of a {type(node).__qualname__} cannot be shown"
        raise UsageError(f"{where}: {error.message}", remedy=error.remedy) from error


def digest_of(document: Any, length: int) -> str:
    """Return the beginning of a digest of JSON; equal JSON has equal digests whatever the order of its objects."""
    # Lone surrogates are in strings that a node may well have; hence ``surrogatepass``.
    return hashlib.sha256(write_compactly(document).encode("utf-8", "surrogatepass")).hexdigest()[:length]
