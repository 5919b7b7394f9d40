"""The coordinated classes of ``synthesis`` as the text of a Python module that imports the originals.

A user keeps this text, reads it and may change it; nothing here executes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from clew.bloom.module import Module
from clew.bloom.schema import Schema
from clew.coordination.plans import Ordered, OrderPlan, Plan, Read, SealPlan, Service, Source
from clew.coordination.synthesis import DELIVERY, component_of, input_of
from clew.errors import UsageError

_WIDTH = 115
_PUNCTUATION = 'interface.input("partition", "producer", val=["cnt"])'


@dataclass(frozen=True)
class _Class:
    name: str
    base: type[Module]
    says: str
    declarations: tuple[str, ...]
    blocks: tuple[str, ...]


def module_text(cls: type[Module], plan: Plan, *, made_by: str, modules: Mapping[str, str]) -> str:
    """``made_by`` is said in the docstring; ``modules``: other names for modules to import from."""
    if isinstance(plan, SealPlan):
        what, classes, blocks = _seal_says(cls, plan), _sealed(cls, plan), _seal_blocks(plan)
    else:
        what, classes, blocks = _order_says(cls, plan), _ordered(cls, plan), (DELIVERY[plan.service].__name__,)
    own = {c.name for c in classes}
    bases = dict.fromkeys(c.base for c in classes if c.base.__name__ not in own)
    text = [f'"""Made by {made_by}.', "", *what, '"""', "", "from __future__ import annotations", ""]
    text += [*_imports(bases, modules), ""]
    text += [_import("clew.bloom", _used(classes)), _import("clew.coordination", blocks), ""]
    for one in classes:
        text += ["", *_class_text(one), ""]
    return "\n".join(text)


# -- sealing -----------------------------------------------------------------------------------------------------


def _seal_says(cls: type[Module], plan: SealPlan) -> list[str]:
    at = f"{plan.component}.{plan.interface}" if plan.component else plan.interface
    same = _listed(plan.key)
    says = [f"{cls.__name__} in which ``{at}`` waits until all rows with the same {same} are there.", ""]
    if plan.source is None:
        says.append(f"``{plan.interface}_punctuation`` gets the punctuations of producers (``Sealer``).")
    else:
        stream = plan.source.stream
        says.append(f"``{stream}_ended`` of a producer gets a partition that nothing more comes for.")
        if plan.source.consumers is None:
            says.append(f"``{stream}_consumers`` of a producer has the addresses that its rows go to.")
    if not plan.independent:
        says.append(f"``{at}_seals.producers`` of a consumer has rows (partition, address of a producer).")
    return says


def _seal_blocks(plan: SealPlan) -> tuple[str, ...]:
    names = {"IndependentSeals" if plan.independent else "VotedSeals"}
    names |= {"ReadsOfPartition" if read.key else "ReadsOfAll" for read in plan.reads}
    names |= {"OneByOne"} if plan.one_by_one else set()
    return tuple(sorted(names | ({"Sealer"} if plan.source is not None else set())))


def _sealed(cls: type[Module], plan: SealPlan) -> list[_Class]:
    component = component_of(cls, plan.component)
    wrapped = _sealed_component(component, plan)
    if not plan.component:
        return [wrapped]
    declarations, blocks = [f"{plan.component} = imported({wrapped.name})"], []
    if plan.source is not None:
        declarations += _producer_declarations(plan.source)
        blocks.append(_producer_block(cls, plan, plan.source))
    says = f"With {wrapped.name} in the place of {component.__name__}."
    return [wrapped, _Class(f"Sealed{cls.__name__}", cls, says, tuple(declarations), tuple(blocks))]


def _sealed_component(cls: type[Module], plan: SealPlan) -> _Class:
    name, seals = plan.interface, "IndependentSeals" if plan.independent else "VotedSeals"
    declarations = [
        f"{name} = {_input(cls, name)}",
        f"{name}_punctuation = {_PUNCTUATION}",
        f"{name}_seals = imported({seals})",
    ]
    if plan.one_by_one:
        declarations.append(f"{name}_turns = imported(OneByOne)")
    for read in plan.reads:
        reads = "ReadsOfPartition" if read.key else "ReadsOfAll"
        declarations += [f"{read.interface} = {_input(cls, read.interface)}"]
        declarations += [f"{read.interface}_reads = imported({reads})"]
    blocks = [_hold_block(cls, plan), *(_read_block(cls, plan, read) for read in plan.reads)]
    says = f"Holds back {_listed([name, *(read.interface for read in plan.reads)])}."
    return _Class(f"Sealed{cls.__name__}", cls, says, tuple(declarations), tuple(blocks))


def _hold_block(cls: type[Module], plan: SealPlan) -> str:
    name = plan.interface
    rules = [
        _rule(f"self.{name}_seals.row <=", f"self.{name}", _by_partition(cls, name, plan.key)),
        f"self.{name}_seals.punctuation <= self.{name}_punctuation",
    ]
    if plan.one_by_one:
        rules += [f"self.{name}_turns.row <= self.{name}_seals.released"]
        rules += [f"self.{name}_turns.complete <= self.{name}_seals.opened"]
    rules.append(f"self.{name} <+ self.{name}_{_last(plan)}.released(lambda r: r.content)")
    return _block(f"hold_{name}", rules)


def _last(plan: SealPlan) -> str:
    """What lets the rows through in the end."""
    return "turns" if plan.one_by_one else "seals"


def _read_block(cls: type[Module], plan: SealPlan, read: Read) -> str:
    name = read.interface
    function = _by_partition(cls, name, read.key) if read.key else f"lambda r: ({_content(cls, name)},)"
    rules = [
        _rule(f"self.{name}_reads.read <=", f"self.{name}", function),
        f"self.{name}_reads.opened <= self.{plan.interface}_{_last(plan)}.opened",
        f"self.{name} <+ self.{name}_reads.due(lambda d: d.content)",
    ]
    return _block(f"hold_{name}", rules)


def _producer_declarations(source: Source) -> list[str]:
    name = source.stream
    declarations = [
        f"{name}_ended = interface.input({_quoted(source.key)})",
        f"{name}_sealer = imported(Sealer)",
        f'{name}_punctuation = channel("@consumer", "partition", "producer", val=["cnt"])',
    ]
    return declarations if source.consumers else [*declarations, f'{name}_consumers = table("node")']


def _producer_block(cls: type[Module], plan: SealPlan, source: Source) -> str:
    name = source.stream
    table, column = f"{name}_consumers", "node"
    if source.consumers is not None:
        table, column = source.consumers.table, source.consumers.column
    ended = _tuple(f"e.{column}" for column in source.key)
    rules = [
        _rule(f"self.{name}_sealer.produced <=", f"self.{name}", _by_partition(cls, name, source.key)),
        f"self.{name}_sealer.ended <= self.{name}_ended(lambda e: ({ended},))",
        _rule(
            f"self.{name}_punctuation <~",
            f"(self.{name}_sealer.punctuation * self.{table}).pairs",
            f"lambda p, n: (n.{column}, p.partition, p.producer, p.cnt)",
        ),
        f"self.{plan.component}.{plan.interface}_punctuation <= self.{name}_punctuation.payloads()",
    ]
    return _block(f"seal_{name}", rules)


# -- ordering ----------------------------------------------------------------------------------------------------


def _order_says(cls: type[Module], plan: OrderPlan) -> list[str]:
    inputs = [f"{o.component}.{name}" if o.component else name for o in plan.components for name in o.interfaces]
    says = [f"{cls.__name__} in which {_listed(inputs)} get rows in one order, the same at all replicas.", ""]
    if plan.service is Service.SEQUENCER:
        return [*says, "``order.sequencer`` has the address of a node of ``clew.coordination.Sequencer``."]
    return [*says, "``clew.coordination.zookeeper.ZooKeeperOrder`` connects a node that runs to ZooKeeper."]


def _ordered(cls: type[Module], plan: OrderPlan) -> list[_Class]:
    classes: list[_Class] = []
    declarations, blocks = [f"order = imported({DELIVERY[plan.service].__name__})"], []
    for one in plan.components:
        if one.component:
            made = _ordered_component(component_of(cls, one.component), one)
            classes.append(made)
            declarations.append(f"{one.component} = imported({made.name})")
            blocks.append(_passing_block(one.component))
        else:
            declarations += [f"{name} = {_input(cls, name)}" for name in one.interfaces]
            blocks += [_order_block(cls, name, name, "order.propose", "order.released") for name in one.interfaces]
    says = "Everything that is ordered goes through one order."
    return [*classes, _Class(f"Ordered{cls.__name__}", cls, says, tuple(declarations), tuple(blocks))]


def _ordered_component(cls: type[Module], one: Ordered) -> _Class:
    declarations = [
        'to_order = interface.output("stream", "content")',
        'in_order = interface.input("stream", "content")',
        *(f"{name} = {_input(cls, name)}" for name in one.interfaces),
    ]
    blocks = [
        _order_block(cls, name, f"{one.component}.{name}", "to_order", "in_order") for name in one.interfaces
    ]
    says = f"Orders {_listed(one.interfaces)}."
    return _Class(f"Ordered{cls.__name__}", cls, says, tuple(declarations), tuple(blocks))


def _order_block(cls: type[Module], name: str, stream: str, to: str, ready: str) -> str:
    rules = [
        _rule(f"self.{to} <=", f"self.{name}", f'lambda r: ("{stream}", {_content(cls, name)})'),
        f'self.{name} <+ self.{ready}.filter(lambda o: o.stream == "{stream}")(lambda o: o.content)',
    ]
    return _block(f"order_{name}", rules)


def _passing_block(component: str) -> str:
    rules = [
        f"self.order.propose <= self.{component}.to_order",
        f'self.{component}.in_order <= self.order.released.project("stream", "content")',
    ]
    return _block(f"order_{component}", rules)


# -- pieces of text ----------------------------------------------------------------------------------------------


def _imports(bases: Iterable[type], modules: Mapping[str, str]) -> list[str]:
    by_module: dict[str, list[str]] = {}
    for base in bases:
        by_module.setdefault(modules.get(base.__module__, base.__module__), []).append(base.__name__)
    for module in by_module:
        if not all(part.isidentifier() for part in module.split(".")):
            raise UsageError(f"'{module}' cannot be imported by its name", remedy="rename the file: my_program.py")
    return [_import(module, by_module[module]) for module in sorted(by_module)]


def _import(module: str, names: Iterable[str]) -> str:
    return f"from {module} import {', '.join(sorted(names))}"


def _used(classes: Iterable[_Class]) -> list[str]:
    text = "\n".join(line for c in classes for line in (*c.declarations, *c.blocks))
    calls = {"channel": "channel(", "imported": "imported(", "interface": "interface.", "table": " table("}
    return ["bloom", *(name for name, call in calls.items() if call in text)]


def _class_text(made: _Class) -> list[str]:
    lines = [f"class {made.name}({made.base.__name__}):", f'    """{made.says}"""', ""]
    lines += [f"    {declaration}" for declaration in made.declarations]
    for block in made.blocks:
        lines += ["", block]
    return lines


def _block(name: str, rules: Iterable[str]) -> str:
    lines = ["    @bloom", f"    def {name}(self) -> None:"]
    lines += [f"        {line}" for rule in rules for line in rule.split("\n")]
    return "\n".join(lines)


def _rule(target: str, source: str, function: str) -> str:
    line = f"{target} {source}({function})"
    return line if len(line) + 8 <= _WIDTH else f"{target} {source}(\n    {function}\n)"


def _by_partition(cls: type[Module], name: str, key: Sequence[str]) -> str:
    return f"lambda r: ({_tuple(f'r.{column}' for column in key)}, {_content(cls, name)})"


def _content(cls: type[Module], name: str) -> str:
    return _tuple(f"r.{column}" for column in input_of(cls, name).schema.columns)


def _tuple(items: Iterable[str]) -> str:
    made = ", ".join(items)
    return f"({made},)" if "," not in made else f"({made})"


def _input(cls: type[Module], name: str) -> str:
    return f"interface.input({_schema(input_of(cls, name).schema)})"


def _schema(schema: Schema) -> str:
    spelled = [f"@{name}" if name == schema.location else name for name in schema.columns]
    keys, values = spelled[: len(schema.keys)], spelled[len(schema.keys) :]
    val = [f"val=[{_quoted(values)}]"] if values else []
    return ", ".join([*([_quoted(keys)] if keys else []), *val])


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
