"""Sequential models: what a history is compared with."""

from __future__ import annotations

from clew.histories.models.base import Model, SequentialModel
from clew.histories.models.objects import Counter, Lock, Queue, Set
from clew.histories.models.registers import Map, Register

__all__ = ["Counter", "Lock", "Map", "Model", "Queue", "Register", "SequentialModel", "Set"]
