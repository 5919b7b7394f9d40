"""Find out whether the same faults lead to the same execution, and whether one leaves anything for the next.

Checks rest on that: a certificate says of thousands of executions what each of them would do alone.  Code can
break it in ways that no single execution shows: it draws from ``random``, counts in a variable of its module or
its class, or a promise changes what it looks at.
"""

from __future__ import annotations

import types
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from clew.errors import UsageError
from clew.injection.execution.course import Course, Occurrence
from clew.injection.execution.looking import OpaqueError, look_through
from clew.simulation.execution.effects import state_of
from clew.simulation.node import Node
from clew.simulation.pool import Envelope
from clew.simulation.scenario import Scenario
from clew.simulation.timing import show_time
from clew.simulation.user_code import name_of
from clew.simulation.values import to_json
from clew.simulation.world import World

_REMEDY = "let nodes take time and random numbers from their context, and nothing else from outside"

#: The digest of no events at all.
NOTHING_BEFORE = 0


def digest_prefixes(course: Course, number: int | None = None) -> list[int]:
    """Return a digest of the first events of a run, for each number of them from 0 on; of this process only."""
    found = [NOTHING_BEFORE]
    for occurrence in course.occurrences[:number]:
        found.append(hash((found[-1], _key(occurrence))))
    return found


def _key(occurrence: Occurrence) -> tuple[object, ...]:
    what = occurrence.what
    if isinstance(what, Envelope):
        return occurrence.fate, what.target, what.source, what.nth, occurrence.time
    return type(what).__name__, occurrence.node, occurrence.time


def refuse_other_beginning(course: Course, events: int, digest: int) -> None:
    """Refuse a run that is not the same as another for so many events, up to where its last fault strikes."""
    if digest_prefixes(course, events)[-1] != digest or len(course.occurrences) < events:
        raise refuse_repetition(
            f"up to event {events}, the faults are the same, and what happens is not", course.world
        )


def refuse_other_course(one: Course, other: Course) -> None:
    """Refuse two runs under the same faults that differ: in what happens, or in the states at their ends."""
    # Event by event first: where things happen differently, states differ for that reason.
    for place, (first, second) in enumerate(zip(one.occurrences, other.occurrences, strict=False)):
        if _key(first) != _key(second) or _content(first) != _content(second):
            where = f"the first event that differs is number {place + 1}, {_describe(first, second)}"
            raise refuse_repetition(where, one.world)
    if len(one.occurrences) != len(other.occurrences) or one.broken != other.broken:
        raise refuse_repetition("one of them ends where the other does not", one.world)
    before, after = states_at_end(one), states_at_end(other)
    for name in before:
        if before[name] != after.get(name):
            raise refuse_repetition(f"at the end, {name} differs", one.world)


def _content(occurrence: Occurrence) -> object:
    what = occurrence.what
    return to_json(what.payload, strict=False) if isinstance(what, Envelope) else None


def _describe(one: Occurrence, other: Occurrence) -> str:
    """Say what happens where two executions differ: in each of them, where that is not the same."""
    before, after = f"at {show_time(one.time)}: {_name(one)}", f"at {show_time(other.time)}: {_name(other)}"
    if before == after:
        return f"{before}, with another content"
    return f"{before}; the other time, {after}"


def _name(occurrence: Occurrence) -> str:
    what = occurrence.what
    if not isinstance(what, Envelope):
        return f"{type(what).__name__} at {occurrence.node or 'all nodes'}"
    if what.timer:
        return f"timer '{what.payload}' at {what.target}"
    label = getattr(what.payload, "label", "") or what.kind
    return f"{label} from {what.source or 'outside'} to {what.target}"


def refuse_repetition(where: str, world: World | None = None) -> UsageError:
    """Return the error that the same was not the same when it was done again."""
    remedy = _REMEDY if world is None or world.suspect is None else world.suspect()
    return UsageError(f"the same faults twice do not lead to the same execution: {where}", remedy=remedy)


def states_at_end(course: Course) -> dict[str, Any]:
    """Return the states at the end, as far as they can be compared with those of another execution."""
    world = course.world
    found: dict[str, Any] = {}
    for name, node in world.nodes.items():
        found |= {f"the attribute {attribute} of {name}": value for attribute, value in state_of(node).items()}
        if (storage := world.storage_of(name)) is not None:
            found[f"the storage of {name}"] = to_json(dict(storage), strict=False)
    return found


def refuse_changing_promises(scenario: Scenario, course: Course) -> None:
    """Refuse promises, invariants and assumptions that change the nodes at which they look."""
    # All in turn on the same nodes: what one of them changes is told before the next is asked.
    nodes = dict(course.world.nodes)
    functions = [*scenario.promises, *scenario.invariants, *([scenario.assume] if scenario.assume else [])]
    before = states_at_end(course)
    for function in functions:
        function(nodes)
        after = states_at_end(course)
        for name, value in before.items():
            if after.get(name) != value:
                raise UsageError(
                    f"{name_of(function)} changes {name}", remedy="let it look at the nodes only, or at copies"
                )


class Leftovers:
    """What variables of modules and classes are like, to see later whether executions have changed them."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._before = dict(self._look())
        self._elsewhere: set[str] = set()

    def note(self, changed: Iterable[str]) -> None:
        """Note what has changed in another process, which executed some of it."""
        self._elsewhere.update(changed)

    def list_changes(self) -> list[str]:
        """List which of them are not what they were."""
        now = dict(self._look())
        return [n for n, value in self._before.items() if n in self._elsewhere or now.get(n) != value]

    def describe_changes(self) -> str | None:
        """Say which of them are not what they were; None if all are."""
        changed = self.list_changes()
        if not changed:
            return None
        return (
            f"executions have changed {', '.join(changed)}, so that one can depend on those before it: "
            "keep state in attributes of nodes"
        )

    def _look(self) -> Iterator[tuple[str, object]]:
        for variables in _find_modules(self._scenario):
            for name, value in list(variables.items()):
                if isinstance(value, type) and issubclass(value, Node):
                    for kind in value.__mro__:
                        if kind not in (Node, object):
                            yield from _look_at_all(f"{kind.__qualname__}.", vars(kind))
                elif not name.startswith("__"):
                    yield from _look_at_all("", {name: value})


def _find_modules(scenario: Scenario) -> list[dict[str, Any]]:
    """Return the variables of the modules that the functions of a scenario are from."""
    found: dict[int, dict[str, Any]] = {}
    for function in (*scenario.nodes.values(), *scenario.promises, *scenario.invariants):
        for each in _codes_of(function):
            found[id(each.__globals__)] = each.__globals__
    return list(found.values())


def _codes_of(function: Any) -> Iterator[types.FunctionType]:
    while isinstance(function, partial):
        function = function.func
    if isinstance(function, type):
        members = [member for kind in function.__mro__ for member in vars(kind).values() if kind is not Node]
        yield from (member for member in members if isinstance(member, types.FunctionType))
    elif isinstance(function, types.FunctionType):
        yield function


def _look_at_all(where: str, variables: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    for name, value in variables.items():
        # What is defined once, and what only looks like a variable.
        if callable(value) or isinstance(value, Scenario | types.ModuleType) or hasattr(type(value), "__get__"):
            continue
        try:
            yield f"{where}{name}", look_through(value)
        except OpaqueError:
            # Nobody can tell whether it changed; what it does to nodes shows in the executions themselves.
            continue
