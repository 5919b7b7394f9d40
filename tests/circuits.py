"""Random circuits, as expressions that can be built and that know what they mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st

from clew.faults import Fault
from clew.lineage.circuit import ALWAYS, NEVER, Circuit

Expression = tuple[str, Any]


def expressions(faults: Sequence[Fault]) -> st.SearchStrategy[Expression]:
    """Over present and, more often, absent faults."""
    absent: st.SearchStrategy[Expression] = st.tuples(st.just("absent"), st.sampled_from(faults))
    leaves = st.one_of(
        absent,
        absent,
        st.tuples(st.just("present"), st.sampled_from(faults)),
        st.tuples(st.just("constant"), st.booleans()),
    )
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.tuples(st.just("all"), st.lists(inner, max_size=4)),
            st.tuples(st.just("any"), st.lists(inner, max_size=4)),
            st.tuples(
                st.just("least"),
                st.tuples(st.integers(0, 7), st.lists(st.tuples(inner, st.integers(1, 3)), max_size=5)),
            ),
        ),
        max_leaves=20,
    )


def build(circuit: Circuit, expression: Expression) -> int:
    match expression:
        case ("present", fault):
            return circuit.present(fault)
        case ("absent", fault):
            return circuit.absent(fault)
        case ("constant", value):
            return ALWAYS if value else NEVER
        case ("all", parts):
            return circuit.all_of(build(circuit, p) for p in parts)
        case ("any", parts):
            return circuit.any_of(build(circuit, p) for p in parts)
        case ("least", (bound, weighted)):
            return circuit.at_least(bound, [build(circuit, p) for p, _ in weighted], [w for _, w in weighted])
    raise AssertionError(expression)


def means(expression: Expression, leaf: Callable[[bool, Fault], bool]) -> bool:
    """Whether it holds; ``leaf`` says whether a fault that has to be present (or absent) is."""
    match expression:
        case ("present" | "absent" as kind, fault):
            return leaf(kind == "present", fault)
        case ("constant", value):
            return bool(value)
        case ("all", parts):
            return all(means(p, leaf) for p in parts)
        case ("any", parts):
            return any(means(p, leaf) for p in parts)
        case ("least", (bound, weighted)):
            return bool(sum(w for p, w in weighted if means(p, leaf)) >= bound)
    raise AssertionError(expression)
