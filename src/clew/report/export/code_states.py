"""The states of an execution of simulated nodes: each attribute with its value at each node that is up.

What is known of a node before its first event is what that event found.  Nodes at which nothing happens have no
state that is known.  Values are shared: an event changes little of a state.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from clew.report.export.events import Document, State
from clew.report.simulated.run import Event, Story
from clew.simulation.events import Stop
from clew.simulation.world import CodeBlock

Variables = dict[str, dict[str, Document]]


def states_of_run(story: Story) -> tuple[State, ...]:
    """Return the state before the first event, and that after each."""
    # Who is up is not seen from the variables: a node may have no attributes.
    variables, up = _first_state(story), frozenset(story.processes) - frozenset(story.down)
    states = [State(0, "the beginning", variables, _in_order(story, up))]
    for told in story.events:
        for node, state in _seen(story, told, told.moment.after):
            variables = _with_node(variables, node, state)
        up = _still_up(told, up)
        time = told.moment.happened.time
        states.append(State(told.number if time is None else time, told.title, variables, _in_order(story, up)))
    return tuple(states)


def _first_state(story: Story) -> Variables:
    """Return what each node was when the first event at it found it."""
    variables: Variables = {}
    seen: set[str] = set()
    for told in story.events:
        for node, state in _seen(story, told, told.moment.before):
            if node not in seen:
                seen.add(node)
                variables = _with_node(variables, node, state)
    return variables


def _still_up(told: Event, up: frozenset[str]) -> frozenset[str]:
    """Return the nodes that are up after an event."""
    if told.node:
        return up - {told.node} if told.moment.after is None else up | {told.node}
    # Not by the states of a code block, in which a node without attributes does not show.
    for turn in told.moment.happened.lives:
        up = up - {turn.node} if isinstance(turn, Stop) else up | {turn.node}
    return up


def _seen(
    story: Story, told: Event, state: Mapping[str, Document] | None
) -> Iterator[tuple[str, Mapping[str, Document] | None]]:
    """Yield the state of each node that an event looked at; None while it is down."""
    if not isinstance(told.moment.happened.what, CodeBlock):
        if told.node:
            yield told.node, state
        return
    # Of a code block the states are those of the whole cluster, with attributes by node.
    parts: dict[str, dict[str, Document]] = {}
    for name, value in (state or {}).items():
        node, attribute = split_attribute(name, story.processes)
        parts.setdefault(node, {})[attribute] = value
    for node in story.processes:
        yield node, parts.get(node)


def split_attribute(name: str, processes: Sequence[str]) -> tuple[str, str]:
    """Split ``node.attribute``, as states of a whole cluster have it; the name of a node may have dots."""
    node, _, attribute = name.rpartition(".")
    if attribute.isidentifier():
        return node, attribute
    # Only what is set by ``setattr`` or ``__dict__`` can be called like this.
    node = max((p for p in processes if name.startswith(f"{p}.")), key=len, default=node)
    return node, name[len(node) + 1 :]


def _with_node(variables: Variables, node: str, state: Mapping[str, Document] | None) -> Variables:
    """Return the variables with this state of a node; those in which it does not differ are the same objects."""
    changed = dict(variables)
    for name in [name for name, values in variables.items() if node in values and name not in (state or {})]:
        changed[name] = {other: value for other, value in variables[name].items() if other != node}
    for name, value in (state or {}).items():
        values = variables.get(name, {})
        # By identity: what does not change is the same object, and to compare states takes long.
        if node not in values or values[node] is not value:
            changed[name] = {**values, node: value}
    return {name: values for name, values in changed.items() if values}


def _in_order(story: Story, up: frozenset[str]) -> tuple[str, ...]:
    return tuple(process for process in story.processes if process in up)
