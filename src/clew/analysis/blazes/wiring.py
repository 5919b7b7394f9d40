"""Whether streams and interfaces fit together: what is connected to nothing is more likely misspelt than meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import NoReturn

from clew.analysis.blazes.dataflow import Component, Dataflow, End, Stream
from clew.errors import Position, ProgramError


def check_wiring(dataflow: Dataflow) -> None:
    """Refuse ends that do not exist, interfaces that nothing is connected to, and a dataflow without sinks."""
    by_name = {c.name: c for c in dataflow.components}
    seen: dict[str, Stream] = {}
    for stream in dataflow.streams:
        if stream.name in seen:
            _refuse(f"two streams are called '{stream.name}'", stream.position, "tell them apart with 'name: ...'")
        seen[stream.name] = stream
        # A stream without a source enters the dataflow from outside, one without a target leaves it.
        if stream.source is not None:
            _check_end(stream.source, by_name, stream, output=True)
        if stream.target is not None:
            _check_end(stream.target, by_name, stream, output=False)
    # After the ends of all streams: whatever is misspelt there would be told as a missing stream.
    _check_connected(dataflow)
    # Labels are told for what leaves; without it, any dataflow would be found consistent.
    if not dataflow.sinks:
        position = dataflow.components[0].position if dataflow.components else None
        _refuse(
            "no stream leaves the dataflow, so there is nothing to label",
            position,
            "add a sink, a stream without 'to': { from: Component.output }",
        )
    _check_gates(dataflow)


def _check_end(end: End, by_name: dict[str, Component], stream: Stream, *, output: bool) -> None:
    component = by_name.get(end.component)
    if component is None:
        _refuse(
            f"there is no component '{end.component}'", stream.position, _suggestion(end.component, list(by_name))
        )
    names = _interfaces(component, output=output)
    if end.interface not in names:
        kind = "output" if output else "input"
        _refuse(
            f"component '{end.component}' has no {kind} interface '{end.interface}'",
            stream.position,
            _suggestion(end.interface, names),
        )


def _interfaces(component: Component, *, output: bool) -> list[str]:
    return list(dict.fromkeys(path.target if output else path.source for path in component.paths))


def _check_connected(dataflow: Dataflow) -> None:
    fed = {stream.target for stream in dataflow.streams}
    read = {stream.source for stream in dataflow.streams}
    for component in dataflow.components:
        for path in component.paths:
            begin, end = End(component.name, path.source), End(component.name, path.target)
            if begin not in fed:
                _refuse(
                    f"no stream leads to the input interface {begin}",
                    path.position,
                    f"add one to 'streams': {{ to: {begin} }} if it enters the dataflow there",
                )
            if end not in read:
                _refuse(
                    f"no stream begins at the output interface {end}",
                    path.position,
                    f"add one to 'streams': {{ from: {end} }} if it leaves the dataflow there",
                )


def _check_gates(dataflow: Dataflow) -> None:
    """Refuse gates with an attribute that no input has; only where all schemas are known can that be told."""
    for component in dataflow.components:
        into = [s for s in dataflow.streams if s.target is not None and s.target.component == component.name]
        known: set[str] = set()
        for stream in into:
            known.update(stream.attributes or ())
        # Such a stream may have any attribute.
        if any(stream.attributes is None for stream in into):
            continue
        for path in component.paths:
            for name in sorted((path.annotation.gate or frozenset()) - known):
                _refuse(
                    f"no stream into component '{component.name}' has the attribute '{name}' of the subscript",
                    path.position,
                    f"their attributes are {', '.join(sorted(known))}",
                )


def _suggestion(name: str, names: Iterable[str]) -> str:
    known = list(names)
    near = get_close_matches(name, known, n=1)
    return f"did you mean '{near[0]}'?" if near else f"there are: {', '.join(known) or 'none'}"


def _refuse(message: str, position: Position | None, remedy: str) -> NoReturn:
    raise ProgramError(message, position=position, remedy=remedy)
