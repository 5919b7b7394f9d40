"""From the verdict of the analysis to a plan: which interface of which component is held back, and by what.

A seal is followed from where its stream enters the system to the first component for which order matters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clew.bloom.expressions import Join, NotIn, Take, Transform, everything_in
from clew.bloom.module import Module, program_of
from clew.bloom.program import BloomProgram, Op, Rule
from clew.bloom.schema import Kind
from clew.bloom.symbolic import Column
from clew.consistency.blazes import Dataflow, Verdict, analyse
from clew.consistency.blazes.annotations import Behaviour
from clew.consistency.blazes.dataflow import Component, End, Ordering, Stream
from clew.consistency.blazes.remedies import Remedy, applied
from clew.consistency.blazes.seals import Lineage
from clew.coordination.plans import Consumers, Ordered, OrderPlan, Plan, Read, SealPlan, Service, Source
from clew.coordination.synthesis import component_of, input_of
from clew.errors import UsageError

#: By the name of an attribute at the source of a stream: its name here.
_Names = Mapping[str, str]


def seal_plan(cls: type[Module], dataflow: Dataflow, *, independent: bool = False) -> SealPlan:
    """How to hold back the stream that is sealed, or the one that the cheapest seal is recommended for."""
    sealed = _with_seal(cls, dataflow)
    (stream,) = (s for s in sealed.sources if s.seals)
    key = tuple(sorted(stream.seals[0]))
    component, interface, names = _followed(cls, sealed, stream, key)
    imported = _imported_as(cls, component)
    module = component_of(cls, imported)
    here = tuple(names[attribute] for attribute in key)
    return SealPlan(
        imported,
        interface,
        here,
        tuple(_read(module, name, here) for name in _order_sensitive(component) if name != interface),
        any(p.source == interface and p.annotation.behaviour is Behaviour.OW for p in component.paths),
        independent,
        Source(stream.name, key, _consumers(program_of(cls), stream.name)) if imported else None,
    )


def order_plan(cls: type[Module], dataflow: Dataflow, service: Service = Service.SEQUENCER) -> OrderPlan:
    """The inputs of the components that the analysis recommends to order."""
    verdict = analyse(dataflow)
    _refuse_what_needs_nothing(cls, verdict)
    names = _ordered_names(verdict)
    if not names:
        raise UsageError(
            f"{cls.__name__}: an order that is decided while it runs does not help",
            remedy="runs differ, not replicas: seal the stream (--synthesize seal), or order it at its source",
        )
    chosen = [c for c in dataflow.components if c.name in names]
    return OrderPlan(tuple(Ordered(_imported_as(cls, c), _inputs(c)) for c in chosen), service)


# -- which seal --------------------------------------------------------------------------------------------------


def _with_seal(cls: type[Module], dataflow: Dataflow) -> Dataflow:
    """The dataflow with one sealed stream, after which nothing is wrong."""
    declared = [s for s in dataflow.sources if s.seals]
    if not declared:
        dataflow = applied(dataflow, _cheapest_seal(cls, analyse(dataflow)))
        declared = [s for s in dataflow.sources if s.seals]
    if len(declared) > 1 or len(declared[0].seals) > 1:
        raise UsageError(
            f"{cls.__name__}: more than one seal is declared ({', '.join(s.name for s in declared)})",
            remedy="synthesize the coordination for one of them at a time",
        )
    worst = analyse(dataflow).worst
    if worst.bad:
        key = ",".join(sorted(declared[0].seals[0]))
        raise UsageError(
            f"{cls.__name__}: with {declared[0].name} sealed on {key} there is still {worst}",
            remedy="seal another stream or key, or use an order: --synthesize order",
        )
    return dataflow


def _cheapest_seal(cls: type[Module], verdict: Verdict) -> Remedy:
    _refuse_what_needs_nothing(cls, verdict)
    worst = max(verdict.sinks, key=lambda sink: sink.label.severity)
    found = next((r for r in worst.remedies if r.seals and not r.supposed), None)
    if found is None:
        raise UsageError(
            f"{cls.__name__}: no seal helps {worst.stream.name}", remedy="use an order: --synthesize order"
        )
    return found


def _refuse_what_needs_nothing(cls: type[Module], verdict: Verdict) -> None:
    if not verdict.worst.bad:
        raise UsageError(
            f"{cls.__name__} needs no coordination", remedy="run it as it is; clew blazes shows why this is so"
        )


# -- where it arrives --------------------------------------------------------------------------------------------


def _followed(
    cls: type[Module], dataflow: Dataflow, stream: Stream, key: Sequence[str]
) -> tuple[Component, str, _Names]:
    """The first component on the way of the stream for which order matters, its interface, the key there."""
    components = {c.name: c for c in dataflow.components}
    pending: list[tuple[End, dict[str, str]]] = [(_target(stream), {a: a for a in key})]
    seen: list[End] = []
    while pending:
        end, names = pending.pop(0)
        if end in seen:
            continue
        seen.append(end)
        component = components[end.component]
        if any(p.annotation.behaviour.ordered for p in component.paths):
            return component, end.interface, names
        for path in component.paths:
            behind = _behind(names, path.lineage) if path.source == end.interface else None
            out = End(component.name, path.target)
            if behind is not None:
                pending += [(_target(s), behind) for s in dataflow.streams if s.source == out and s.target]
    raise UsageError(
        f"{cls.__name__}: the key of {stream.name} is lost before it comes to a component for which order matters",
        remedy="seal another stream, or use an order: --synthesize order",
    )


def _target(stream: Stream) -> End:
    assert stream.target is not None
    return stream.target


def _behind(names: _Names, lineage: Lineage) -> dict[str, str] | None:
    """The names of the key behind a path; None if it is lost there."""
    found = {}
    for attribute, name in names.items():
        renamed = [d.target for d in lineage.dependencies if d.source == {name} and len(d.target) == 1]
        if renamed:
            found[attribute] = sorted(renamed[0])[0]
        elif lineage.by_name and name not in lineage.defined:
            found[attribute] = name
        else:
            return None
    return found


def _imported_as(cls: type[Module], component: Component) -> str:
    """A class that imports nothing is a component of its own name."""
    return "" if component.name == cls.__name__ else component.name


# -- the component -----------------------------------------------------------------------------------------------


def _inputs(component: Component) -> tuple[str, ...]:
    return tuple(dict.fromkeys(path.source for path in component.paths))


def _order_sensitive(component: Component) -> tuple[str, ...]:
    ordered = [path.source for path in component.paths if path.annotation.behaviour.ordered]
    return tuple(dict.fromkeys(ordered))


def _read(module: type[Module], name: str, key: tuple[str, ...]) -> Read:
    if set(key) <= set(input_of(module, name).schema.columns):
        return Read(name, key)
    # Bit by bit, from complete partitions: what is absent so far must not make a difference.
    for rule in program_of(module).rules:
        if any(_sees_absence(expr) for expr in everything_in(rule.expr)):
            raise UsageError(
                f"{module.__name__}: '{name}' does not say which partition it is about,"
                f" and {rule} looks at what is absent",
                position=rule.position,
                remedy=f"give '{name}' the columns {', '.join(key)}, or use an order: --synthesize order",
            )
    return Read(name)


def _sees_absence(expr: object) -> bool:
    return isinstance(expr, NotIn) or (isinstance(expr, Join) and expr.take is Take.OUTER)


# -- where it goes -----------------------------------------------------------------------------------------------


def _consumers(program: BloomProgram, stream: str) -> Consumers | None:
    """The table that says where rows of the stream are sent, if rules do so in one way only."""
    found = [c for rule in program.rules if rule.op is Op.SEND and (c := _destination(program, rule, stream))]
    return found[0] if len(set(found)) == 1 else None


def _destination(program: BloomProgram, rule: Rule, stream: str) -> Consumers | None:
    if not isinstance(rule.expr, Transform) or not isinstance(rule.expr.source, Join):
        return None
    sources = [getattr(source, "collection", "") for source in rule.expr.source.sources]
    schema = program.by_name[rule.target].schema
    paths = rule.expr.function.paths or ()
    if stream not in sources or schema.location is None or len(paths) != 1 or len(paths[0].rows) != 1:
        return None
    row = paths[0].rows[0]
    address = row[schema.index(schema.location)] if isinstance(row, tuple) else None
    if not isinstance(address, Column) or len(sources) != len(rule.expr.function.parts):
        return None
    table = program.by_name.get(sources[address.part])
    if table is None or table.kind is not Kind.TABLE:
        return None
    return Consumers(table.name, table.schema.columns[address.index])


# -- with the choices of a user ----------------------------------------------------------------------------------


def plan_for(
    cls: type[Module],
    dataflow: Dataflow,
    how: str,
    *,
    independent: bool = False,
    service: Service = Service.SEQUENCER,
) -> Plan:
    """``how``: "seal" or "order"."""
    if how == "seal":
        return seal_plan(cls, dataflow, independent=independent)
    if how == "order":
        return order_plan(cls, dataflow, service)
    raise UsageError(f"there is no coordination '{how}'", remedy="use seal or order")


def _ordered_names(verdict: Verdict) -> tuple[str, ...]:
    found = [
        next((r.ordered for r in sink.remedies if r.ordering is Ordering.DYNAMIC), ()) for sink in verdict.sinks
    ]
    return tuple(dict.fromkeys(name for names in found for name in names))


