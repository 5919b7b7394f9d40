"""Random orders against the verdict, in words."""

from __future__ import annotations

from collections.abc import Iterator

from clew.bloom.values import Row
from clew.consistency.calm import Label, Output
from clew.consistency.orders import Pair, Tried
from clew.consistency.runs import Delivery, Event, Firing, Message, Step
from clew.report.plural import counted


def orders_text(tried: dict[tuple[Output, ...], Tried]) -> str:
    """Outputs that were looked at together, and what came of it."""
    return "\n".join(line for outputs, one in tried.items() for line in ("", *_lines(outputs, one))) + "\n"


def _lines(outputs: tuple[Output, ...], tried: Tried) -> Iterator[str]:
    names = ", ".join(f"{output.name} ({output.label.value})" for output in outputs)
    diverges = any(output.label is Label.DIVERGES for output in outputs)
    left_out = ""
    if tried.left_out:
        left_out = f"; {counted(tried.left_out, 'other')} left out, in which rows with the same key met"
    if tried.pair is None:
        yield f"{names}: {counted(tried.orders, 'order')}, one outcome{left_out}"
        if diverges:
            yield "  no order of these inputs was found that changes it"
        return
    yield f"{names}: two orders end differently (found in {counted(tried.orders, 'order')}{left_out})"
    if not diverges:
        yield "  this contradicts the label: please check what docs/calm.md takes for granted"
    yield from _pair(tried.pair)


def _pair(pair: Pair) -> Iterator[str]:
    yield "  given:"
    for given in pair.workload.inputs:
        yield f"    {given.node}, step {given.step}: {given.collection} {shown_row(given.row)}"
    yield "  if nothing is late:"
    yield from _deliveries(pair.prompt_run.deliveries)
    yield "  if some things are late:"
    for event, by in pair.late.items():
        yield f"    ({_event(event, by)})"
    yield from _deliveries(pair.late_run.deliveries)
    difference = pair.difference
    yield f"  then {difference.collection} of {difference.node} has"
    for when, rows in (("in time", difference.only_first), ("late", difference.only_second)):
        yield f"    only {when}: {', '.join(map(shown_row, rows)) or 'nothing'}"


def _deliveries(deliveries: tuple[Delivery, ...]) -> Iterator[str]:
    for one in deliveries:
        yield f"    {one.node}, step {one.step}: {one.channel} {shown_row(one.row)}"
    if not deliveries:
        yield "    nothing arrives"


def _event(event: Event, by: int) -> str:
    match event:
        case Message(sender, channel, row):
            origin = f"from {sender}" if sender else "from outside"
            return f"{channel} {shown_row(row)} {origin} is {counted(by, 'round')} late"
        case Step(node, number):
            return f"step {number} of {node} is {counted(by, 'round')} late"
        case Firing(node, timer, number):
            return f"{timer} of {node} goes off {counted(by, 'step')} late the {number}. time"


def shown_row(row: Row) -> str:
    """As it would be written; sets in order, so that it is the same text in every process."""
    return _value(row)


def _value(value: object) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_value, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, frozenset):
        return f"{{{', '.join(sorted(map(_value, value)))}}}"
    return repr(value)
