"""Apalache's Informal Trace Format: the states of an execution, for tools around TLA+ and Quint.

A variable is a relation or an attribute, its value a map from nodes to what it is there.  Beside them stand the
time, what led to the state, and for code the nodes that are up.  Each state has all variables, so that those of a
long run can be large: if the document would be too large, it has the last states, and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from clew.files.json_document import json_line
from clew.report.export.events import Document, State, Trace
from clew.report.export.formats.itf_values import itf_value

#: As many characters of states are written, and not more.
MOST_CHARACTERS = 64_000_000

_ABOUT = "https://apalache-mc.org/docs/adr/015adr-trace.html"


def write_itf(trace: Trace, *, most: int = MOST_CHARACTERS) -> str:
    """Write the states, one a line; at most so many characters of them."""
    names = _Names(trace)
    lines = _last_lines(trace, names, most)
    left_out = len(trace.states) - len(lines)
    meta = {
        "format": "ITF",
        "format-description": _ABOUT,
        "description": trace.title,
        "time": trace.unit.value,
        "faults": list(trace.faults),
        "violations": list(trace.violations),
        **({"cut": f"the first {left_out} of {len(trace.states)} states are left out"} if left_out else {}),
    }
    head = {"#meta": meta, "params": [], "vars": names.all}
    body = ",\n".join(f"    {line}" for line in lines)
    top = "".join(f"  {json_line(name)}: {json_line(value)},\n" for name, value in head.items())
    return f'{{\n{top}  "states": [\n{body}\n  ]\n}}\n'


def _last_lines(trace: Trace, names: _Names, most: int) -> list[str]:
    """Write as many of the last states as there is room for; at least one."""
    # From the end, where the violation is; the others are not even written, which takes most of the time.
    lines: list[str] = []
    size = 0
    write = _state_writer(names)
    for index in range(len(trace.states) - 1, -1, -1):
        line = write(index, trace.states[index])
        size += len(line)
        if lines and size > most:
            break
        lines.append(line)
    return lines[::-1]


class _Names:
    """What the variables are called: those that no relation or attribute is are called so that none is."""

    def __init__(self, trace: Trace) -> None:
        # Of all states: a relation or attribute may be missing in some, and ITF has all variables in each.
        own = list(dict.fromkeys(name for state in trace.states for name in state.variables))
        self.variables = sorted(own)
        self.time, self.action, self.up = (_free(name, own) for name in ("time", "action", "up"))
        self.has_up = any(state.up is not None for state in trace.states)

    @property
    def all(self) -> list[str]:
        return [self.time, self.action, *([self.up] if self.has_up else []), *self.variables]


def _free(name: str, taken: list[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _state_writer(names: _Names) -> Callable[[int, State], str]:
    """Return a function that writes states; what several have in common is written once."""
    # By identity: the mapping is kept beside its text, so that no other one gets its number.
    written: dict[int, tuple[object, str]] = {}

    def variable(values: Mapping[str, Document]) -> str:
        if id(values) not in written:
            pairs = [[node, itf_value(value)] for node, value in values.items()]
            written[id(values)] = values, json_line({"#map": pairs})
        return written[id(values)][1]

    def members(index: int, state: State) -> Iterator[tuple[str, str]]:
        own: dict[str, Any] = {
            "#meta": {"index": index},
            names.time: {"#bigint": str(state.time)},
            names.action: state.action,
        }
        if names.has_up:
            own[names.up] = {"#set": list(state.up or ())}
        yield from ((name, json_line(value)) for name, value in own.items())
        for name in names.variables:
            yield name, variable(state.variables.get(name, _NOWHERE))

    def write(index: int, state: State) -> str:
        return f"{{{', '.join(f'{json_line(name)}: {text}' for name, text in members(index, state))}}}"

    return write


_NOWHERE: Mapping[str, Document] = {}
