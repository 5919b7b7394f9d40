"""How state flows through a run: which events an event rests on, and which one wrote an attribute last.

An event rests on the event that sent its message or set its timer, and on those that last wrote what its handler
read. The rule that it rests on *everything* before it at its node is right, too, and useless: in a cluster that
sends heartbeats, all is then the cause of all.

An attribute counts as written where its value has changed, or where a handler replaced it without having read it:
that a message said the same again is a reason why the value is what it is, that nothing was added to a list is
none.  What a handler neither reads nor replaces it does not change.  Storage is one attribute of its node, and
survives its lives.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from clew.injection.execution.reading import Attributes, begin_noting, end_noting
from clew.simulation.process import Durable

#: The storage of a node, among its attributes.
STORAGE = "ctx.durable"

#: What an attribute is that a node does not have.
_ABSENT = object()


class NotedStorage(Durable):
    """Storage that notes when it is used."""

    def __init__(self, name: str, read: Attributes) -> None:
        super().__init__()
        self._key = (name, STORAGE)
        self._read = read

    def __getitem__(self, key: Any) -> Any:
        self._read.add(self._key)
        return super().__getitem__(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._read.add(self._key)
        super().__setitem__(key, value)

    def __delitem__(self, key: Any) -> None:
        self._read.add(self._key)
        super().__delitem__(key)

    def __iter__(self) -> Iterator[Any]:
        self._read.add(self._key)
        return super().__iter__()

    def __len__(self) -> int:
        self._read.add(self._key)
        return super().__len__()


class Flow:
    """What the events of a run read and wrote.

    ``last``: by node and attribute, the number of the event that wrote it last, -1 for the beginning.
    ``rests_on``: of each event, the numbers of those that wrote what it read.
    """

    def __init__(self) -> None:
        self.last: dict[tuple[str, str], int] = {}
        self.rests_on: list[tuple[int, ...]] = []
        self.read: Attributes = set()
        self.replaced: Attributes = set()
        #: The events on which that of now rests for other reasons, as nodes say themselves.
        self.influences: set[int] = set()
        self._copies: dict[tuple[str, str], Any] = {}
        self._writes: dict[str, int] = {}
        self._blind: set[str] = set()  # nodes of which nothing can be seen

    def begin_life(self, node: Any, name: str) -> None:
        """Note what becomes of a node that is made now; whatever its earlier lives had is gone."""
        for key in [key for key in self._copies if key[0] == name]:
            del self._copies[key]
            self.last.pop(key, None)
        # What its maker gave it was not written by any event.
        self._copies |= {(name, attribute): _copy(value) for attribute, value in vars(node).items()}
        if not begin_noting(node, name, self.read, self.replaced):
            self._blind.add(name)

    def begin_event(self) -> None:
        """Forget what was read since the latest event: by an invariant or a condition, and so by no node."""
        self.read.clear()
        self.replaced.clear()

    def note_event(self, number: int, nodes: dict[str, Any], storages: Any) -> None:
        """Note what the event with this number read and wrote; -1: what happened before the first."""
        for name in self._blind & set(nodes):
            self.read.update((name, each) for each in vars(nodes[name]))
        if number >= 0:
            earlier = {self.last[key] for key in self.read if key in self.last} | self.influences
            self.rests_on.append(tuple(sorted(earlier - {-1, number})))
        for key in self.read | self.replaced:
            name, attribute = key
            if attribute == STORAGE:
                self._note_storage(name, number, storages(name))
            elif name in nodes:
                value = _value_of(nodes[name], attribute)
                if key in self.replaced or key not in self._copies or not _are_same(value, self._copies[key]):
                    self.last[key] = number
                    self._copies[key] = _copy(value)
        self.read.clear()
        self.replaced.clear()
        self.influences.clear()

    def _note_storage(self, name: str, number: int, storage: Durable | None) -> None:
        if storage is not None and storage.writes != self._writes.get(name, 0):
            self._writes[name] = storage.writes
            self.last[name, STORAGE] = number

    def end_life(self, node: Any) -> None:
        """Let a node be of its own class again: nothing more happens to it."""
        end_noting(node)


def _value_of(node: Any, attribute: str) -> Any:
    try:
        return object.__getattribute__(node, attribute)
    except AttributeError:
        return _ABSENT


def _are_same(value: Any, other: Any) -> bool:
    if value is other:
        return True
    try:
        # What has no equality of its own is never the same as its copy: whoever touches it has written it.
        if type(value) is type(other) and value == other:
            # The order of its keys is a part of what a dictionary is to whoever goes through it.
            return not isinstance(value, dict) or list(value) == list(other)
    except Exception:
        return False
    return False


def _copy(value: Any) -> Any:
    try:
        return value if value is _ABSENT else copy.deepcopy(value)
    except Exception:
        return object()  # which is the same as nothing
