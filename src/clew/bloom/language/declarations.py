"""Declaring collections, blocks and imports in the body of a class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from typing import TYPE_CHECKING, Any, NoReturn

from clew.bloom.ir.schema import Kind, Schema, schema_of
from clew.bloom.language.capture import current, mistake, user_position
from clew.bloom.language.collection_handles import CollectionHandle
from clew.bloom.language.lattice_handles import LatticeHandle
from clew.bloom.lattices.containers import LATTICES
from clew.errors import Position, ProgramError
from clew.names import nearest_name
from clew.program.outcomes import POST, PRE

if TYPE_CHECKING:
    from clew.bloom.language.module import Module


class Declaration:
    """A collection in the body of a class."""

    def __init__(
        self,
        kind: Kind,
        schema: Schema,
        *,
        period: float | None = None,
        durable: bool = False,
        lattice: str | None = None,
    ) -> None:
        self.kind = kind
        self.schema = schema
        self.period = period
        self.durable = durable
        self.lattice = lattice
        self.position = user_position()
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Module | None, owner: type) -> Any:
        if instance is None:
            return self
        handle = LatticeHandle if self.kind is Kind.LATTICE else CollectionHandle
        return handle(instance, self.name)

    def __set__(self, instance: Any, value: Any) -> NoReturn:
        raise ProgramError(
            f"the collection '{self.name}' is assigned to",
            position=user_position(),
            remedy="rules derive rows with <=, <+, <- or <~; from outside, use insert(...)",
        )


def how_to_declare(owner: type, name: str, *others: str) -> str:
    """Return the remedy for the name of a collection that a class does not have; ``others`` it has besides."""
    if name in (PRE, POST):
        # Outcomes need no node, so that it is easy to forget that these are collections like any other.
        return f"declare it in the class, with a name for each column: {name} = scratch('node', 'value')"
    declared = [known for known in dir(owner) if isinstance(getattr(owner, known, None), Declaration)]
    nearest = nearest_name(name, (*declared, *others))
    meant = f"did you mean '{nearest}'? Otherwise " if nearest else ""
    return f"{meant}declare it in the class, as in {name} = table('column')"


def table(*keys: str, val: Sequence[str] | None = None, durable: bool = False) -> Any:
    """Rows that stay.  ``durable``: they are kept in a file, and are there again after a restart."""
    return Declaration(Kind.TABLE, _local(keys, val), durable=durable)


def scratch(*keys: str, val: Sequence[str] | None = None) -> Any:
    """Rows of one step."""
    return Declaration(Kind.SCRATCH, _local(keys, val))


def channel(*keys: str, val: Sequence[str] | None = None) -> Any:
    """Rows that go to the node whose address is in the column marked with ``@``."""
    return Declaration(Kind.CHANNEL, schema_of(keys, val, located=True, position=user_position()))


def loopback(*keys: str, val: Sequence[str] | None = None) -> Any:
    """A channel to the node itself."""
    return Declaration(Kind.LOOPBACK, _local(keys, val))


def periodic(seconds: float) -> Any:
    """A row (key, val) now and then: a number that is new every time, and the time of day."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds > 0:
        raise ProgramError(
            f"a periodic collection needs seconds, not {seconds!r}",
            position=user_position(),
            remedy="write periodic(0.5)",
        )
    return Declaration(Kind.PERIODIC, Schema(("key",), ("val",)), period=float(seconds))


def stdio() -> Any:
    """Lines of text: what is sent to it with ``<~`` is printed."""
    return Declaration(Kind.STDIO, Schema(("line",)))


class interface:  # noqa: N801  # read as in the thesis: interface.input(...)
    """Where modules meet."""

    @staticmethod
    def input(*keys: str, val: Sequence[str] | None = None) -> Any:
        """Rows that others give to this module."""
        return Declaration(Kind.INPUT, _local(keys, val))

    @staticmethod
    def output(*keys: str, val: Sequence[str] | None = None) -> Any:
        """Rows that this module gives to others."""
        return Declaration(Kind.OUTPUT, _local(keys, val))


def lattice(name: str) -> Any:
    """A lattice by the name of its type; ``lmax()`` and its like are shorter."""
    if name not in LATTICES:
        raise ProgramError(
            f"there is no lattice '{name}'", position=user_position(), remedy=f"there are {', '.join(LATTICES)}"
        )
    return Declaration(Kind.LATTICE, Schema((), ("val",)), lattice=name)


def _local(keys: tuple[str, ...], val: Sequence[str] | None) -> Schema:
    """Interfaces may say with ``@`` which column is an address; it means nothing there."""
    return schema_of(keys, val, located=False, position=user_position())


class Imported:
    """``kvs = imported(BasicKVS)``: another module under a name, with collections of its own."""

    def __init__(self, module: type[Module]) -> None:
        self.module = module
        self.position = user_position()
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Module | None, owner: type) -> Any:
        return self if instance is None else instance.part(self.name, self.module)


def imported(module: type[Module]) -> Any:
    from clew.bloom.language.module import Module  # which is made of declarations

    if not isinstance(module, type) or not issubclass(module, Module):
        raise mistake(
            f"imported(...) is given {_called(module)}, which is no module",
            "give a class with rules, as in kvs = imported(BasicKVS)",
        )
    return Imported(module)


def _called(value: object) -> str:
    if isinstance(value, Declaration):
        return "a collection"
    return f"the class {value.__name__}" if isinstance(value, type) else f"a {type(value).__name__}"


class Block:
    """A method with rules; reading it records them."""

    def __init__(self, function: Callable[[Any], None]) -> None:
        self.function = function
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

    def __get__(self, instance: Module | None, owner: type) -> Any:
        if instance is None:
            return self
        return lambda: self.read(instance)

    def read(self, instance: Module) -> None:
        capture = current()
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
    """Marks a method that contains rules."""
    return Block(function)


class OutcomeBlock(Block):
    """A block that is only for checking."""


def outcome(function: Callable[[Any], None]) -> Any:
    """Marks a method that says what must hold.  Its rules never run on the network.

    They look at all nodes from outside: ``self.everywhere.log`` is the collection ``log`` of all nodes, with the
    node as its first column, and ``self.everywhere.crash`` has the rows (node, time) of those that crash.
    Collections that such rules derive, such as ``pre`` and ``post``, belong to no node.
    """
    return OutcomeBlock(function)
