"""Laws that hold for every dataflow, on generated ones."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from clew.analysis.calm.analysis import Analysis, analyse_dataflow
from clew.analysis.calm.dataflow.graph import Combination, Dataflow, Edge, Leaf, Node, NodeKind, Reading, Statement

KINDS = [NodeKind.INPUT, NodeKind.CHANNEL, NodeKind.TABLE, NodeKind.SCRATCH, NodeKind.OUTPUT]


@st.composite
def dataflows(draw: st.DrawFn) -> Dataflow:
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=2, max_size=6))
    nodes = [Node(f"n{k}", kind) for k, kind in enumerate(kinds)]
    targets = [n for n in nodes if n.kind is not NodeKind.INPUT]
    statements: list[Statement] = []
    edges: list[Edge] = []
    for number in range(draw(st.integers(0, 7)) if targets else 0):
        target = draw(st.sampled_from(targets))
        read = draw(st.lists(st.sampled_from([n.name for n in nodes]), min_size=1, max_size=2, unique=True))
        reading: Reading = Leaf(read[0]) if len(read) == 1 else Combination(tuple(map(Leaf, read)))
        sends = target.kind is NodeKind.CHANNEL
        statements.append(Statement(target.name, f"rule {number}", "", reading, sends))
        temporal = draw(st.booleans()) and not sends
        edges += [
            Edge(n, target.name, number, sends, temporal, draw(st.sampled_from(["", "", "notin"]))) for n in read
        ]
    return Dataflow("generated", tuple(nodes), tuple(statements), tuple(edges))


def _labels(analysis: Analysis) -> dict[str, str]:
    return {output.name: output.label.value for output in analysis.outputs}


@given(dataflows(), st.data())
def test_one_edge_less_that_is_not_monotone_breaks_no_output(flow: Dataflow, data: st.DataObject) -> None:
    marked = [k for k, edge in enumerate(flow.edges) if edge.reason]
    if not marked:
        return
    chosen = data.draw(st.sampled_from(marked))
    edges = tuple(replace(e, reason="") if k == chosen else e for k, e in enumerate(flow.edges))
    before, after = analyse_dataflow(flow), analyse_dataflow(replace(flow, edges=edges))
    broken = {o.name for o in after.outputs if not o.label.consistent}
    assert broken <= {o.name for o in before.outputs if not o.label.consistent}


@given(dataflows(), st.randoms(use_true_random=False))
def test_labels_do_not_depend_on_the_order_of_rules(flow: Dataflow, random: Random) -> None:
    order = list(range(len(flow.statements)))
    random.shuffle(order)
    new = {old: k for k, old in enumerate(order)}
    edges = sorted((replace(e, statement=new[e.statement]) for e in flow.edges), key=lambda e: e.statement)
    shuffled = replace(flow, statements=tuple(flow.statements[k] for k in order), edges=tuple(edges))
    assert _labels(analyse_dataflow(shuffled)) == _labels(analyse_dataflow(flow))


@given(dataflows())
def test_labels_do_not_depend_on_names(flow: Dataflow) -> None:
    def named(name: str) -> str:
        return f"z{9 - int(name[1:])}"

    def read(reading: Reading | None) -> Reading | None:
        match reading:
            case Leaf(node):
                return Leaf(named(node))
            case Combination(sides):
                return Combination(tuple(s for s in map(read, sides) if s is not None))
        return None

    renamed = Dataflow(
        flow.name,
        tuple(replace(n, name=named(n.name)) for n in flow.nodes),
        tuple(replace(s, target=named(s.target), reading=read(s.reading)) for s in flow.statements),
        tuple(replace(e, source=named(e.source), target=named(e.target)) for e in flow.edges),
    )
    labels = _labels(analyse_dataflow(flow))
    assert _labels(analyse_dataflow(renamed)) == {named(n): label for n, label in labels.items()}


@given(dataflows())
def test_what_diverges_has_a_point_of_order(flow: Dataflow) -> None:
    for output in analyse_dataflow(flow).outputs:
        assert output.label.value != "D" or output.points
        assert output.label.value not in ("M", "A") or all(way.label.consistent for way in output.ways)
