"""Histories of clients: recorded or read from a file, and compared with what they should have been."""

from __future__ import annotations

from clew.histories.operations import History, Operation, Outcome

__all__ = ["History", "Operation", "Outcome"]
