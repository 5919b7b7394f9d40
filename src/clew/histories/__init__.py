"""Histories of clients: recorded or read from a file, and compared with what they should have been.

    from clew.histories import Recorder, Register, history_of, linearizable

Read ``operations`` for what a history is, ``linearizability.search`` for the search for an order, ``windows``
beside it for what is shown when there is none, and ``transactions.graph`` for serializability.
"""

from __future__ import annotations

from clew.histories.api import MODEL_NAMES, check_history, linearizable, serializable
from clew.histories.inputs.reading import read_history
from clew.histories.models import Counter, Lock, Map, Model, Queue, Register, SequentialModel, Set
from clew.histories.operations import History, Operation, Outcome
from clew.histories.recorder import Recorder, history_of
from clew.histories.result import HistoryAnswer, HistoryVerdict

__all__ = [
    "MODEL_NAMES",
    "Counter",
    "History",
    "HistoryAnswer",
    "HistoryVerdict",
    "Lock",
    "Map",
    "Model",
    "Operation",
    "Outcome",
    "Queue",
    "Recorder",
    "Register",
    "SequentialModel",
    "Set",
    "check_history",
    "history_of",
    "linearizable",
    "read_history",
    "serializable",
]
