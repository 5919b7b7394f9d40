"""The coordinated class: a subclass that wraps the original and holds rows back (thesis, section 4.4).

A component is wrapped by overriding its input interfaces (section 3.3): who uses it meets the outer ones, and the
rules of the component see what the wrapper lets through.  A system that imports the component gets the wrapped one
under the same name, and the wires that the coordination needs.  ``rendering`` writes the same classes as text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from clew.bloom.declarations import Block, Declaration, Imported, channel, imported, interface, table
from clew.bloom.module import Module
from clew.bloom.schema import Kind
from clew.coordination.ordering import OrderedDelivery, SequencedDelivery
from clew.coordination.plans import OrderPlan, Plan, Read, SealPlan, Service
from clew.coordination.sealing import IndependentSeals, OneByOne, ReadsOfAll, ReadsOfPartition, Sealer, VotedSeals
from clew.errors import UsageError

M = TypeVar("M", bound=Module)

#: What a class imports as its order, by who decides it.
DELIVERY = {Service.SEQUENCER: SequencedDelivery, Service.ZOOKEEPER: OrderedDelivery}


def coordinated(cls: type[M], plan: Plan) -> type[M]:
    """The class that does what ``cls`` does, coordinated as planned."""
    if isinstance(plan, SealPlan):
        return _sealed(cls, plan)
    return _ordered(cls, plan)


def component_of(cls: type[Module], name: str) -> type[Module]:
    """The module that a class imports under a name; without one, the class itself."""
    if not name:
        return cls
    found = getattr(cls, name, None)
    if not isinstance(found, Imported):
        raise UsageError(
            f"{cls.__name__} imports no module as '{name}'", remedy="name a component: report = imported(Report)"
        )
    return found.module


def input_of(cls: type[Module], name: str) -> Declaration:
    """The declaration of an input interface."""
    found = getattr(cls, name, None)
    if not isinstance(found, Declaration) or found.kind is not Kind.INPUT:
        what = f"'{name}' is a {found.kind.value}" if isinstance(found, Declaration) else f"there is no '{name}'"
        raise UsageError(
            f"{cls.__name__} cannot hold back '{name}': {what}",
            remedy="only input interfaces can be overridden: let the rules read one, and pass on what arrives",
        )
    return found


# -- sealing -----------------------------------------------------------------------------------------------------


def _sealed(cls: type[M], plan: SealPlan) -> type[M]:
    if not plan.component:
        return _sealed_component(cls, plan)
    component = _sealed_component(component_of(cls, plan.component), plan)
    body: dict[str, Any] = {plan.component: imported(component)}
    if plan.source is not None:
        body |= _producer_side(cls, plan)
    return _derived(cls, "Sealed", body)


def _sealed_component(cls: type[M], plan: SealPlan) -> type[M]:
    name = plan.interface
    body: dict[str, Any] = {
        name: _again(cls, name),
        f"{name}_punctuation": interface.input("partition", "producer", val=["cnt"]),
        f"{name}_seals": imported(IndependentSeals if plan.independent else VotedSeals),
        f"hold_{name}": _block(f"hold_{name}", lambda self: _hold(self, plan)),
    }
    if plan.one_by_one:
        body[f"{name}_turns"] = imported(OneByOne)
    for read in plan.reads:
        body[read.interface] = _again(cls, read.interface)
        body[f"{read.interface}_reads"] = imported(ReadsOfPartition if read.key else ReadsOfAll)
        body[f"hold_{read.interface}"] = _reading_block(plan, read)
    return _derived(cls, "Sealed", body)


def _hold(self: Any, plan: SealPlan) -> None:
    outer, seals = getattr(self, plan.interface), getattr(self, f"{plan.interface}_seals")
    seals.row <= _by_partition(outer, plan.key)
    seals.punctuation <= getattr(self, f"{plan.interface}_punctuation")
    if plan.one_by_one:
        turns = getattr(self, f"{plan.interface}_turns")
        turns.row <= seals.released
        turns.complete <= seals.opened
        outer <+ turns.released(lambda r: r.content)
    else:
        outer <+ seals.released(lambda r: r.content)


def _reading_block(plan: SealPlan, read: Read) -> Block:
    def hold(self: Any) -> None:
        outer, reads = getattr(self, read.interface), getattr(self, f"{read.interface}_reads")
        reads.read <= (_by_partition(outer, read.key) if read.key else outer(lambda r: ((*r,),)))
        reads.opened <= getattr(self, f"{plan.interface}_{'turns' if plan.one_by_one else 'seals'}").opened
        outer <+ reads.due(lambda d: d.content)

    return _block(f"hold_{read.interface}", hold)


def _by_partition(rows: Any, key: tuple[str, ...]) -> Any:
    """(partition, content) of each row."""
    width = len(key)
    return rows.project(*key, *rows.node().columns)(lambda r: ((*r[:width],), (*r[width:],)))


def _producer_side(cls: type[Module], plan: SealPlan) -> dict[str, Any]:
    source = plan.source
    assert source is not None
    name = source.stream
    input_of(cls, name)
    body = {
        f"{name}_ended": interface.input(*source.key),
        f"{name}_sealer": imported(Sealer),
        f"{name}_punctuation": channel("@consumer", "partition", "producer", val=["cnt"]),
        f"seal_{name}": _block(f"seal_{name}", lambda self: _seal(self, plan)),
    }
    if source.consumers is None:
        body[f"{name}_consumers"] = table("node")
    return body


def _seal(self: Any, plan: SealPlan) -> None:
    source = plan.source
    assert source is not None
    name = source.stream
    sealer, punctuation = getattr(self, f"{name}_sealer"), getattr(self, f"{name}_punctuation")
    sealer.produced <= _by_partition(getattr(self, name), source.key)
    sealer.ended <= getattr(self, f"{name}_ended")(lambda e: ((*e,),))
    consumers = source.consumers
    where = getattr(self, consumers.table if consumers else f"{name}_consumers")
    node = where.project(consumers.column if consumers else "node")
    punctuation <~ (sealer.punctuation * node).pairs(lambda p, n: (n[0], p.partition, p.producer, p.cnt))
    getattr(getattr(self, plan.component), f"{plan.interface}_punctuation") <= punctuation.payloads()


# -- ordering ----------------------------------------------------------------------------------------------------


def _ordered(cls: type[M], plan: OrderPlan) -> type[M]:
    body: dict[str, Any] = {"order": imported(DELIVERY[plan.service])}
    for one in plan.components:
        if one.component:
            wrapped = _ordered_component(component_of(cls, one.component), one.component, one.interfaces)
            body[one.component] = imported(wrapped)
            body[f"order_{one.component}"] = _passing_block(one.component)
        else:
            body |= _held(cls, {name: name for name in one.interfaces}, direct=True)
    return _derived(cls, "Ordered", body)


def _ordered_component(cls: type[Module], component: str, interfaces: tuple[str, ...]) -> type[Module]:
    body = {
        "to_order": interface.output("stream", "content"),
        "in_order": interface.input("stream", "content"),
        **_held(cls, {name: f"{component}.{name}" for name in interfaces}, direct=False),
    }
    return _derived(cls, "Ordered", body)


def _held(cls: type[Module], streams: Mapping[str, str], *, direct: bool) -> dict[str, Any]:
    """By interface: what its rows are called in the order.  ``direct``: the class has the order itself."""
    body: dict[str, Any] = {}
    for name, stream in streams.items():
        body[name] = _again(cls, name)
        body[f"order_{name}"] = _ordering_block(name, stream, direct=direct)
    return body


def _ordering_block(name: str, stream: str, *, direct: bool) -> Block:
    def order(self: Any) -> None:
        outer = getattr(self, name)
        (self.order.propose if direct else self.to_order) <= outer(lambda r: (stream, (*r,)))
        ready = self.order.released if direct else self.in_order
        outer <+ ready.filter(lambda o: o.stream == stream)(lambda o: o.content)

    return _block(f"order_{name}", order)


def _passing_block(component: str) -> Block:
    """Between a component and the order, which the system has."""

    def pass_on(self: Any) -> None:
        part = getattr(self, component)
        self.order.propose <= part.to_order
        part.in_order <= self.order.released.project("stream", "content")

    return _block(f"order_{component}", pass_on)


# -- classes -----------------------------------------------------------------------------------------------------


def _again(cls: type[Module], name: str) -> Declaration:
    """The same interface once more, which overrides it."""
    return Declaration(Kind.INPUT, input_of(cls, name).schema)


def _block(name: str, rules: Callable[[Any], None]) -> Block:
    block = Block(rules)
    block.name = name
    return block


def _derived(cls: type[M], prefix: str, body: Mapping[str, Any]) -> type[M]:
    for name in body:
        known = getattr(cls, name, None)
        if known is not None and not isinstance(known, Declaration | Imported):
            raise UsageError(
                f"{cls.__name__} has something else that is called '{name}'",
                remedy="rename it: the coordination needs the name",
            )
    return type(f"{prefix}{cls.__name__}", (cls,), {**body, "__module__": cls.__module__})
