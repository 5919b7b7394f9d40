"""From the verdict of the analysis to a plan: which inputs of which components are held back, and by what."""

from __future__ import annotations

from clew.analysis.blazes import Dataflow, Verdict, analyse
from clew.analysis.blazes.dataflow import Component, Ordering
from clew.bloom.ir.expressions import Transform, collections_in, subexpressions
from clew.bloom.ir.program import BloomProgram
from clew.bloom.ir.schema import Kind
from clew.bloom.language.module import Module, program_of
from clew.coordination.plans import Ordered, OrderPlan, Plan, Service
from clew.coordination.quiescence import check_settling, left_for_later, settles_at_once
from clew.coordination.seal_planning import imported_as, refuse_what_needs_nothing, seal_plan
from clew.coordination.text import component_of, input_of
from clew.errors import UsageError


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


def order_plan(cls: type[Module], dataflow: Dataflow, service: Service = Service.SEQUENCER) -> OrderPlan:
    """The inputs of the components that the analysis recommends to order."""
    verdict = analyse(dataflow)
    refuse_what_needs_nothing(cls, verdict)
    names = _ordered_names(verdict)
    if not names:
        raise UsageError(
            f"{cls.__name__}: an order that is decided while it runs does not help",
            remedy="runs differ, not replicas: seal the stream (--synthesize seal), or order it at its source",
        )
    chosen = [c for c in dataflow.components if c.name in names]
    return OrderPlan(tuple(ordered_component(cls, imported_as(cls, c), _inputs(c)) for c in chosen), service)


def ordered_component(cls: type[Module], component: str, interfaces: tuple[str, ...]) -> Ordered:
    """How to order inputs of a component; refuse one whose replicas need not go through the same states."""
    module = component_of(cls, component)
    for name in interfaces:
        input_of(module, name)
    program = program_of(module)
    for rule in program.rules:
        functions = (e.function for e in subexpressions(rule.expr) if isinstance(e, Transform))
        opaque = next((f for f in functions if f.paths is None), None)
        if opaque is not None:
            raise UsageError(
                f"{module.__name__}: {rule} has a function that is not seen through ({opaque.opaque}),"
                " so that it may give something else at every replica",
                position=opaque.position or rule.position,
                remedy="use columns, constants, arithmetic, comparisons and tuples only",
            )
    _refuse_disorder(module.__name__, program, interfaces)
    check_settling(module.__name__, program, program.rules)
    at_once = settles_at_once(program, program.rules)
    return Ordered(component, interfaces, None if at_once else left_for_later(program.rules))


def _refuse_disorder(name: str, program: BloomProgram, interfaces: tuple[str, ...]) -> None:
    """Refuse what comes at any time, and does not go through the order before it meets what does."""
    sources = [c.name for c in program.collections if c.kind.arrives or c.kind is Kind.INPUT]
    in_order = _reached(program, set(interfaces), frozenset())
    for rule in program.rules:
        disorderly = [n for n in collections_in(rule.expr) if n in sources and n not in interfaces]
        if not disorderly or rule.target in interfaces:
            continue
        if _reached(program, {rule.target}, frozenset(interfaces)) & in_order:
            raise UsageError(
                f"{name}: {rule} reads '{disorderly[0]}', which comes at any time and is not ordered",
                position=rule.position,
                remedy="let it go through an input interface that is ordered",
            )


def _reached(program: BloomProgram, names: set[str], without: frozenset[str]) -> set[str]:
    found = set(names)
    while more := {r.target for r in program.rules if found & set(collections_in(r.expr))} - found - without:
        found |= more
    return found


def _inputs(component: Component) -> tuple[str, ...]:
    return tuple(dict.fromkeys(path.source for path in component.paths))


def _ordered_names(verdict: Verdict) -> tuple[str, ...]:
    found = [
        next((r.ordered for r in sink.remedies if r.ordering is Ordering.DYNAMIC), ()) for sink in verdict.sinks
    ]
    return tuple(dict.fromkeys(name for names in found for name in names))
