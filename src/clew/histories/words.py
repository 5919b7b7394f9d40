"""Operations and windows in words: the same in a sentence of an invariant, on a terminal and on a page."""

from __future__ import annotations

from clew.histories.linearizability.windows import PossibleState, Window
from clew.histories.operations import Operation, Outcome
from clew.histories.values import Value, show_value

#: Functions whose answer is what they are about; of others it is shown where there is one.
_ANSWERING = frozenset({"read", "get", "dequeue", "contains"})
#: So many states are told.
_MOST_STATES = 6


def operation_words(op: Operation) -> str:
    """Return what an operation does, with its answer."""
    text = op.function if op.argument is None else f"{op.function} {show_value(op.argument)}"
    if op.outcome is Outcome.UNKNOWN:
        return f"{text} → ?"
    if op.function in _ANSWERING or op.result not in (None, op.argument):
        return f"{text} → {show_value(op.result)}"
    return text


def client_words(op: Operation) -> str:
    """Return who did it."""
    return f"client {show_value(op.process)}"


def place_words(op: Operation) -> str:
    """Return where an operation stands in its file, in brackets; nothing if it is from no file."""
    return f" (line {op.line})" if op.line else ""


def key_words(key: tuple[Value, ...]) -> str:
    """Return of which object something is told."""
    return f"key {', '.join(map(show_value, key))}: " if key else ""


def state_words(state: PossibleState) -> str:
    """Return a state, with an operation that may have led to it."""
    if state.after is None:
        return f"{state.text}, as in the beginning"
    op = state.after
    return f"{state.text}, as after {operation_words(op)} of {client_words(op)}{place_words(op)}"


def window_sentence(window: Window) -> str:
    """Return what is wrong in one sentence."""
    told = f"{key_words(window.key)}{operation_words(window.culprit)} of {client_words(window.culprit)}"
    # Nothing to say of states: these operations are wrong with any.
    if window.states is None:
        others = [
            f"{operation_words(op)} of {client_words(op)}" for op in window.operations if op != window.culprit
        ]
        return f"{told} contradicts {', '.join(others)}" if others else f"{told} cannot be explained"
    shown = [state.text for state in window.states[:_MOST_STATES]]
    more = len(window.states) - len(shown)
    states = " or ".join([*shown, *([f"{more} other states"] if more else [])])
    return f"{told} cannot be explained; when it began, {state_claim(window)} {states}"


def state_claim(window: Window) -> str:
    """Return what leads to the states of a window: how much is known of them."""
    if window.is_settled:
        return f"the {window.model} could only be"
    return f"the {window.model} was, but for what was still under way,"
