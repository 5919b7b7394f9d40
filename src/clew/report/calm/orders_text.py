"""Random orders against the verdict, in words."""

from __future__ import annotations

from collections.abc import Iterator

from clew.analysis.calm.analysis import Label
from clew.analysis.calm.trying.orders import Pair, Trial
from clew.analysis.calm.trying.runs import Delivery, End, Event, Firing, Given, Message, Step
from clew.bloom.values import Row
from clew.report.text.plain import pluralize


def orders_text(trials: tuple[Trial, ...]) -> str:
    """Return what came of trying each group of outputs."""
    return "\n".join(line for trial in trials for line in ("", *_lines(trial))) + "\n"


def _lines(trial: Trial) -> Iterator[str]:
    names = ", ".join(f"{output.name} ({output.label.value})" for output in trial.outputs)
    given = ", each node with the same steps" if trial.steps_given else ""
    tried = trial.tried
    left_out = ""
    if tried.left_out:
        left_out = f"; {pluralize(tried.left_out, 'other')} left out, in which rows with the same key met"
    if tried.pair is None:
        yield f"{names}: {pluralize(tried.orders, 'order')}{given}, one outcome{left_out}"
        if any(output.label in (Label.DIVERGES, Label.NONMONOTONE) for output in trial.outputs) and not given:
            yield "  no order of these inputs was found that changes it"
        return
    yield f"{names}: two orders{given} end differently (found in {pluralize(tried.orders, 'order')}{left_out})"
    if trial.contradicts:
        yield "  this contradicts the label: please check what docs/calm.md takes for granted"
    yield from _pair(tried.pair)


def _pair(pair: Pair) -> Iterator[str]:
    yield "  given:"
    for given in pair.workload.inputs:
        yield f"    {given.node}, step {given.step}: {given.collection} {show_row(given.row)}"
    yield "  if nothing is late:"
    yield from _deliveries(pair.prompt_run.deliveries)
    yield "  if some things are late:"
    for event, by in pair.late.items():
        yield f"    ({event_text(event, by)})"
    yield from _deliveries(pair.late_run.deliveries)
    difference = pair.difference
    when = "" if difference.step is None else f", in step {difference.step},"
    yield f"  then {difference.collection} of {difference.node}{when} has"
    for when, rows in (("in time", difference.only_first), ("late", difference.only_second)):
        yield f"    only {when}: {', '.join(map(show_row, rows)) or 'nothing'}"


def _deliveries(deliveries: tuple[Delivery, ...]) -> Iterator[str]:
    for one in deliveries:
        yield f"    {one.node}, step {one.step}: {one.channel} {show_row(one.row)}"
    if not deliveries:
        yield "    no message arrives"


def event_text(event: Event, by: int) -> str:
    """Say what is late, and by how much."""
    match event:
        case Message(sender, channel, row):
            origin = f"from {sender}" if sender else "from outside"
            return f"{channel} {show_row(row)} {origin} is {pluralize(by, 'round')} late"
        case Step(node, number):
            return f"step {number} of {node} is {pluralize(by, 'round')} late"
        case Firing(node, timer, number):
            return f"{timer} of {node} goes off {pluralize(by, 'step')} late the {number}. time"
        case Given(node, collection, row):
            return f"{collection} {show_row(row)} is given to {node} {pluralize(by, 'step')} late"
        case End(node):
            return f"{node} takes {pluralize(by, 'empty step')} in the end"


def show_row(row: Row) -> str:
    """Write a row as Python would; sets in order, so that it is the same text in every process."""
    return _value(row)


def _value(value: object) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_value, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, frozenset):
        # Sets have no order of their own, and hashes of strings change from process to process.
        return f"{{{', '.join(sorted(map(_value, value)))}}}"
    return repr(value)
