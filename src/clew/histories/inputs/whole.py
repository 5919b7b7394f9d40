"""Whole operations, each in one line with the times of its ends, for logs that were written afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clew.histories.inputs.events import Source, outcome_of, required_field, split_pair, time_of, word_of
from clew.histories.operations import Operation, Outcome
from clew.histories.values import show_value

_OUTCOMES = {**{outcome.value: outcome for outcome in Outcome}, "info": Outcome.UNKNOWN}


def make_operation(fields: Mapping[str, Any], line: int, source: Source) -> Operation:
    """Return the operation that these fields describe; its places in the order are not known yet."""
    function = word_of(required_field(fields, "f", line, source))
    if function is None:
        source.refuse(line, f"expected the name of a function as 'f', found {show_value(fields['f'])}")
    outcome: Outcome = outcome_of(fields.get("type", "ok"), _OUTCOMES, line, source)
    started = time_of(required_field(fields, "start", line, source), "start", line, source)
    ended = time_of(fields.get("end"), "end", line, source)
    if started is None:
        source.refuse(line, "expected a number as 'start', found nil")
    if ended is None and outcome is not Outcome.UNKNOWN:
        source.refuse(line, "the field 'end' is missing", 'say "type": "unknown" if nobody knows how it ended')
    # Clocks of two machines: an order made of them would be invented.
    if ended is not None and ended < started:
        source.refuse(line, f"ends at {ended}, before it starts at {started}", "give both by one clock")
    argument, key = fields.get("argument"), fields.get("key")
    if source.keyed:
        key, argument = split_pair(argument, line, source)
    process = required_field(fields, "process", line, source)
    result = fields.get("result") if outcome is Outcome.OK else None
    return Operation(process, function, argument, result, outcome, 0, None, key, line, started, ended)
