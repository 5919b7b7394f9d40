"""Which collection a name means in the block being read.

Mixing in is inheritance: the program of a class is the union of the collections and blocks of its bases.  A
module that is imported under a name keeps its own collections, as ``name.collection``.  An interface that a class
declares again is two collections (thesis, section 3.3): the module that did so reads its own input and writes
its own output, and means the one it overrides otherwise; everybody else's rules meet the outermost one from
outside, and the one they know from inside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn

from clew.bloom.ir.expressions import Columns, Expr, Parts
from clew.bloom.ir.function_code import HasCollections, names_behind
from clew.bloom.ir.program import Op
from clew.bloom.ir.schema import Collection, Kind, Schema
from clew.bloom.language.capture import current_capture, mistake, user_position
from clew.errors import ProgramError
from clew.names import nearest_name
from clew.program.assertions import stem_of

_INTERFACES = (Kind.INPUT, Kind.OUTPUT)
#: What every class has for its invariants.
DIE = "die"


class Declaration:
    """A collection in the body of a class; as an attribute of an object, a handle that ``handle`` makes."""

    def __init__(
        self,
        kind: Kind,
        schema: Schema,
        handle: Callable[[Scope, str], Any],
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
        self._handle = handle

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Scope | None, owner: type) -> Any:
        return self if instance is None else self._handle(instance, self.name)

    # Without it, self.log = [...] would replace the handle, and rules would go on without a word.
    def __set__(self, instance: Any, value: Any) -> NoReturn:
        raise ProgramError(
            f"the collection '{self.name}' is assigned to",
            position=user_position(),
            remedy="rules derive rows with <=, <+, <- or <~; from outside, use insert(...)",
        )

    def __str__(self) -> str:
        schema = self.schema
        return f"{self.kind.value} [{', '.join(schema.keys)}] => [{', '.join(schema.values)}]"


class Imported:
    """``kvs = imported(BasicKVS)``: another module under a name, with collections of its own."""

    def __init__(self, module: type[Scope]) -> None:
        self.module: type[Any] = module  # a ``Module``, which knows scopes and not the other way round
        self.position = user_position()
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Scope | None, owner: type) -> Any:
        return self if instance is None else instance.part(self.name, self.module)


class Scope(HasCollections):
    """The names of one module in a program.

    ``_root`` is the scope of the whole program, and holds the collections of all its parts under their full names;
    ``_prefix`` is what the names of this part begin with.
    """

    def __init__(self) -> None:
        self._prefix = ""
        self._root: Scope = self
        self._collections: dict[str, Collection] = {}
        self._shapes: dict[str, tuple[Columns, Parts]] = {}
        self._temps: dict[tuple[type, str], str] = {}
        self._kept: dict[str, Any] = {}

    def part(self, name: str, module: type[Scope]) -> Scope:
        """Return the module that is imported under this name."""
        # Made on demand, also before __init__ of this class has run.
        known = self.__dict__.setdefault("_parts", {})
        if name not in known:
            made = module()
            made._prefix, made._root = f"{self._prefix}{name}.", self._root
            known[name] = made
        found: Scope = known[name]
        return found

    # -- names ---------------------------------------------------------------------------------------------------

    def full_name_of(self, name: str, *, writing: bool) -> str:
        """Return the full name of the collection that rules of the block being read mean by a name."""
        chain = _classes_declaring(type(self), name)
        kind, capture = chain[0].__dict__[name].kind, current_capture()
        # Only interfaces have two sides.  Outside of rules, whoever holds the object means the outermost
        # collection.
        if kind not in _INTERFACES or capture is None or not capture.blocks:
            return self._prefix + name
        reader = capture.module
        outside = writing == (kind is Kind.INPUT)  # the side of those who use the module
        if len(chain) == 1 and kind is Kind.OUTPUT:
            return self._prefix + name
        # A class that declares the interface means its own on the inside, and on the outside the one that it
        # overrides, which is one level further in.
        if reader in chain:
            return self._name_at(chain, chain.index(reader) + outside, name)
        if outside:
            return self._name_at(chain, 0, name)
        # A class that only inherits the interface means the one of its nearest base class.
        inner = next((k for k, owner in enumerate(chain) if issubclass(reader, owner)), 0)
        return self._name_at(chain, inner, name)

    def _name_at(self, chain: list[type], level: int, name: str) -> str:
        """Return the full name of a collection; level 0 is the outermost class that declares it."""
        if level >= len(chain):
            own = chain[0].__dict__[name].kind.value.split()[0]
            raise mistake(
                f"'{name}' is this module's own {own}",
                "a module reads its own input and writes its own output; the other way round is for who uses it",
            )
        return self._prefix + (name if level == 0 else f"{chain[level].__name__}.{name}")

    def collection_of(self, full_name: str) -> Collection:
        return self._root._collections[full_name]

    def shape_of(self, full_name: str) -> tuple[Columns, Parts]:
        """Return the columns of a collection, and how a function sees a row of it."""
        shapes = self._root._shapes
        if full_name in shapes:
            return shapes[full_name]
        # Outside of reading, nothing may have been declared yet.
        if full_name not in self._root._collections:
            declare_all(self._root)
        columns = self.collection_of(full_name).schema.columns
        return columns, (columns,)

    # -- temps ---------------------------------------------------------------------------------------------------

    def temp_name(self, name: str, *, must_exist: bool) -> str:
        """Return the full name of a temp; each class has its own, so mix-ins can use the same names."""
        root, capture = self._root, current_capture()
        if capture is None:
            return self._prefix + name
        key = (capture.module, self._prefix + name)
        if key not in root._temps:
            if must_exist:
                raise mistake(f"the temp '{name}' is read before a rule defines it", f"write {name} <= ... above")
            full = self._prefix + name
            # A collection with the name is there already: the temp of another class, or one that is declared.
            if full in root._collections:
                full = f"{self._prefix}{capture.module.__name__}.{name}"
            root._temps[key] = full
        return root._temps[key]

    def define_die(self, columns: Columns, module: type) -> str:
        """Declare the collection of one invariant, and return its full name: ``die``, ``die_2`` and so on."""
        known = self._root._collections
        full = first = f"{self._prefix}{DIE}"
        number = 1
        while full in known:
            number += 1
            full = f"{first}_{number}"
        known[full] = Collection(full, Kind.DIE, Schema(columns), module.__name__, position=user_position())
        return full

    def is_defined(self, full_name: str) -> bool:
        return full_name in self._root._collections

    def define_temp(self, full_name: str, columns: Columns, parts: Parts, module: type) -> None:
        """Declare a collection with the columns that were found in a rule of a class."""
        self._root._collections[full_name] = Collection(
            full_name, Kind.TEMP, Schema(columns), module.__name__, position=user_position()
        )
        # Unlike a declared collection it keeps the parts of a join, so that a function of it takes two rows.
        self._root._shapes[full_name] = (columns, parts)

    # -- what functions of rules use -----------------------------------------------------------------------------

    def collections_named(self, names: Iterable[str]) -> list[str]:
        """Return which of these names are collections here, temps, or collections of modules imported here."""
        named = names_behind(type(self), names)
        found = [
            self.full_name_of(name, writing=False)
            for name in sorted(named)
            if _classes_declaring(type(self), name)
        ]
        if "temp" in named:
            temps = self._root._temps.items()
            # By the name alone: temps of several classes may have it, and the function may be of any of them.
            found += [full for (_, name), full in temps if name.removeprefix(self._prefix) in named]
        for name, imported in _attributes(type(self), Imported):
            if name in named:
                found += self.part(name, imported.module).collections_named(named)
        return found

    def keep_attribute(self, name: str) -> None:
        self._kept[name] = getattr(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        kept = self.__dict__.get("_kept", {})
        # By type, too: 1 == True == 1.0, and a rule that was read with one of them computes something else.
        if name in kept and (type(value), value) != (type(kept[name]), kept[name]):
            raise ProgramError(
                f"{type(self).__name__}.{name} becomes {value!r} after rules were read with {kept[name]!r}",
                position=user_position(),
                remedy="set it before the node is used, or keep what changes in a table",
            )
        super().__setattr__(name, value)

    # -- outside of rules ----------------------------------------------------------------------------------------

    def live(self, name: str) -> Any:
        """Return what the collection holds in the node that runs, of which this object may be a part."""
        return self._root._view(self._prefix + name)

    def change_from_outside(self, name: str, op: Op, expr: Expr) -> None:
        """Insert into a collection of the node that runs, delete from it, or send with it."""
        self._root._change(self._prefix + name, op, expr)

    def _view(self, full_name: str) -> Any:
        raise mistake(f"'{full_name}' is read outside of rules, and nothing runs them", "use a subclass of Bloom")

    def _change(self, full_name: str, op: Op, expr: Expr) -> None:
        self._view(full_name)


# -- what classes declare ----------------------------------------------------------------------------------------


def how_to_declare(owner: type, name: str, *others: str) -> str:
    """Return the remedy for the name of a collection that a class does not have; ``others`` it has besides."""
    if stem_of(name) is not None:
        # Outcomes need no node, so that it is easy to forget that these are collections like any other.
        return f"declare it in the class, with a name for each column: {name} = scratch('node', 'value')"
    declared = [known for known in dir(owner) if isinstance(getattr(owner, known, None), Declaration)]
    nearest = nearest_name(name, (*declared, *others))
    meant = f"did you mean '{nearest}'? Otherwise " if nearest else ""
    return f"{meant}declare it in the class, as in {name} = table('column')"


def parts_of(root: Scope) -> Iterator[Scope]:
    """Yield the modules that are imported under names, inner ones first, then the object itself."""
    for name, imported in _attributes(type(root), Imported):
        yield from parts_of(root.part(name, imported.module))
    yield root


def declare_all(root: Scope) -> None:
    """Fill in the collections of a program, in the order of its parts and of their declarations."""
    for part in parts_of(root):
        for name, _ in _attributes(type(part), Declaration):
            for collection in _collections_for(part, name):
                root._collections.setdefault(collection.name, collection)


def _collections_for(part: Scope, name: str) -> Iterator[Collection]:
    """Yield what a name of a module stands for: one collection, or an interface for each class that has it."""
    chain = _classes_declaring(type(part), name)
    outermost: Declaration = chain[0].__dict__[name]
    # A table that is declared again is the same table.
    levels = chain if outermost.kind in _INTERFACES else chain[:1]
    for owner in chain[1:]:
        inner: Declaration = owner.__dict__[name]
        if (inner.kind, inner.schema) != (outermost.kind, outermost.schema):
            raise ProgramError(
                f"{chain[0].__name__} declares '{name}' in another way than {owner.__name__}"
                f" ({outermost}; {inner})",
                position=outermost.position,
                remedy="use the same columns, or another name",
            )
    for level, owner in enumerate(levels):
        d: Declaration = owner.__dict__[name]
        yield Collection(
            part._name_at(chain, level, name),
            d.kind,
            d.schema,
            owner.__name__,
            d.period,
            d.durable,
            d.lattice,
            d.position,
        )


def _attributes(cls: type, wanted: type) -> Iterator[tuple[str, Any]]:
    """Yield the attributes of a kind, from the most basic class on; each name once."""
    seen: set[str] = set()
    for owner in reversed(cls.__mro__):
        for name, value in owner.__dict__.items():
            if isinstance(value, wanted) and name not in seen:
                seen.add(name)
                last = getattr(cls, name)
                yield name, last if isinstance(last, wanted) else value


def _classes_declaring(cls: type, name: str) -> list[type]:
    """Return the classes that declare a collection of this name, each overriding the next."""
    found: list[type] = []
    for owner in cls.__mro__:
        # Classes that know nothing of each other and have the name in common do not override each other.
        if isinstance(owner.__dict__.get(name), Declaration) and (not found or issubclass(found[-1], owner)):
            found.append(owner)
    return found
