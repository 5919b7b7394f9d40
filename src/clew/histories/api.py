"""The functions themselves: check a history from a file or a recorder, and say what is wrong in an invariant."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from clew.budgets.deadline import Deadline
from clew.errors import BudgetExhaustedError, Notice, UsageError
from clew.histories.inputs.reading import read_history
from clew.histories.linearizability.checking import Checked, check_part, divide
from clew.histories.linearizability.search import DEFAULT_BUDGET, Budget
from clew.histories.models import Model
from clew.histories.models.choosing import MODELS, choose_model, refuse_unknown_functions
from clew.histories.operations import History, Operation, Outcome
from clew.histories.result import HistoryAnswer, HistoryVerdict
from clew.histories.transactions.checking import ORDERS, CheckedTransactions, check_transactions
from clew.histories.words import window_sentence

#: What can be asked by its name.
MODEL_NAMES = (*MODELS, *ORDERS)

_NOTHING_DONE = "no operation was answered, so nothing is known"
_NOTHING_SEEN = "no answer says anything that could be wrong"
_NOTHING_READ = "no transaction read anything, so nothing is known of their order"


def check_history(
    given: str | Path | History,
    model: object = "register",
    *,
    keyed: bool = False,
    states: int = DEFAULT_BUDGET,
    time_limit: float | None = None,
) -> HistoryVerdict:
    """Check a history, or the file of one: is it linearizable, or are its transactions serializable?

    ``model``: the name of one (``MODEL_NAMES``), ``FILE.py:CLASS``, or a model.  ``keyed``: the values in the file
    are pairs of a key and a value.  ``states``: how many configurations may be looked at; ``time_limit``: in
    seconds.  When either is used up, the answer is "unknown".
    """
    if states < 1:
        raise UsageError(f"states is {states}", remedy="give a number above 0")
    chosen = None if isinstance(model, str) and model in ORDERS else choose_model(model, ORDERS)
    history = given if isinstance(given, History) else read_history(given, keyed=keyed)
    # Reading is over: time is for the search, and a file that is too large has been refused.
    deadline = Deadline(time_limit)
    with deadline.listening():
        if chosen is None:
            return _check_transactions(history, str(model))
        return _check_linearizability(history, chosen, Budget(states, deadline))


def linearizable(history: History, model: object = "register", *, states: int = DEFAULT_BUDGET) -> str | None:
    """Return what shows that a history is not linearizable; None if it is: for invariants and promises.

    Raises ``UsageError`` where that is not known within so many ``states``: an invariant has two answers only.
    """
    return _broken(check_history(history, model, states=states))


def serializable(history: History, model: str = "serializable") -> str | None:
    """Return what shows that transactions are not serializable, or None: for invariants and promises."""
    if model not in ORDERS:
        raise UsageError(f"unknown model '{model}'", remedy=f"there are {', '.join(ORDERS)}")
    return _broken(check_history(history, model))


def _broken(verdict: HistoryVerdict) -> str | None:
    if verdict.answer is HistoryAnswer.VIOLATED:
        return verdict.reason
    # A history in which nothing has been seen yet is no violation, and what an invariant is first asked about.
    if verdict.answer is HistoryAnswer.UNKNOWN and verdict.reason not in (
        _NOTHING_DONE,
        _NOTHING_SEEN,
        _NOTHING_READ,
    ):
        raise UsageError(
            f"whether the history is {verdict.promise} is not known: {verdict.reason}",
            remedy="give more states=, or check shorter histories",
        )
    return None


def _verdict(history: History, model: str, promise: str, found: dict[str, Any]) -> HistoryVerdict:
    return HistoryVerdict(
        file=history.file,
        model=model,
        promise=promise,
        operations=len(history.operations),
        processes=history.processes,
        failed=history.count(Outcome.FAIL),
        unknown=history.count(Outcome.UNKNOWN),
        **found,
    )


# -- linearizability ---------------------------------------------------------------------------------------------


def _check_linearizability(history: History, model: Model, budget: Budget) -> HistoryVerdict:
    refuse_unknown_functions(history.operations, model, history.file)
    parts = list(divide(history.operations, model))
    try:
        checked = [_check_part(part, budget) for part in parts]
    except BudgetExhaustedError as limit:  # Ctrl-C, or the time limit, outside of a search
        found = {"answer": HistoryAnswer.UNKNOWN, "reason": str(limit), "parts": len(parts)}
        return _verdict(history, model.name, "linearizable", found)
    found = {"parts": len(parts), **_conclude(checked, history.operations, model)}
    return _verdict(history, model.name, "linearizable", found)


def _check_part(part: Any, budget: Budget) -> Checked:
    budget.deadline.check()
    return check_part(part, budget)


def _conclude(checked: Sequence[Checked], operations: Sequence[Operation], model: Model) -> dict[str, Any]:
    windows = [part.window for part in checked if part.window is not None]
    if windows:
        # What went wrong first is told first, and is the reason of the verdict.
        windows.sort(key=lambda window: window.culprit.end or 0)
        reason = window_sentence(windows[0])
        return {"answer": HistoryAnswer.VIOLATED, "reason": reason, "windows": tuple(windows)}
    # A violation of one key decides; without one, all keys must be decided.
    undecided = [part for part in checked if part.is_linearizable is None]
    if undecided:
        reason = undecided[0].reason or ""
        if len(checked) > 1:
            reason += f"; {len(undecided)} of {len(checked)} keys are not decided"
        return {"answer": HistoryAnswer.UNKNOWN, "reason": reason}
    answered = [op for op in operations if op.outcome is Outcome.OK]
    if not answered:
        return {"answer": HistoryAnswer.UNKNOWN, "reason": _NOTHING_DONE}
    if all(op.function in model.silent for op in answered):
        return {"answer": HistoryAnswer.UNKNOWN, "reason": _NOTHING_SEEN}
    return {"answer": HistoryAnswer.HOLDS, "reason": None}


# -- transactions ------------------------------------------------------------------------------------------------


def _check_transactions(history: History, model: str) -> HistoryVerdict:
    checked = check_transactions(history.operations, model, history.file)
    orders = ("what was read", *(flag.name.lower() for flag in ORDERS[model] if flag.name))
    found: dict[str, Any] = {"anomalies": checked.anomalies, "orders": orders, "notices": _notices(checked)}
    if checked.anomalies:
        first = checked.anomalies[0]
        found |= {"answer": HistoryAnswer.VIOLATED, "reason": f"{first.name}: {first.text}"}
    elif not history.count(Outcome.OK):
        found |= {"answer": HistoryAnswer.UNKNOWN, "reason": _NOTHING_DONE}
    elif not checked.reads:
        found |= {"answer": HistoryAnswer.UNKNOWN, "reason": _NOTHING_READ}
    else:
        found |= {"answer": HistoryAnswer.HOLDS, "reason": None}
    return _verdict(history, model, model, found)


def _notices(checked: CheckedTransactions) -> tuple[Notice, ...]:
    if checked.is_compared:
        return ()
    return (Notice("there are too many cycles to compare them all: shorter ones may exist, and other kinds"),)
