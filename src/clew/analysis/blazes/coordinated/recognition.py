"""Whether a class that says it is coordinated (``coordinated``) really is: by the structure of its rules.

The rules of the original must all be there, on the inside of inputs that the wrapper has declared again.  What the
wrapper adds may only carry rows from the outer input to the modules of ``clew.coordination``, from these to the
inner one, and punctuations in between.  So there is no way round them: nothing else reads an outer input, writes
an inner one or anything of the original, tells requests that a partition is there, or speaks for a producer.

What is waited for *in* the modules is not proved here again; but where the original works in several steps,
whatever lets rows in must have something to wait for.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from clew.analysis.blazes.coordinated.record import Coordination, coordination_of
from clew.analysis.blazes.coordinated.rule_shapes import (
    is_content,
    is_content_of,
    is_projection,
    row_shape,
    signature,
)
from clew.analysis.blazes.imported_modules import find_imports, select_rules
from clew.bloom.ir.expressions import Ref, collections_in
from clew.bloom.ir.program import BloomProgram, Op, Rule
from clew.bloom.ir.schema import Kind
from clew.bloom.ir.symbolic import Column, Constant, Nested
from clew.bloom.language.module import Module, program_of
from clew.errors import Position

#: The classes of ``clew.coordination`` by what they do; what is imported is compared with the class itself.
_SEALS = ("IndependentSeals", "VotedSeals")
_TURNS = ("OneByOne",)
_READS = ("ReadsOfAll", "ReadsOfPartition")
_SEALER = ("Sealer",)
_SETTLING = ("Settling",)
_ORDER = ("OrderedDelivery", "SequencedDelivery")
_LIBRARY = (*_SEALS, *_TURNS, *_READS, *_SEALER, *_SETTLING, "Admission", *_ORDER)


class NotCoordinatedError(Exception):
    """The class does not do what it says: why, and where."""

    def __init__(self, message: str, position: Position | None = None) -> None:
        super().__init__(message)
        self.position = position


@dataclass(frozen=True)
class Held:
    """What a coordinated component does to its inputs; ``reads`` with the columns that name their partition."""

    seals: Mapping[str, tuple[str, ...]]
    reads: Mapping[str, tuple[str, ...]]
    ordered: tuple[str, ...]


@dataclass(frozen=True)
class Recognized:
    """The class that was wrapped, and what is held back in its components ("" for the class itself)."""

    original: type[Module]
    original_program: BloomProgram
    components: Mapping[str, Held]


class _Programs(dict[type[Module], BloomProgram]):
    """The programs of classes, each read once, since reading one executes all blocks of the class."""

    def __missing__(self, cls: type[Module]) -> BloomProgram:
        self[cls] = program_of(cls)
        return self[cls]


def recognize(module: type[Module], program: BloomProgram, record: Coordination) -> Recognized:
    """Return what is coordinated in a class with this program, as its ``record`` says.

    :raises NotCoordinatedError: if its rules do something else.
    """
    programs = _Programs({module: program})
    # The record is only a claim, which anybody can write into a class: all of it is checked against the rules.
    wrapper = _Wrapper(module, record, programs)
    if record.ordered and not wrapper.instances(_ORDER):
        raise NotCoordinatedError(f"nothing in {module.__name__} decides an order")
    wrapper.check_rules()
    components = {"": wrapper.describe_held()} if record.seals or record.ordered else {}
    for name, (inner, inner_record) in wrapper.wrapped.items():
        component = _Wrapper(inner, inner_record, programs)
        # One level: what ``--synthesize`` writes never wraps a component within a component.
        if component.wrapped or not (inner_record.seals or inner_record.ordered):
            raise NotCoordinatedError(f"{name} is no coordinated component")
        component.check_rules()
        components[name] = component.describe_held()
        if inner_record.ordered:
            wrapper.check_order_of(name)
    return Recognized(record.original, programs[record.original], components)


def _is_library(cls: type[Module], names: Sequence[str] = _LIBRARY) -> bool:
    """Return whether it is the very class of the coordination package, not one that is called so."""
    # Looked up, not imported: the room of coordination is behind this one, and a class of it is loaded already.
    package = sys.modules.get(cls.__module__) if cls.__module__.startswith("clew.coordination.") else None
    return cls.__name__ in names and getattr(package, cls.__name__, None) is cls


def _outputs(program: BloomProgram) -> set[str]:
    return {c.name for c in program.collections if c.kind is Kind.OUTPUT and "." not in c.name}


def _takes_steps(program: BloomProgram) -> bool:
    return any(rule.op is not Op.NOW for rule in program.rules)


class _Wrapper:
    """A class, its original, and the rules that it adds."""

    def __init__(self, module: type[Module], record: Coordination, programs: _Programs) -> None:
        if record.original not in module.__mro__[1:]:
            raise NotCoordinatedError(f"{module.__name__} is no subclass of {record.original.__name__}")
        self._module = module
        self._record = record
        self._programs = programs
        self._program = programs[module]
        self._original = programs[record.original]
        before = find_imports(record.original)
        self._modules = {name: cls for name, cls in find_imports(module).items() if name not in before}
        for name, cls in self._modules.items():
            if not _is_library(cls):
                self._refuse(f"{name} is not of clew.coordination")
        #: The modules of the original that others stand for, which wrap them.
        self.wrapped = {
            name: self._wrapping(name, cls, before[name])
            for name, cls in find_imports(module).items()
            if name in before and cls is not before[name]
        }
        # Requests that wait are held as well: their input is declared again like the sealed ones.
        self._held = (*record.seals, *record.reads, *record.ordered)
        self._inner = {name: self._inner_of(name) for name in self._held}
        self._added = self._find_added_rules()

    def _wrapping(self, name: str, cls: type[Module], original: type[Module]) -> tuple[type[Module], Coordination]:
        found = coordination_of(cls)
        if found is None or found.original is not original:
            self._refuse(f"{name} is not the {original.__name__} of the original")
        return cls, found

    def _refuse(self, why: str, rule: Rule | None = None) -> NoReturn:
        raise NotCoordinatedError(why, rule.position if rule else None)

    def instances(self, names: Sequence[str]) -> list[str]:
        """Return the names of the modules of coordination that are of these classes."""
        return [name for name, cls in self._modules.items() if _is_library(cls, names)]

    def _inner_of(self, name: str) -> str:
        """Return what the input of the original is called behind the one that is declared again."""
        owners = [f"{owner.__name__}.{name}" for owner in self._record.original.__mro__]
        found = [owner for owner in owners if owner in self._program.by_name]
        if len(found) != 1 or name not in self._program.by_name:
            self._refuse(f"{name} is not declared again")
        return found[0]

    def _find_added_rules(self) -> list[Rule]:
        """Return what is left without the rules of the original, all of which must be there, on the inside."""
        left = _select_own_rules(self._program, self._module)
        for rule in _select_own_rules(self._original, self._record.original):
            # By shape, not by position in a file: the wrapper has the rules from
            # its base, with the inner names of inputs.
            same = next((r for r in left if signature(r) == signature(rule, self._inner)), None)
            if same is None:
                self._refuse(f"a rule of {self._record.original.__name__} is missing: {rule}", rule)
            left.remove(same)
        return left

    # -- what is added -------------------------------------------------------------------------------------------

    def check_rules(self) -> None:
        """Refuse rules that do more than to carry rows and punctuations to modules of coordination and back."""
        for name, cls in find_imports(self._module).items():
            # As multisets: a class may state one rule twice.
            expected = sorted(signature(rule, prefix=f"{name}.") for rule in self._programs[cls].rules)
            if sorted(map(signature, select_rules(self._program, self._module, name))) != expected:
                self._refuse(f"{name} does not do what {cls.__name__} does")
        for rule in self._added:
            name, _, interface = rule.target.rpartition(".")
            if name in self._modules:
                self._check_into_module(rule, name, interface)
            elif name in self.wrapped:
                self._check_into_component(rule, name, interface)
            elif rule.target not in self._inner.values():
                self._check_into_own(rule)
        for output in sorted(_outputs(self._program) - _outputs(self._original)):
            if not self._record.ordered:
                self._refuse(f"{output} is an output that the original does not have")

    def _check_into_module(self, rule: Rule, name: str, interface: str) -> None:
        if self._programs[self._modules[name]].by_name[interface].kind is not Kind.INPUT:
            self._refuse(f"{rule.target} is written from outside", rule)
        read = collections_in(rule.expr)
        if name in self.instances(_SEALER):
            # Only a producer knows that a partition has ended; a rule that derives it from data would be guessing.
            if interface == "ended" and not all(self._is_added(n, Kind.INPUT) for n in read):
                self._refuse(f"{rule.target} is no word of a producer", rule)
        elif interface == "punctuation":
            if not read or not all(self._is_added(n, Kind.INPUT, Kind.CHANNEL) for n in read):
                self._refuse(f"{rule.target} is no word of a producer", rule)
        elif interface in ("row", "read", "propose") or name in self.instances(_SETTLING):
            return  # rows that are held are looked at below; what has not settled only makes others wait
        elif not read or not all(self._is_of_module(n) or self._is_output_of_wrapped(n) for n in read):
            self._refuse(f"{rule.target} depends on more than coordination", rule)

    def _check_into_component(self, rule: Rule, name: str, interface: str) -> None:
        inner, record = self.wrapped[name]
        declared = self._programs[inner].by_name.get(interface)
        original = self._programs[record.original]
        if declared is None or declared.kind is not Kind.INPUT or interface in original.by_name:
            self._refuse(f"{rule.target} goes round the coordination", rule)
        read = collections_in(rule.expr)
        if not read or not all(self._is_added(n, Kind.CHANNEL) or self._is_of_module(n) for n in read):
            self._refuse(f"{rule.target} depends on more than coordination", rule)

    def _check_into_own(self, rule: Rule) -> None:
        if not self._is_added(rule.target, Kind.CHANNEL, Kind.OUTPUT):
            self._refuse(f"{rule.target} is not of the coordination", rule)
        read = collections_in(rule.expr)
        if self._program.by_name[rule.target].kind is Kind.OUTPUT:
            carried = all(self._is_of_module(n) or n in self._record.ordered for n in read)
        else:
            carried = all(self._is_of_module(n) or self._program.by_name[n].kind is Kind.TABLE for n in read)
            carried = carried and any(self._is_of_module(n) for n in read)
        if not read or not carried:
            self._refuse(f"{rule.target} depends on more than coordination", rule)

    def _is_added(self, name: str, *kinds: Kind) -> bool:
        new = "." not in name and name not in self._original.by_name
        return new and self._program.by_name[name].kind in kinds

    def _is_of_module(self, name: str) -> bool:
        return name.rpartition(".")[0] in self._modules

    def _is_output_of_wrapped(self, name: str) -> bool:
        """Return whether it is what a wrapped component has besides the outputs of its original."""
        component, _, output = name.rpartition(".")
        if component not in self.wrapped:
            return False
        inner, record = self.wrapped[component]
        return output in _outputs(self._programs[inner]) - _outputs(self._programs[record.original])

    # -- what is held back ---------------------------------------------------------------------------------------

    def describe_held(self) -> Held:
        """Return what happens to the inputs of this class."""
        for name in self._held:
            readers = [r for r in self._program.rules if name in collections_in(r.expr)]
            # A second reader of an outer input would see rows before they are let in.
            if len(readers) != 1:
                self._refuse(f"{name} is read by {len(readers)} rules", readers[-1] if readers else None)
        seals = {name: self._seal(name, key) for name, key in self._record.seals.items()}
        reads = {name: self._read(name) for name in self._record.reads}
        for name in self._record.ordered:
            self._check_order(name)
        return Held(seals, reads, self._record.ordered)

    def _only(self, target: str) -> Rule:
        found = [r for r in self._program.rules if r.target == target]
        if len(found) != 1:
            self._refuse(f"{target} is written by {len(found)} rules", found[-1] if found else None)
        return found[0]

    def _from(self, rule: Rule, interface: str, roles: Sequence[str]) -> str:
        """Return the one module whose output a rule reads."""
        names = collections_in(rule.expr)
        instance, _, last = names[0].rpartition(".") if len(names) == 1 else ("", "", "")
        if last != interface or instance not in self.instances(roles):
            self._refuse(f"{rule.target} does not come from the {interface} rows of a module", rule)
        return instance

    def _let_in(self, name: str, interface: str, roles: Sequence[str]) -> str:
        """Return the module that lets rows in to the original."""
        rule = self._only(self._inner[name])
        instance = self._from(rule, interface, roles)
        if rule.op is not Op.NEXT or not is_content(rule.expr):
            self._refuse(f"{name} is not what was held back", rule)
        self._check_waits(instance, rule)
        return instance

    def _check_waits(self, instance: str, rule: Rule) -> None:
        # What is let in too early meets rows of the partition before that
        # are still on their way through the steps.
        if _takes_steps(self._original) and not any(r.target == f"{instance}.wait" for r in self._added):
            self._refuse(f"{instance} does not wait until what it let in has settled", rule)

    def _seal(self, name: str, key: tuple[str, ...]) -> tuple[str, ...]:
        instance = self._let_in(name, "released", (*_SEALS, *_TURNS))
        if instance in self.instances(_TURNS):
            turns = self._only(f"{instance}.row")
            instance = self._from(turns, "released", _SEALS)
            if not isinstance(turns.expr, Ref) or turns.op is not Op.NOW:
                self._refuse(f"{turns.target} is not what was let go", turns)
        rule = self._only(f"{instance}.row")
        if not self._holds(rule, name) or self._partition(rule, name) != key:
            self._refuse(f"{name} is not held back by {', '.join(key)}", rule)
        return key

    def _read(self, name: str) -> tuple[str, ...]:
        instance = self._let_in(name, "due", _READS)
        rule = self._only(f"{instance}.read")
        if not self._holds(rule, name) or not any(r.target == f"{instance}.opened" for r in self._added):
            self._refuse(f"{name} does not wait for what it asks for", rule)
        return self._partition(rule, name)

    def _holds(self, rule: Rule, name: str) -> bool:
        """Return whether all rows of an input are held, each with all that is in it."""
        row = row_shape(rule.expr, name)
        return rule.op is Op.NOW and bool(row) and row[-1] == self._whole(name)

    def _whole(self, name: str) -> Nested:
        return Nested(tuple(Column(0, k) for k in range(len(self._program.by_name[name].schema.columns))))

    def _partition(self, rule: Rule, name: str) -> tuple[str, ...]:
        columns = self._program.by_name[name].schema.columns
        match row_shape(rule.expr, name):
            case (Nested(items), _):
                return tuple(columns[i.index] if isinstance(i, Column) else "" for i in items)
        return ()

    # -- what is ordered -----------------------------------------------------------------------------------------

    def _check_order(self, name: str) -> None:
        rule, stream = self._only(self._inner[name]), self._name_in_order(name)
        source = collections_in(rule.expr)
        # From the module itself, or from the interface by which the class that imports this one connects it.
        if len(source) != 1 or not self._is_added(source[0], Kind.INPUT):
            self._check_waits(self._from(rule, "released", _ORDER), rule)
        if rule.op is not Op.NEXT or not is_content_of(rule.expr, stream):
            self._refuse(f"{name} is not what was ordered", rule)

    def _name_in_order(self, name: str) -> Constant:
        """Return what the rows of an input are called in the order."""
        (rule,) = (r for r in self._program.rules if name in collections_in(r.expr))
        target, _, interface = rule.target.rpartition(".")
        into = (target in self.instances(_ORDER) and interface == "propose") or self._is_added(
            rule.target, Kind.OUTPUT
        )
        match row_shape(rule.expr, name):
            case (Constant() as stream, content) if into and content == self._whole(name):
                return stream
        return self._refuse(f"{name} goes round the order", rule)

    def check_order_of(self, name: str) -> None:
        """Refuse a component whose rows do not go through the one order of this class."""
        _, record = self.wrapped[name]
        order = next(iter(self.instances(_ORDER)), "")
        leaving = [r for r in self._added if any(self._is_output_of_wrapped(n) for n in collections_in(r.expr))]
        leaving = [r for r in leaving if any(n.startswith(f"{name}.") for n in collections_in(r.expr))]
        proposing = [r for r in leaving if r.target == f"{order}.propose" and isinstance(r.expr, Ref)]
        waiting = [r for r in leaving if r.target == f"{order}.wait"]
        back = [r for r in self._added if r.target.startswith(f"{name}.")]
        if not proposing or len(leaving) != len(proposing) + len(waiting) or len(back) != 1:
            self._refuse(f"the rows of {name} do not go through one order")
        self._from(back[0], "released", _ORDER)
        if not is_projection(back[0].expr):
            self._refuse(f"{name} does not get what was ordered as it is", back[0])
        if _takes_steps(self._programs[record.original]) and not waiting:
            self._refuse(f"{order} does not wait until what it let in to {name} has settled")


def _select_own_rules(program: BloomProgram, module: type[Module]) -> list[Rule]:
    """Return the rules that are not those of an imported module."""
    # By identity: a rule of the class may equal one of the import, and only one of them is the wrapper's to add.
    inside = {id(r) for name in find_imports(module) for r in select_rules(program, module, name)}
    return [r for r in program.rules if id(r) not in inside]
