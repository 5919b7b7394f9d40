"""Declaring collections, lattices, blocks and imports in the body of a class: the public names of a class body."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from typing import Any

from clew.bloom.ir.schema import Kind, Schema, parse_schema
from clew.bloom.language.capture import current_capture, mistake, user_position
from clew.bloom.language.handles import CollectionHandle, LatticeHandle
from clew.bloom.language.lattice_relations import LatticeRelation, write_value
from clew.bloom.language.scope import Declaration, Imported, Scope
from clew.bloom.lattices.containers import LATTICES
from clew.errors import Position, ProgramError

# -- collections -------------------------------------------------------------------------------------------------


def table(*keys: str, val: Sequence[str] | None = None, durable: bool = False) -> Any:
    """Declare rows that stay.  ``durable``: they are kept in a file, and are there again after a restart."""
    return _collection(Kind.TABLE, _local_schema(keys, val), durable=durable)


def scratch(*keys: str, val: Sequence[str] | None = None) -> Any:
    """Declare rows of one step."""
    return _collection(Kind.SCRATCH, _local_schema(keys, val))


def channel(*keys: str, val: Sequence[str] | None = None) -> Any:
    """Declare rows that go to the node whose address is in the column marked with ``@``."""
    return _collection(Kind.CHANNEL, parse_schema(keys, val, located=True, position=user_position()))


def loopback(*keys: str, val: Sequence[str] | None = None) -> Any:
    """Declare a channel to the node itself."""
    return _collection(Kind.LOOPBACK, _local_schema(keys, val))


def periodic(seconds: float) -> Any:
    """Declare a row (key, val) now and then: a number that is new every time, and the time of day."""
    # Not "<= 0": that is false of nan, too.
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds > 0:
        raise ProgramError(
            f"a periodic collection needs seconds, not {seconds!r}",
            position=user_position(),
            remedy="write periodic(0.5)",
        )
    return _collection(Kind.PERIODIC, Schema(("key",), ("val",)), period=float(seconds))


def stdio() -> Any:
    """Declare lines of text: what is sent to it with ``<~`` is printed."""
    return _collection(Kind.STDIO, Schema(("line",)))


class interface:  # noqa: N801  # read as in the thesis: interface.input(...)
    """Where modules meet."""

    @staticmethod
    def input(*keys: str, val: Sequence[str] | None = None) -> Any:
        """Declare rows that others give to this module."""
        return _collection(Kind.INPUT, _local_schema(keys, val))

    @staticmethod
    def output(*keys: str, val: Sequence[str] | None = None) -> Any:
        """Declare rows that this module gives to others."""
        return _collection(Kind.OUTPUT, _local_schema(keys, val))


def _collection(kind: Kind, schema: Schema, *, period: float | None = None, durable: bool = False) -> Declaration:
    return Declaration(kind, schema, CollectionHandle, period=period, durable=durable)


def _local_schema(keys: tuple[str, ...], val: Sequence[str] | None) -> Schema:
    """Parse columns without a location; interfaces may mark an address with ``@``, which means nothing there."""
    return parse_schema(keys, val, located=False, position=user_position())


# -- lattices ----------------------------------------------------------------------------------------------------


def lattice(name: str) -> Any:
    """Declare a lattice by the name of its type; ``lmax()`` and its like are shorter."""
    if name not in LATTICES:
        raise ProgramError(
            f"unknown lattice '{name}'", position=user_position(), remedy=f"there are {', '.join(LATTICES)}"
        )
    return Declaration(Kind.LATTICE, Schema((), ("val",)), LatticeHandle, lattice=name)


class LatticeType:
    """``votes = lset()`` in the body of a class; ``self.votes <= lset.of(["a", "b"])`` in a rule."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self) -> Any:
        return lattice(self._name)

    def of(self, value: Any) -> LatticeRelation:
        """Write a value of this lattice down."""
        return write_value(self._name, value)

    def __repr__(self) -> str:
        return self._name


lmax, lmin, lbool = LatticeType("lmax"), LatticeType("lmin"), LatticeType("lbool")
lset, lpset, lbag = LatticeType("lset"), LatticeType("lpset"), LatticeType("lbag")


def lmap(values: Any) -> Any:
    """Declare a map whose values are of another lattice: ``lmap(lmax)``; ``lmap(lmap(lmax))`` is the deepest."""
    # lmap(lmax) is given a type, and lmap(lmap(lmax)) what the inner lmap(...) declares.
    inner = values.lattice if isinstance(values, Declaration) else repr(values)
    if f"lmap[{inner}]" not in LATTICES:
        raise mistake(
            f"{values!r} is not a lattice for the values of a lmap", "write lmap(lmax), and two lmaps at most"
        )
    return lattice(f"lmap[{inner}]")


# -- modules and blocks ------------------------------------------------------------------------------------------


def imported(module: type[Scope]) -> Any:
    """Import another module under a name, with collections of its own: ``kvs = imported(BasicKVS)``."""
    if not isinstance(module, type) or not issubclass(module, Scope):
        raise mistake(
            f"imported(...) is given {_describe(module)}, which is not a module",
            "give a class with rules, as in kvs = imported(BasicKVS)",
        )
    return Imported(module)


def _describe(value: object) -> str:
    if isinstance(value, Declaration):
        return "a collection"
    return f"the class {value.__name__}" if isinstance(value, type) else f"a {type(value).__name__}"


class Block:
    """A method with rules; executing it while a program is read records them."""

    def __init__(self, function: Callable[[Any], None]) -> None:
        self.function = function
        # Calling such a function executes nothing: its rules would be missing without a word.
        if function.__code__.co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR):
            raise ProgramError(
                f"{function.__qualname__} is a block with yield or async, and its rules would not be read",
                position=user_position(),
                remedy="write a plain method: rules are read once, from top to bottom",
            )
        self.position = Position(function.__code__.co_filename, function.__code__.co_firstlineno, 1)
        self.owner: type = object
        self.name = function.__name__

    def __set_name__(self, owner: type, name: str) -> None:
        self.owner, self.name = owner, name

    def __get__(self, instance: Scope | None, owner: type) -> Any:
        if instance is None:
            return self
        # So that a block of a subclass can call the one that it replaces: super().rules() records its rules.
        return lambda: self.read(instance)

    def read(self, instance: Scope) -> None:
        """Execute the method, for the rules in it."""
        capture = current_capture()
        if capture is None:
            raise ProgramError(
                f"{self.owner.__name__}.{self.name} is a block of rules and is not called",
                position=user_position(),
                remedy="call tick() or run() of the node; rules apply in every step",
            )
        capture.blocks.append((self.owner, self.name))
        try:
            self.function(instance)
        finally:
            capture.blocks.pop()


def bloom(function: Callable[[Any], None]) -> Any:
    """Mark a method that contains rules."""
    return Block(function)


class OutcomeBlock(Block):
    """A block that is only for checking."""


def outcome(function: Callable[[Any], None]) -> Any:
    """Mark a method that says what must hold.  Its rules never run on the network.

    They look at all nodes from outside: ``self.everywhere.log`` is the collection ``log`` of all nodes, with the
    node as its first column, and ``self.everywhere.crash`` has the rows (node, time) of those that crash.
    Collections that such rules derive, such as ``pre`` and ``post``, belong to no node.
    """
    return OutcomeBlock(function)
