"""From the verdict of the analysis to a plan: which inputs of which components are held back, and by what."""

from __future__ import annotations

from clew.analysis.blazes import Verdict
from clew.analysis.blazes.dataflow import Component, Ordering
from clew.analysis.blazes.extraction.system import Extraction
from clew.bloom.ir.expressions import Transform, collections_in, subexpressions
from clew.bloom.ir.program import BloomProgram
from clew.bloom.ir.schema import Kind
from clew.coordination.components import ClassProgram, input_of
from clew.coordination.plans import Ordered, OrderPlan, Plan, Service
from clew.coordination.quiescence import check_settling, pending_targets, settles_at_once
from clew.coordination.seal_planning import import_name, refuse_what_needs_nothing, seal_plan
from clew.errors import UsageError


def plan_for(
    extraction: Extraction,
    verdict: Verdict,
    how: str,
    *,
    independent: bool = False,
    service: Service = Service.SEQUENCER,
) -> Plan:
    """Plan the coordination of the class that was extracted and analysed; ``how``: "seal" or "order".

    The verdict is on the dataflow of the class, or on that with more seals than the class declares.
    """
    system = ClassProgram(extraction.module, extraction.program)
    if how == "seal":
        return seal_plan(system, verdict, independent=independent)
    if how == "order":
        return order_plan(system, verdict, service)
    raise UsageError(f"there is no coordination '{how}'", remedy="use seal or order")


def order_plan(system: ClassProgram, verdict: Verdict, service: Service = Service.SEQUENCER) -> OrderPlan:
    """Plan to order the inputs of the components that the analysis recommends to order."""
    refuse_what_needs_nothing(system, verdict)
    names = _names_to_order(verdict)
    if not names:
        raise UsageError(
            f"{system.name}: an order that is decided while it runs does not help",
            remedy="runs differ, not replicas: seal the stream (--synthesize seal), or order it at its source",
        )
    chosen = [c for c in verdict.dataflow.components if c.name in names]
    parts = (order_component(system, import_name(system, c), _inputs(c)) for c in chosen)
    return OrderPlan(tuple(parts), service)


def order_component(system: ClassProgram, component: str, interfaces: tuple[str, ...]) -> Ordered:
    """Plan to order inputs of a component; refuse one whose replicas need not go through the same states."""
    module = system.component(component)
    for name in interfaces:
        input_of(module.cls, name)
    program = module.program
    for rule in program.rules:
        # State machine replication: the same inputs in the same order give the same states only if each step is a
        # function of its inputs.  Code that is not seen through could draw a number, or look at the clock.
        functions = (e.function for e in subexpressions(rule.expr) if isinstance(e, Transform))
        opaque = next((f for f in functions if f.paths is None), None)
        if opaque is not None:
            raise UsageError(
                f"{module.name}: {rule} has a function that is not seen through ({opaque.opaque}),"
                " so that it may give something else at every replica",
                position=opaque.position or rule.position,
                remedy="use columns, constants, arithmetic, comparisons and tuples only",
            )
    # Rows that do not go through the order reach replicas in different steps.
    _refuse_disorder(module.name, program, interfaces)
    check_settling(module.name, program, program.rules)
    at_once = settles_at_once(program, program.rules)
    return Ordered(component, interfaces, None if at_once else pending_targets(program.rules))


def _refuse_disorder(name: str, program: BloomProgram, interfaces: tuple[str, ...]) -> None:
    """Refuse what comes at any time, and does not go through the order before it meets what does."""
    sources = [c.name for c in program.collections if c.kind.arrives or c.kind is Kind.INPUT]
    in_order = _reachable_from(program, set(interfaces), frozenset())
    for rule in program.rules:
        disorderly = [n for n in collections_in(rule.expr) if n in sources and n not in interfaces]
        # What only leads into an ordered input is ordered there, before it meets anything.
        if not disorderly or rule.target in interfaces:
            continue
        if _reachable_from(program, {rule.target}, frozenset(interfaces)) & in_order:
            raise UsageError(
                f"{name}: {rule} reads '{disorderly[0]}', which comes at any time and is not ordered",
                position=rule.position,
                remedy="let it go through an input interface that is ordered",
            )


def _reachable_from(program: BloomProgram, names: set[str], without: frozenset[str]) -> set[str]:
    found = set(names)
    while more := {r.target for r in program.rules if found & set(collections_in(r.expr))} - found - without:
        found |= more
    return found


def _inputs(component: Component) -> tuple[str, ...]:
    return tuple(dict.fromkeys(path.source for path in component.paths))


def _names_to_order(verdict: Verdict) -> tuple[str, ...]:
    # An order for several sinks is the union of what each needs: one service orders all of it.
    found = [
        next((r.ordered for r in sink.remedies if r.ordering is Ordering.DYNAMIC), ()) for sink in verdict.sinks
    ]
    return tuple(dict.fromkeys(name for names in found for name in names))
