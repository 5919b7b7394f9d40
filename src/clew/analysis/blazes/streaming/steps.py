"""The steps of a Bytewax dataflow, with what their authors say of them, and whence each of their inputs comes.

A step of an operator that Bytewax offers is a component, and what it does is what the annotation of its function,
logic, source or sink says.  An operator of the user's own is one component if it is annotated, and otherwise the
steps that it is made of.  Whatever has no annotation is refused by its name: nothing is assumed.  Three operators
only connect (``merge``, ``redistribute``, ``key_rm``): no code of a user is in them, and they are streams here.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from clew.analysis.blazes.annotations import Behaviour
from clew.analysis.blazes.dataflow import Ordering
from clew.analysis.blazes.streaming.declared import Note, SourceNote, StepNote, notes_on
from clew.analysis.blazes.streaming.outside import Outside, find_outside, is_of_bytewax, steps_in
from clew.errors import Position, ProgramError

#: Operators of Bytewax that pass on what they get, as it is.
_CONNECTING = ("merge", "redistribute", "key_rm")
#: The operator of Bytewax that all operators with state are made of.
_KEEPS_STATE = "stateful_batch"
#: Fields of every step; the others are what it was given, and its ports.
_USUAL_FIELDS = ("step_name", "step_id", "substeps")


@dataclass(frozen=True)
class Port:
    """An input or output of a step, with the stream of the engine that it is connected to.

    ``group``: the parameter that it is one of several streams of, else its name.
    """

    name: str
    group: str
    stream: str


@dataclass(frozen=True)
class Step:
    """A step with its notes: of a source if it has no inputs.

    ``writes``: some of what comes leaves the dataflow here.  ``connecting``: it is no component, but a part of the
    streams that it connects.  ``outside``: what it is seen to depend on besides its input.
    """

    name: str
    operator: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    notes: tuple[Note, ...]
    position: Position | None
    writes: bool
    connecting: bool
    outside: Outside | None

    @property
    def step_notes(self) -> tuple[StepNote, ...]:
        return tuple(note for note in self.notes if isinstance(note, StepNote))

    @property
    def source_note(self) -> SourceNote | None:
        return next((note for note in self.notes if isinstance(note, SourceNote)), None)


def read_steps(flow: Any) -> tuple[Step, ...]:
    """Return the steps of a dataflow, in the order in which the program makes them."""
    return tuple(step for given in flow.substeps for step in _read(given, f"{flow.flow_id}."))


def _read(given: Any, prefix: str) -> Iterator[Step]:
    # The library that an operator is of decides whether its insides are the user's business.
    by_bytewax = type(given).__module__.partition(".")[0] == "bytewax"
    arguments = _arguments(given)
    # What is said of an operator is said of all that it is made of.
    notes = notes_on(type(given)) or tuple(dict.fromkeys(n for value in arguments for n in notes_on(value)))
    connecting = by_bytewax and type(given).__name__ in _CONNECTING and not notes
    step = Step(
        given.step_id.removeprefix(prefix),
        type(given).__name__,
        _ports(given, given.ups_names),
        _ports(given, given.dwn_names),
        notes,
        notes[0].position if notes else _position(arguments),
        _contains(given, "output"),
        connecting,
        _outside(given, notes),
    )
    if notes:
        _check_notes(step)
        _check_inside(step, given)
        _check_joins(step, given)
    elif not by_bytewax and given.substeps:
        for inner in given.substeps:
            yield from _read(inner, prefix)
        return
    elif not connecting:
        _refuse_unsaid(step, arguments)
    yield step


def _outside(given: Any, notes: Sequence[Note]) -> Outside | None:
    """Return what a step depends on besides its input, unless its author says that it makes no difference."""
    said = [note for note in notes if isinstance(note, StepNote)]
    return find_outside(given) if said and not any(note.repeatable for note in said) else None


def _arguments(given: Any) -> tuple[object, ...]:
    ports = {*_USUAL_FIELDS, *given.ups_names, *given.dwn_names}
    return tuple(getattr(given, f.name) for f in dataclasses.fields(given) if f.name not in ports)


def _ports(given: Any, names: Sequence[str]) -> tuple[Port, ...]:
    """Return the ports; one that takes any number of streams is a port for each of them."""
    found = []
    for name in names:
        streams: Mapping[Any, str] = getattr(given, name).stream_ids
        several = list(streams) != ["stream"]
        found += [Port(f"{name}_{key}" if several else name, name, stream) for key, stream in streams.items()]
    return tuple(found)


def _contains(given: Any, operator: str) -> bool:
    """Tell whether a step is of this operator of Bytewax, or made of some that are."""
    return type(given).__name__ == operator or any(_contains(inner, operator) for inner in given.substeps)


def _check_notes(step: Step) -> None:
    """Refuse notes that are for something else."""
    is_source = not step.inputs
    if is_source and step.step_notes:
        _refuse(step, "is a source, and annotated as a step", "annotate it with @clew.annotate_source(...)")
    if not is_source and step.source_note is not None:
        _refuse(step, "is no source, and annotated as one", 'annotate it with @clew.annotate("CR"), CW, OR or OW')
    if is_source and len(step.notes) > 1:
        _refuse(step, "is annotated twice", "annotate its source, and nothing else that it is given")


def _check_inside(step: Step, given: Any) -> None:
    """Refuse notes that deny what the engine knows, and streams that nothing could be said of."""
    if not step.inputs:
        return
    if _contains(given, "input"):
        _refuse(
            step,
            "begins a stream of its own",
            "begin it outside, where it can be annotated, and give it to the operator",
        )
    if _contains(given, _KEEPS_STATE) and not any(n.annotation.behaviour.writes for n in step.step_notes):
        labels = " and ".join(str(note.annotation) for note in step.step_notes)
        _refuse(
            step,
            f"keeps state ({step.operator}), and is annotated {labels}, which stores nothing",
            "write CW if the order of what comes makes no difference to what leaves it, else OW",
        )


def _check_joins(step: Step, given: Any) -> None:
    """Refuse notes on a join that deny when it hands something on: as soon as rows have come."""
    modes = {inner.emit_mode for inner in steps_in(given) if _is_join(inner)} - {"final"}
    for note in step.step_notes if modes else ():
        said = note.annotation
        if said.behaviour is Behaviour.CW and "running" in modes:
            remedy = 'write OW without attributes, or give it emit_mode="final"'
            _refuse(step, "hands on what has come so far (emit_mode='running'), and is annotated CW", remedy)
        if said.gate is not None and note.ordering is Ordering.NONE:
            remedy = 'write OW without attributes; CW if each key comes once on each side; or emit_mode="final"'
            _refuse(step, "joins rows as they come, and waits for no seal on its attributes", remedy)


def _is_join(given: Any) -> bool:
    return is_of_bytewax(type(given)) and type(given).__name__ == "join"


def _refuse_unsaid(step: Step, arguments: Sequence[object]) -> NoReturn:
    if not step.inputs:
        remedy = (
            "say what it is like: @clew.annotate_source(seal=[...]) above the class of the source,"
            " or clew.annotate_source()(...) around the source, if nothing is sealed"
        )
    elif any(callable(argument) for argument in arguments) or not step.outputs:
        what = next((name for a in arguments if (name := _name_of(a))), "what the step is given")
        remedy = (
            f'write @clew.annotate("CR") above {what} if order makes no difference and nothing is stored,'
            ' else "CW", or "OR" or "OW" with the attributes by which it groups'
        )
    else:
        remedy = "it is given nothing to annotate: make an operator of your own around it, and annotate that"
    _refuse(step, f"({step.operator}) has no annotation", remedy)


def _refuse(step: Step, message: str, remedy: str) -> NoReturn:
    raise ProgramError(f"the step '{step.name}' {message}", position=step.position, remedy=remedy)


def _name_of(value: object) -> str:
    """Return the name of code of the user; "" of what a library gives, and of what has none."""
    while isinstance(value, functools.partial):
        value = value.func
    described = value if hasattr(value, "__qualname__") else type(value)
    if str(getattr(described, "__module__", None) or "builtins").partition(".")[0] in ("bytewax", "builtins"):
        return ""
    name = str(getattr(described, "__qualname__", ""))
    return "the lambda, as a function with a name" if "<lambda>" in name else name


def _position(arguments: Sequence[object]) -> Position | None:
    """Return where the first function of the user begins: Bytewax does not tell where a step was made."""
    codes = [code for a in arguments if _name_of(a) and (code := getattr(a, "__code__", None)) is not None]
    return Position(codes[0].co_filename, codes[0].co_firstlineno, 1) if codes else None
