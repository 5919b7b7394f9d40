"""A Bytewax dataflow as an annotated dataflow: steps become components, and what connects them streams."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn

from clew.analysis.blazes.annotations import Annotation, Behaviour, Label, LabelKind
from clew.analysis.blazes.dataflow import Component, Dataflow, End, Ordering, Path, Stream
from clew.analysis.blazes.extraction.naming import Draft, name_streams
from clew.analysis.blazes.seals import Lineage
from clew.analysis.blazes.streaming.declared import StepNote
from clew.analysis.blazes.streaming.steps import Port, Step, read_steps
from clew.analysis.blazes.wiring import check_wiring
from clew.errors import ProgramError

#: The output interface of a step that ends a dataflow: what it writes leaves there.
_WRITTEN = Port("written", "written", "")

#: By the streams of the engine, the streams that bring what is in them, without their targets.
_Origins = Mapping[str, tuple[Stream, ...]]


def read_flow(flow: Any) -> Dataflow:
    """Return the dataflow that the steps of a Bytewax ``Dataflow`` and their annotations make up.

    Raises ``ProgramError`` for a step that is not annotated, or not for all of its ports.
    """
    steps = _leave_out_what_changes_nothing(read_steps(flow))
    names = _name_components([step for step in steps if _is_component(step)])
    origins: dict[str, tuple[Stream, ...]] = {}
    components: list[Component] = []
    drafts: list[Draft] = []
    for step in steps:
        if _is_component(step):
            component = _component(step, names[step])
            components.append(component)
            drafts += _lead_to(component, step, origins)
            drafts += _from_outside(component, step)
            origins |= _leave(component, step)
        # What goes in comes out: whoever reads its outputs reads the streams that lead to it.
        elif step.connecting:
            joined = tuple(stream for port in step.inputs for stream in origins[port.stream])
            origins |= {port.stream: joined for port in step.outputs}
        else:
            origins |= {port.stream: (_entering(step),) for port in step.outputs}
    drafts += _ends(steps, names, origins)
    # Those that enter come first and those that leave last; what is merged with itself comes once.
    ordered = sorted(dict.fromkeys(drafts), key=lambda d: (d.stream.source is not None, d.stream.target is None))
    dataflow = Dataflow(tuple(components), tuple(name_streams(ordered)[0]))
    check_wiring(dataflow)
    return dataflow


def _is_component(step: Step) -> bool:
    return bool(step.inputs) and not step.connecting


def _name_components(steps: Sequence[Step]) -> dict[Step, str]:
    """Return a name for each step that a file may have: Bytewax allows any text without a period."""
    names: dict[Step, str] = {}
    # ``streams`` is what a file calls the list of all streams.
    taken = {"streams"}
    for step in steps:
        wanted = name = _clean(step.name)
        number = 1
        while name in taken:
            number += 1
            name = f"{wanted}-{number}"
        taken.add(name)
        names[step] = name
    return names


def _clean(text: str) -> str:
    name = re.sub(r"[^A-Za-z0-9_-]", "-", text)
    return name if re.match(r"[A-Za-z_]", name) else f"_{name}"


# -- components --------------------------------------------------------------------------------------------------


def _component(step: Step, name: str) -> Component:
    outputs = _outputs(step)
    _check_ports(step, outputs)
    orderings = {note.ordering for note in step.step_notes} - {Ordering.NONE}
    if len(orderings) > 1:
        _refuse(step, step.step_notes[0], "is ordered in two ways", "leave one out")
    return Component(
        name,
        (
            *(_path(step, source, target) for source in step.inputs for target in outputs),
            *_paths_from_outside(step, outputs),
        ),
        replicated=any(note.replicated for note in step.step_notes),
        ordering=next(iter(orderings), Ordering.NONE),
        position=step.position,
    )


def _outputs(step: Step) -> tuple[Port, ...]:
    """Return the ports at which something new leaves: an operator may hand on the very stream that it got."""
    # By the identity of the stream, not by a name.
    own = {port.stream for port in step.inputs}
    new = tuple(port for port in step.outputs if port.stream not in own)
    return (*new, _WRITTEN) if step.writes or not new else new


def _check_ports(step: Step, outputs: Sequence[Port]) -> None:
    for note in step.step_notes:
        for wanted, ports in ((note.source, step.inputs), (note.target, outputs)):
            if not any(_is_meant(wanted, port) for port in ports):
                names = ", ".join(port.name for port in ports)
                _refuse(step, note, f"has no port '{wanted}'", f"there are {names}")


def _path(step: Step, source: Port, target: Port) -> Path:
    meant = [n for n in step.step_notes if _is_meant(n.source, source) and _is_meant(n.target, target)]
    way = f"{source.name} → {target.name}"
    if not meant:
        remedy = f'add @clew.annotate("CR", source="{source.name}", target="{target.name}"), or CW, OR or OW'
        _refuse(step, step.step_notes[0], f"has no annotation for its path {way}", remedy)
    if len(meant) > 1:
        remedy = "annotate it once, or say by source=... and target=... which ports are meant"
        _refuse(step, meant[1], f"is annotated twice for its path {way}", remedy)
    note = meant[0]
    return Path(_clean(source.name), _clean(target.name), note.annotation, note.lineage, note.position)


def _is_meant(wanted: str, port: Port) -> bool:
    """Tell whether a note names a port, or the parameter whose streams it is one of; "" names all."""
    return wanted in ("", port.name, port.group)


# -- what steps depend on besides their input --------------------------------------------------------------------


def _leave_out_what_changes_nothing(steps: Sequence[Step]) -> list[Step]:
    """Leave out what steps depend on if they are not repeatable anyway.

    A step that is all OW over streams that nobody seals, in no order, is Run whatever else it does.  It is told to
    seal or to order them; what it depends on besides is said when that is done.
    """
    if any(note.seals for step in steps for note in step.notes):
        return list(steps)
    return [replace(step, outside=None) if _is_run(step) else step for step in steps]


def _is_run(step: Step) -> bool:
    return all(n.annotation.behaviour is Behaviour.OW and n.ordering is Ordering.NONE for n in step.step_notes)


def _paths_from_outside(step: Step, outputs: Sequence[Port]) -> Iterator[Path]:
    """Yield paths for what a step depends on besides its input: it is an input, which differs from run to run."""
    if step.outside is None:
        return
    # Instances that ought to agree have clocks of their own.
    is_replicated = any(note.replicated for note in step.step_notes)
    annotation = Annotation(Behaviour.OW if is_replicated else Behaviour.CR)
    for port in outputs:
        yield Path(_outside_port(step), _clean(port.name), annotation, Lineage(False), step.outside.position)


def _from_outside(component: Component, step: Step) -> Iterator[Draft]:
    if step.outside is not None:
        port = _outside_port(step)
        target = End(component.name, port)
        yield Draft(
            Stream(f"{component.name}-{port}", target=target, label=Label(LabelKind.RUN)),
            step.outside.position or step.position,
        )


def _outside_port(step: Step) -> str:
    assert step.outside is not None
    taken = {_clean(port.name) for port in (*step.inputs, *step.outputs)}
    name = step.outside.name
    while name in taken:
        name = f"{name}-outside"
    return name


# -- streams -----------------------------------------------------------------------------------------------------


def _entering(step: Step) -> Stream:
    note = step.source_note
    assert note is not None, "what has no inputs is annotated as a source"
    return Stream(
        _clean(step.name),
        label=note.label,
        seals=note.seals,
        attributes=note.attributes,
        dependencies=note.dependencies,
        position=note.position,
    )


def _lead_to(component: Component, step: Step, origins: _Origins) -> Iterator[Draft]:
    for port in step.inputs:
        for stream in origins[port.stream]:
            yield _draft(replace(stream, target=End(component.name, _clean(port.name))), step)


def _leave(component: Component, step: Step) -> dict[str, tuple[Stream, ...]]:
    outputs = _outputs(step)
    several = len(outputs) > 1
    return {port.stream: (_leaving(step, component.name, port, several),) for port in outputs if port.stream}


def _leaving(step: Step, component: str, port: Port, is_one_of_several: bool) -> Stream:
    notes = [note for note in step.step_notes if _is_meant(note.target, port)]
    return Stream(
        f"{component}-{_clean(port.name)}" if is_one_of_several else component,
        End(component, _clean(port.name)),
        seals=tuple(dict.fromkeys(seal for note in notes for seal in note.seals)),
        attributes=next((note.attributes for note in notes if note.attributes is not None), None),
    )


def _ends(steps: Sequence[Step], names: Mapping[Step, str], origins: _Origins) -> Iterator[Draft]:
    """Yield the sinks: what steps without outputs write, and what nobody reads.

    Bytewax drops the latter, but what the step did to make it has been done: it may have written somewhere.
    """
    read = {port.stream for step in steps for port in step.inputs}
    for step in steps:
        if _is_component(step) and _WRITTEN in (outputs := _outputs(step)):
            yield _draft(_leaving(step, names[step], _WRITTEN, len(outputs) > 1), step)
        for port in step.outputs:
            left = [] if port.stream in read else origins[port.stream]
            yield from (_draft(stream, step) for stream in left if stream.source is not None)


def _draft(stream: Stream, step: Step) -> Draft:
    return Draft(stream, stream.position or step.position)


def _refuse(step: Step, note: StepNote, message: str, remedy: str) -> NoReturn:
    raise ProgramError(f"the step '{step.name}' {message}", position=note.position, remedy=remedy)
