"""Faults of code as a command line has them, and the other way round."""

from __future__ import annotations

import re
from collections.abc import Callable

from clew.errors import UsageError
from clew.files.json_document import Item
from clew.injection.faults import (
    CODE_KINDS,
    CodeFault,
    MessageCopy,
    MessageLoss,
    MessageName,
    NetworkPartition,
    NodeCrash,
    NodeRestart,
)
from clew.names import nearest_name, quote, show
from clew.node_lists import BareNumber, NodeListError, read_parts
from clew.simulation.scenario import Scenario
from clew.simulation.timing import to_seconds, to_ticks

#: What a list cannot take for anything else.
_PLAIN = re.compile(r"[\w.-]+")


def read_code_fault(kind: type[CodeFault], text: str, scenario: Scenario) -> CodeFault:
    """Read a fault as its flag has it; refuse nodes that the scenario does not have."""
    flag = kind.kind.flag
    remedy = f"write {flag} {kind.kind.metavar}, without spaces"
    group, _, rest = text.rpartition(":") if kind.kind.group else ("", "", text)
    try:
        names, parts = _words(group) if group else [], _words(rest)
        fault = _make(kind, names, parts)
    except NodeListError as error:
        message = f"{flag} {text} is not understood: {error.message}"
        raise UsageError(message, remedy=f"{remedy}; {error.remedy}") from None
    except (ValueError, OverflowError):
        raise UsageError(f"{flag} {text} is not understood", remedy=remedy) from None
    for node in _nodes_of(fault):
        if node not in scenario.nodes:
            nearest = nearest_name(node, scenario.nodes)
            known = f"did you mean '{nearest}'?" if nearest else f"the nodes are {', '.join(scenario.nodes)}"
            raise UsageError(f"{flag} {text} names the unknown node '{node}'", remedy=known)
    return fault


def _words(text: str) -> list[str]:
    parts = read_parts(text)
    if any(part is None for part in parts):
        raise ValueError(text)
    return [part.text if isinstance(part, BareNumber) else str(part) for part in parts]


def _make(kind: type[CodeFault], group: list[str], parts: list[str]) -> CodeFault:
    """Make a fault of its parts; raise ``ValueError`` if these are too many, too few, or no numbers."""
    # Too few or too many parts are a ValueError of the unpacking, which the caller tells with the flag.
    if kind is MessageLoss or kind is MessageCopy:
        source, target, sort, nth = parts
        return kind(MessageName(source, target, sort, _number(nth, 1)))
    if kind is NodeCrash:
        node, after = parts
        return NodeCrash(node, _number(after, 0))
    if kind is NodeRestart:
        node, after, seconds = parts
        return NodeRestart(node, _number(after, 0), _time(seconds))
    first, until = parts
    # A partition of nobody, or one that is over when it begins, would certify nothing.
    if not group or _time(first) >= _time(until):
        raise ValueError(parts)
    return NetworkPartition(tuple(dict.fromkeys(group)), _time(first), _time(until))


def _number(text: str, least: int) -> int:
    if not text.isdecimal() or int(text) < least:
        raise ValueError(text)
    return int(text)


def _time(text: str) -> int:
    seconds = float(text)
    if not 0 <= seconds < 1e9:  # also refuses "not a number"
        raise ValueError(text)
    return to_ticks(seconds)


def _nodes_of(fault: CodeFault) -> tuple[str, ...]:
    match fault:
        case MessageLoss(message) | MessageCopy(message):
            return message.source, message.target
        case NodeCrash(node, _) | NodeRestart(node, _, _):
            return (node,)
        case NetworkPartition(group, _, _):
            return group


def write_code_fault(fault: CodeFault) -> str:
    """Write the value of a flag that is read back as this fault."""
    match fault:
        case MessageLoss(message) | MessageCopy(message):
            return ",".join([*map(_word, message[:3]), str(message.nth)])
        case NodeCrash(node, after):
            return f"{_word(node)},{after}"
        case NodeRestart(node, after, down):
            return f"{_word(node)},{after},{_seconds(down)}"
        case NetworkPartition(group, first, until):
            return f"{','.join(map(_word, group))}:{_seconds(first)},{_seconds(until)}"


def write_flag(fault: CodeFault) -> str:
    """Write the flag and its value, as documents have a fault."""
    return f"{fault.kind.flag} {write_code_fault(fault)}"


def flag_reader(scenario: Scenario) -> Callable[[Item], CodeFault]:
    """Return what reads faults of a scenario from documents."""
    kinds = {kind.kind.flag: kind for kind in CODE_KINDS}

    def read(item: Item) -> CodeFault:
        flag, _, value = item.text("a fault as its flag has it").partition(" ")
        if flag not in kinds:
            item.refuse(f"one of {', '.join(kinds)}, and its value")
        try:
            return read_code_fault(kinds[flag], value, scenario)
        except UsageError as error:
            raise item.problem(error.message) from None

    return read


def _word(name: str) -> str:
    """Write a name so that it is read back as it is, also behind a colon."""
    return show(name) if _PLAIN.fullmatch(name) else quote(name)


def _seconds(ticks: int) -> str:
    # Ticks are microseconds: six places say all of them, and no exponent is read wrongly.
    return f"{to_seconds(ticks):.6f}".rstrip("0").rstrip(".")
