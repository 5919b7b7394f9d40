"""A class with collections and rules, and how it becomes one program.

Mixing in is inheritance: the program of a class is the union of the collections and blocks of its bases.  A
module that is imported under a name keeps its own collections, as ``name.collection``.  An interface that a class
declares again is two collections (thesis, section 3.3): the module that did so reads its own input and writes
its own output, and means the one it overrides otherwise; everybody else's rules meet the outermost one from
outside, and the one they know from inside.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from clew.bloom.ir.expressions import AnyExpr, Columns, Expr, Parts
from clew.bloom.ir.function_code import HasCollections, names_behind
from clew.bloom.ir.program import BloomProgram, Op, Rule
from clew.bloom.ir.schema import Collection, Kind, Schema
from clew.bloom.ir.symbolic import OpaqueError, here
from clew.bloom.language.all_nodes import Everywhere
from clew.bloom.language.capture import (
    Capture,
    acting_node,
    capturing,
    current,
    mistake,
    position_of_error,
    user_position,
)
from clew.bloom.language.collection_handles import Temps
from clew.bloom.language.declarations import Block, Declaration, Imported, OutcomeBlock, how_to_declare
from clew.bloom.language.handles import as_relation
from clew.bloom.language.lattice_handles import LatticeHandle, LatticeRelation
from clew.bloom.language.rule_checks import as_lattice, as_rows, check_operator, check_width
from clew.errors import ClewError, Position, ProgramError

_INTERFACES = (Kind.INPUT, Kind.OUTPUT)


class Module(HasCollections):
    """What all Bloom classes have; ``clew.bloom.Bloom`` adds the node that runs it."""

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        ours = {name for base in cls.__mro__ if base.__module__.startswith("clew.bloom.") for name in vars(base)}
        for name, value in vars(cls).items():
            if name in ours and isinstance(value, Declaration | Block | Imported):
                raise ProgramError(
                    f"{cls.__name__} uses the name '{name}', which every Bloom class has for something else",
                    position=value.position,
                    remedy="use another name",
                )

    def __init__(self) -> None:
        self._prefix = ""
        self._root: Module = self
        self._program: BloomProgram | None = None
        self._collections: dict[str, Collection] = {}
        self._shapes: dict[str, tuple[Columns, Parts]] = {}
        self._temps: dict[tuple[type, str], str] = {}
        self._kept: dict[str, Any] = {}

    # -- for rules -----------------------------------------------------------------------------------------------

    @property
    def temp(self) -> Temps:
        """``self.temp.x <= ...`` declares a scratch collection x with the columns of the right-hand side."""
        return Temps(self)

    @property
    def ip_port(self) -> Any:
        """The address of this node."""
        return here() if current() is not None else acting_node() or self._root.address()

    @property
    def everywhere(self) -> Everywhere:
        """In outcomes: the collections of all nodes."""
        return Everywhere(self)

    def address(self) -> str:
        return ""

    @property
    def program(self) -> BloomProgram:
        """The rules of this object and of everything it is made of, read once."""
        root = self._root
        if root._program is None:
            root._program = _read(root)
        return root._program

    # -- what handles ask for ------------------------------------------------------------------------------------

    def part(self, name: str, module: type[Module]) -> Module:
        """The module that is imported under this name."""
        known = self.__dict__.setdefault("_parts", {})
        if name not in known:
            made = module()
            made._prefix, made._root = f"{self._prefix}{name}.", self._root
            known[name] = made
        found: Module = known[name]
        return found

    def resolved(self, name: str, *, writing: bool) -> str:
        """The full name of the collection that rules of the block being read mean by a name."""
        chain = _declaring(type(self), name)
        kind, capture = chain[0].__dict__[name].kind, current()
        if kind not in _INTERFACES or capture is None or not capture.blocks:
            return self._prefix + name
        reader = capture.module
        outside = writing == (kind is Kind.INPUT)  # the side of those who use the module
        if len(chain) == 1 and kind is Kind.OUTPUT:
            return self._prefix + name
        if reader in chain:
            return self._full_name(chain, chain.index(reader) + outside, name)
        if outside:
            return self._full_name(chain, 0, name)
        inner = next((k for k, owner in enumerate(chain) if issubclass(reader, owner)), 0)
        return self._full_name(chain, inner, name)

    def _full_name(self, chain: list[type], level: int, name: str) -> str:
        if level >= len(chain):
            own = chain[0].__dict__[name].kind.value.split()[0]
            raise mistake(
                f"'{name}' is this module's own {own}",
                "a module reads its own input and writes its own output; the other way round is for who uses it",
            )
        return self._prefix + (name if level == 0 else f"{chain[level].__name__}.{name}")

    def declared(self, full_name: str) -> Collection:
        return self._root._collections[full_name]

    def shape_of(self, full_name: str) -> tuple[Columns, Parts]:
        shapes = self._root._shapes
        if full_name in shapes:
            return shapes[full_name]
        if full_name not in self._root._collections:
            _declare_all(self._root)
        columns = self.declared(full_name).schema.columns
        return columns, (columns,)

    def temp_name(self, name: str, *, must_exist: bool) -> str:
        root, capture = self._root, current()
        if capture is None:
            return self._prefix + name
        key = (capture.module, self._prefix + name)
        if key not in root._temps:
            if must_exist:
                raise mistake(f"the temp '{name}' is read before a rule defines it", f"write {name} <= ... above")
            full = self._prefix + name
            if full in root._collections:
                full = f"{self._prefix}{capture.module.__name__}.{name}"
            root._temps[key] = full
        return root._temps[key]

    def collections_named(self, names: Iterable[str]) -> list[str]:
        """Which of these names are collections here, temps, or collections of modules imported here."""
        named = names_behind(type(self), names)
        found = [self.resolved(n, writing=False) for n in sorted(named) if _declaring(type(self), n)]
        if "temp" in named:
            temps = self._root._temps.items()
            found += [full for (_, name), full in temps if name.removeprefix(self._prefix) in named]
        for name, imported in _attributes(type(self), Imported):
            if name in named:
                found += self.part(name, imported.module).collections_named(named)
        return found

    def keeps_attribute(self, name: str) -> None:
        self._kept[name] = getattr(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        kept = self.__dict__.get("_kept", {})
        if name in kept and (type(value), value) != (type(kept[name]), kept[name]):
            raise ProgramError(
                f"{type(self).__name__}.{name} becomes {value!r} after rules were read with {kept[name]!r}",
                position=user_position(),
                remedy="set it before the node is used, or keep what changes in a table",
            )
        super().__setattr__(name, value)

    def record(self, handle: Any, op: Op, rhs: Any) -> None:
        capture = current()
        assert capture is not None
        expr: AnyExpr = rhs.node() if isinstance(rhs, LatticeRelation) else as_relation(rhs).node()
        target = handle.writing()
        position = user_position()
        if getattr(handle, "is_temp", False):
            self._define_temp(handle, target, op, expr, capture, position)
        collection = self._root._collections[target]
        check_operator(collection, op)
        if isinstance(handle, LatticeHandle):
            expr = as_lattice(expr, collection)
        else:
            expr = as_rows(expr, collection)
            check_width(expr, collection)
        capture.rules.append(Rule(target, op, expr, capture.block, position))

    def _define_temp(
        self, handle: Any, target: str, op: Op, expr: AnyExpr, capture: Capture, position: Position | None
    ) -> None:
        root = self._root
        if target in root._collections:
            return
        columns = getattr(expr, "columns", ())
        if op is not Op.NOW or not columns:
            raise mistake(
                f"the columns of the temp '{handle._name}' cannot be inferred",
                "begin with a rule <= whose right-hand side has columns: name them with rename(...)",
            )
        root._collections[target] = Collection(
            target, Kind.TEMP, Schema(columns), capture.module.__name__, position=position
        )
        root._shapes[target] = (columns, expr.parts)  # type: ignore[union-attr]  # it has columns

    # -- outside of rules ----------------------------------------------------------------------------------------

    def live(self, name: str) -> Any:
        """What the collection holds in the node that runs, of which this object may be a part."""
        return self._root._view(self._prefix + name)

    def from_outside(self, name: str, op: Op, expr: Expr) -> None:
        self._root._change(self._prefix + name, op, expr)

    def _view(self, full_name: str) -> Any:
        raise mistake(f"'{full_name}' is read outside of rules, and nothing runs them", "use a subclass of Bloom")

    def _change(self, full_name: str, op: Op, expr: Expr) -> None:
        self._view(full_name)


# -- reading -----------------------------------------------------------------------------------------------------


def program_of(module: type[Module] | Module) -> BloomProgram:
    """The program of a class (made without arguments) or of an object."""
    if isinstance(module, Module):
        return module.program
    try:
        made = module()
    except TypeError as error:
        raise ProgramError(
            f"{module.__name__} cannot be made without arguments: {error}",
            remedy="give the parameters of __init__ defaults",
        ) from None
    return made.program


def _read(root: Module) -> BloomProgram:
    root._collections.clear()
    root._shapes.clear()
    root._temps.clear()
    _declare_all(root)
    capture = Capture()
    outcomes = Capture(notices=capture.notices, outside=True)
    for reading, wanted in ((capture, False), (outcomes, True)):
        with capturing(reading):
            for part in _parts(root):
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


def _read_block(block: Block, part: Module) -> None:
    capture = current()
    assert capture is not None
    try:
        block.read(part)
    except ClewError:
        raise
    except (Exception, OpaqueError) as error:
        where = f"{block.owner.__name__}.{block.name}"
        message, remedy = f"{type(error).__name__}: {error}", "rules are read once, before there are any rows"
        if isinstance(error, TypeError) and "unary" in str(error):
            message, remedy = "a plain list follows the operator", "wrap it: a <+ rows([(1, 2)])"
        if isinstance(error, AttributeError) and isinstance(error.obj, Module) and error.name:
            message, remedy = f"there is no collection '{error.name}'", how_to_declare(type(error.obj), error.name)
        raise ProgramError(f"{where}: {message}", position=position_of_error(error), remedy=remedy) from error


def _parts(root: Module) -> Iterator[Module]:
    """The modules that are imported under names, inner ones first, then the object itself."""
    for name, imported in _attributes(type(root), Imported):
        yield from _parts(root.part(name, imported.module))
    yield root


def _blocks(cls: type) -> Iterator[Block]:
    """From the most basic class on.  A subclass replaces a block of its base; blocks of modules that know nothing
    of each other may have the same name.
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


