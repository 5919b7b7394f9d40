"""A class with collections and rules, and how its blocks are read into one program.

Blocks are executed, not parsed: so a rule may stand in a loop or come from a helper function, and everything of
Python can be used around rules.  Start here to follow a rule to data; the package's docstring lists the way.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from clew.bloom.ir.program import BloomProgram
from clew.bloom.ir.symbolic import OpaqueError, symbolic_address
from clew.bloom.language.capture import Capture, acting_node, capturing, current_capture, position_of_error
from clew.bloom.language.declarations import Block, OutcomeBlock
from clew.bloom.language.handles import AllNodes, Temps
from clew.bloom.language.invariants import Die
from clew.bloom.language.scope import Declaration, Imported, Scope, declare_all, how_to_declare, parts_of
from clew.errors import ClewError, ProgramError


class Module(Scope):
    """What all Bloom classes have; ``clew.bloom.Bloom`` adds the node that runs it."""

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        # A collection called "tick" would hide the method: all names of the base classes are taken.
        ours = {name for base in cls.__mro__ if base.__module__.startswith("clew.bloom.") for name in vars(base)}
        for name, value in vars(cls).items():
            if name in ours and isinstance(value, Declaration | Block | Imported):
                raise ProgramError(
                    f"{cls.__name__} uses the name '{name}', which every Bloom class has for something else",
                    position=value.position,
                    remedy="use another name",
                )

    def __init__(self) -> None:
        super().__init__()
        self._program: BloomProgram | None = None

    @property
    def temp(self) -> Temps:
        """Return the temps: ``self.temp.x <= ...`` declares x with the columns of the right-hand side."""
        return Temps(self)

    @property
    def die(self) -> Die:
        """Return the target of invariants: in the step in which ``self.die <= ...`` gives a row, the node ends."""
        return Die(self)

    @property
    def ip_port(self) -> Any:
        """Return the address of this node; while rules are read, a symbol that stands for it."""
        if current_capture() is not None:
            return symbolic_address()
        return acting_node() or self._program_root.address()

    @property
    def everywhere(self) -> AllNodes:
        """Return the collections of all nodes, in outcomes."""
        return AllNodes(self)

    def address(self) -> str:
        return ""

    @property
    def program(self) -> BloomProgram:
        """Return the rules of this object and of everything it is made of, read once."""
        root = self._program_root
        if root._program is None:
            root._program = _read_program(root)
        return root._program

    @property
    def _program_root(self) -> Module:
        assert isinstance(self._root, Module)
        return self._root


def program_of(module: type[Module] | Module) -> BloomProgram:
    """Return the program of a class (made without arguments) or of an object."""
    if isinstance(module, Module):
        return module.program
    try:
        # Rules may depend on attributes that __init__ sets, so the program is that of an object.
        made = module()
    except TypeError as error:
        raise ProgramError(
            f"{module.__name__} cannot be made without arguments: {error}",
            remedy="give the parameters of __init__ defaults",
        ) from None
    return made.program


def _read_program(root: Module) -> BloomProgram:
    # A failed attempt, or a handle that was used before, leaves collections behind.
    root._collections.clear()
    root._shapes.clear()
    root._temps.clear()
    declare_all(root)
    capture = Capture()
    outcomes = Capture(notices=capture.notices, sees_all_nodes=True)
    for reading, wanted in ((capture, False), (outcomes, True)):
        with capturing(reading):
            for part in parts_of(root):
                for block in _blocks(type(part)):
                    if isinstance(block, OutcomeBlock) is wanted:
                        _read_block(block, part)
    return BloomProgram(
        type(root).__name__,
        tuple(root._collections.values()),
        tuple(capture.rules),
        tuple(capture.notices),
        tuple(outcomes.rules),
    )


def _read_block(block: Block, part: Scope) -> None:
    """Execute a block; whatever it raises becomes an error at the user's line."""
    try:
        block.read(part)
    # It has a position and a remedy already.
    except ClewError:
        raise
    # OpaqueError is a BaseException, so that functions of rules cannot swallow it; here it means that a symbol,
    # such as self.ip_port, was used outside of such a function.
    except (Exception, OpaqueError) as error:
        where = f"{block.owner.__name__}.{block.name}"
        message, remedy = f"{type(error).__name__}: {error}", "rules are read once, before there are any rows"
        # Two common mistakes for which Python has no good words: +[...] of a list, an undeclared collection.
        if isinstance(error, TypeError) and "unary" in str(error):
            message, remedy = "a plain list follows the operator", "wrap it: a <+ rows([(1, 2)])"
        if isinstance(error, AttributeError) and isinstance(error.obj, Module) and error.name:
            message, remedy = f"unknown collection '{error.name}'", how_to_declare(type(error.obj), error.name)
        raise ProgramError(f"{where}: {message}", position=position_of_error(error), remedy=remedy) from error


def _blocks(cls: type) -> Iterator[Block]:
    """Yield the blocks of a class, from the most basic class on.

    A subclass replaces a block of its base; blocks of modules that know nothing of each other may have the same
    name, and both count.
    """
    for owner in reversed(cls.__mro__):
        for name, block in owner.__dict__.items():
            if isinstance(block, Block):
                replaced_in = next((c for c in cls.__mro__ if name in c.__dict__ and issubclass(c, owner)), owner)
                if not isinstance(replaced_in.__dict__[name], Block):
                    raise ProgramError(
                        f"{replaced_in.__name__}.{name} replaces the block {owner.__name__}.{name} and is none",
                        remedy="mark it with @bloom",
                    )
                if replaced_in is owner:
                    yield block
