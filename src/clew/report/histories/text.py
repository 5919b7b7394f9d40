"""A verdict about a history as a terminal shows it."""

from __future__ import annotations

from collections.abc import Iterator

from clew.histories.linearizability.windows import Window
from clew.histories.operations import Operation
from clew.histories.result import HistoryAnswer, HistoryVerdict
from clew.histories.transactions.checking import ORDERS, Anomaly
from clew.histories.transactions.parsing import Transaction
from clew.histories.values import show_value
from clew.histories.words import (
    client_words,
    key_words,
    operation_words,
    place_words,
    state_claim,
    state_words,
)
from clew.report.histories.timeline import timeline
from clew.report.text.plain import pluralize, shorten

#: So many windows are drawn; of others the key is told.
_MOST_WINDOWS = 3
#: So many possible states are told, and operations that led to them drawn.
_MOST_STATES = 6
#: A transaction takes no more room than a line.
_WIDEST = 100


def verdict_text(verdict: HistoryVerdict) -> str:
    """Return everything that is told."""
    lines = [headline(verdict)]
    lines += [f"  {line}".rstrip() for line in _details(verdict)]
    return "\n".join(lines) + "\n"


def headline(verdict: HistoryVerdict) -> str:
    """Return the answer in one line."""
    word = verdict.promise.upper()
    answer = {
        HistoryAnswer.HOLDS: word,
        HistoryAnswer.VIOLATED: f"NOT {word}",
        HistoryAnswer.UNKNOWN: "UNKNOWN",
    }[verdict.answer]
    return f"{answer}: {summary(verdict)}."


def summary(verdict: HistoryVerdict) -> str:
    """Return what was looked at."""
    noun = "transaction" if verdict.promise in ORDERS else "operation"
    told = f"{pluralize(verdict.operations, noun)} of {pluralize(verdict.processes, 'client')}"
    if verdict.promise not in ORDERS:
        told += f", as a {verdict.model}"
        if verdict.parts > 1:
            told += f" with {verdict.parts} keys"
    if verdict.failed:
        told += f"; {verdict.failed} failed"
    if verdict.unknown:
        told += f"; {verdict.unknown} may have happened or not"
    return told


def _details(verdict: HistoryVerdict) -> Iterator[str]:
    # Nothing was found, so there is nothing to draw.
    if verdict.answer is HistoryAnswer.UNKNOWN:
        yield verdict.reason or ""
        return
    for window in verdict.windows[:_MOST_WINDOWS]:
        yield from _window_lines(window)
    if len(verdict.windows) > _MOST_WINDOWS:
        keys = [key_words(window.key).removesuffix(": ") for window in verdict.windows[_MOST_WINDOWS:]]
        yield f"nor is the history of {', '.join(keys)}"
    for anomaly in verdict.anomalies:
        yield from _anomaly_lines(anomaly)
    if verdict.orders:
        yield f"taken for the order of transactions: {', '.join(verdict.orders)}"


# -- windows -----------------------------------------------------------------------------------------------------


def _window_lines(window: Window) -> Iterator[str]:
    culprit = window.culprit
    told = f"{operation_words(culprit)} of {client_words(culprit)}{place_words(culprit)}"
    if window.states is None:
        yield f"{key_words(window.key)}these contradict each other, whatever all others did:"
        yield ""
        yield from timeline(window.operations)
        yield ""
        return
    yield f"{key_words(window.key)}no order explains {told}, though there is one for all that was answered before"
    yield f"when it began, {state_claim(window)}:".replace(",:", ":")
    yield from (f"  {state_words(state)}" for state in window.states[:_MOST_STATES])
    if len(window.states) > _MOST_STATES:
        yield f"  or one of {len(window.states) - _MOST_STATES} other states"
    yield ""
    yield from timeline([*window.operations, *led_to_states(window)], culprit.start)
    yield ""
    yield _needed(window)


def led_to_states(window: Window) -> list[Operation]:
    """Return operations that may have led to the states in which a window begins."""
    return [state.after for state in (window.states or ())[:_MOST_STATES] if state.after is not None]


def _needed(window: Window) -> str:
    others = len(window.operations) - 1
    if not window.is_irreducible:
        return "┊ the window begins; not every operation in it may be needed: the states to look at ran out"
    if not others:
        return "┊ the window begins; no other operation that overlaps it makes a difference"
    told = pluralize(others, "other operation")
    verb = "is" if others == 1 else "are"
    return (
        f"┊ the window begins; {told} in it {verb} needed: with any one at another time, there would be an order"
    )


# -- transactions ------------------------------------------------------------------------------------------------


def _anomaly_lines(anomaly: Anomaly) -> Iterator[str]:
    more = f" ({pluralize(anomaly.others, 'more such case')})" if anomaly.others else ""
    yield f"{anomaly.name}: {anomaly.text}{more}"
    # A cycle may pass a transaction once only, but flaws name one twice.
    named = {transaction.number: transaction for transaction in anomaly.transactions}
    for transaction in named.values():
        yield f"  {transaction.name}  {transaction_words(transaction)}"
    for why in anomaly.cycle:
        yield f"  {why.source} before {why.target} ({why.kind}): {why.text}"
    yield ""


def transaction_words(transaction: Transaction) -> str:
    """Return who did what in a transaction, and where it is in the file."""
    steps = []
    for step in transaction.steps:
        if step.is_append:
            steps.append(f"append {show_value(step.value)} to {show_value(step.key)}")
        else:
            read = "?" if step.values is None else show_value(step.values)
            steps.append(f"read {show_value(step.key)} {read}")
    op = transaction.operation
    ended = "" if op.outcome.value == "ok" else f", {op.outcome.value}"
    return f"{client_words(op)}: {shorten(', '.join(steps), _WIDEST)}{ended}{place_words(op)}"