def _attributes(cls: type, wanted: type) -> Iterator[tuple[str, Any]]:
    """From the most basic class on; each name once."""
    seen: set[str] = set()
    for owner in reversed(cls.__mro__):
        for name, value in owner.__dict__.items():
            if isinstance(value, wanted) and name not in seen:
                seen.add(name)
                last = getattr(cls, name)
                yield name, last if isinstance(last, wanted) else value


def _declaring(cls: type, name: str) -> list[type]:
    """The classes that declare a collection of this name, each overriding the next."""
    found: list[type] = []
    for owner in cls.__mro__:
        if isinstance(owner.__dict__.get(name), Declaration) and (not found or issubclass(found[-1], owner)):
            found.append(owner)
    return found


def _declare_all(root: Module) -> None:
    for part in _parts(root):
        for name, _ in _attributes(type(part), Declaration):
            for collection in _declared_under(part, name):
                root._collections.setdefault(collection.name, collection)


def _declared_under(part: Module, name: str) -> Iterator[Collection]:
    chain = _declaring(type(part), name)
    outermost: Declaration = chain[0].__dict__[name]
    levels = chain if outermost.kind in _INTERFACES else chain[:1]
    for owner in chain[1:]:
        inner: Declaration = owner.__dict__[name]
        if (inner.kind, inner.schema) != (outermost.kind, outermost.schema):
            raise ProgramError(
                f"{chain[0].__name__} declares '{name}' in another way than {owner.__name__}"
                f" ({_described(outermost)}; {_described(inner)})",
                position=outermost.position,
                remedy="use the same columns, or another name",
            )
    for level, owner in enumerate(levels):
        d: Declaration = owner.__dict__[name]
        yield Collection(
            part._full_name(chain, level, name),
            d.kind,
            d.schema,
            owner.__name__,
            d.period,
            d.durable,
            d.lattice,
            d.position,
        )


def _described(declaration: Declaration) -> str:
    schema = declaration.schema
    return f"{declaration.kind.value} [{', '.join(schema.keys)}] => [{', '.join(schema.values)}]"
