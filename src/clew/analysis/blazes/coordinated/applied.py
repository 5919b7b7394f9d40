"""The dataflow of a class that is wrapped in coordination: that of the original, with seals and orders in it."""

from __future__ import annotations

from collections.abc import Iterator

from clew.analysis.blazes.coordinated.recognition import Held, NotCoordinatedError, Recognized
from clew.analysis.blazes.dataflow import Component, Dataflow, End, Ordering


def with_coordination(dataflow: Dataflow, found: Recognized) -> Dataflow:
    """Return the dataflow in which streams are sealed and inputs ordered as the wrapper does it.

    :raises NotCoordinatedError: if an input for which order matters is not held back at all.
    """
    for name, held in found.components.items():
        component = _component(dataflow, name, found)
        _refuse_unheld(component, held)
        for interface, key in held.seals.items():
            # The seal is promised at the interface; it holds for every stream that leads there.
            for stream in dataflow.into.get(End(component.name, interface), ()):
                dataflow = dataflow.with_seal(stream.name, frozenset(key))
        if held.ordered:
            # Decided while it runs: replicas agree, and runs still differ (table 4.1).
            dataflow = dataflow.with_ordering(frozenset({component.name}), Ordering.DYNAMIC)
    return dataflow


def said_of(found: Recognized) -> tuple[str, ...]:
    """Return what is held back, in words."""
    return tuple(line for name, held in found.components.items() for line in _said(name, held))


def _said(name: str, held: Held) -> Iterator[str]:
    at = f"{name}." if name else ""
    for interface, key in held.seals.items():
        yield f"{at}{interface} is sealed on {', '.join(key)}"
    for interface in held.reads:
        yield f"{at}{interface} waits for what is sealed"
    for interface in held.ordered:
        yield f"{at}{interface} is ordered, the same for all replicas"


def _component(dataflow: Dataflow, name: str, found: Recognized) -> Component:
    """Return the component that an imported module is; the class itself is one if it imports nothing."""
    wanted = name or found.original.__name__
    component = next((c for c in dataflow.components if c.name == wanted), None)
    if component is None:
        raise NotCoordinatedError(f"there is no component {wanted}")
    return component


def _refuse_unheld(component: Component, held: Held) -> None:
    for path in component.paths:
        waits = path.source in held.ordered if held.ordered else path.source in (*held.seals, *held.reads)
        meets = path.annotation.meets or frozenset()
        if not waits and (held.ordered or path.annotation.behaviour.ordered or meets):
            raise NotCoordinatedError(f"{component.name}.{path.source} is not held back")
        named = held.reads.get(path.source, ())
        if meets and not named and path.source in held.reads:
            raise NotCoordinatedError(f"{component.name}.{path.source} does not say what it waits for")
        if not frozenset(named) <= (path.annotation.gate or meets):
            raise NotCoordinatedError(
                f"{component.name}.{path.source} waits for {', '.join(named)}, which is no part"
            )
