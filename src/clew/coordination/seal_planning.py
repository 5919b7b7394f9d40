"""From the verdict of the analysis to seals: which inputs of which component are held back, and what waits for
them.

A seal is followed from where its stream enters the system to the first component for which order matters.  There
``worlds`` has the last word: of the ways to hold back the other inputs (not at all, until the partition that they
name is complete, or again for every partition), the first is taken under which partitions stay apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice, permutations, product

from clew.analysis.blazes import Dataflow, Label, Verdict
from clew.analysis.blazes.annotations import Behaviour
from clew.analysis.blazes.dataflow import Component, End, Ordering, Stream
from clew.analysis.blazes.remedies import Remedy, apply_remedy, find_remedies
from clew.analysis.blazes.seals import Lineage
from clew.analysis.blazes.verdict import label_sinks
from clew.bloom.ir.expressions import Join, Transform, collections_in
from clew.bloom.ir.program import BloomProgram, Op, Rule
from clew.bloom.ir.schema import Kind
from clew.bloom.ir.symbolic import Column
from clew.coordination.components import ClassProgram, input_of
from clew.coordination.plans import Columns, Consumers, Read, SealedComponent, SealedInput, SealPlan, Source
from clew.coordination.quiescence import check_settling, pending_targets, settles_at_once
from clew.coordination.transport import check_transport
from clew.coordination.worlds import Entry, Refusal, Tags, check_worlds
from clew.errors import UsageError

#: By the name of an attribute at the source of a stream: its name here.
_Names = Mapping[str, str]
#: So many ways to hold back the inputs of a component are tried.
_MOST_TRIALS = 2000


def seal_plan(system: ClassProgram, verdict: Verdict, *, independent: bool = False) -> SealPlan:
    """Plan to hold back the streams that are sealed, or else those that the cheapest seals are recommended for."""
    sealed = _choose_seals(system, verdict)
    by_component: dict[str, list[SealedInput]] = {}
    for stream in sealed.sources:
        for key in stream.seals:
            component, one = _follow_seal(system, sealed, stream, tuple(sorted(key)))
            by_component.setdefault(component.name, []).append(one)
    _refuse_unheld_components(system, sealed, set(by_component))
    components = {c.name: c for c in sealed.components}
    parts = [seal_component(system, components[name], inputs) for name, inputs in by_component.items()]
    return SealPlan(tuple(parts), independent)


def refuse_what_needs_nothing(system: ClassProgram, verdict: Verdict) -> None:
    """Refuse to coordinate a class for which order does not matter."""
    if not verdict.worst.bad:
        raise UsageError(
            f"{system.name} needs no coordination", remedy="run it as it is; clew blazes shows why this is so"
        )


def import_name(system: ClassProgram, component: Component) -> str:
    """Return the name that a component is imported under; empty if it is the class itself."""
    return "" if component.name == system.name else component.name


# -- which seals -------------------------------------------------------------------------------------------------


def _choose_seals(system: ClassProgram, verdict: Verdict) -> Dataflow:
    """Return the dataflow with the streams sealed that are to be held back."""
    dataflow = verdict.dataflow
    declared = [s for s in dataflow.sources if s.seals]
    if not declared:
        return _apply_cheapest_seals(system, verdict)
    twice = next((s for s in declared if len(s.seals) > 1), None)
    if twice is not None:
        raise UsageError(
            f"{system.name}: more than one key is declared for {twice.name}",
            remedy="synthesize the coordination for one of them at a time",
        )
    # What users seal is not extended by seals of our choice: they know which streams end, and we do not.
    if verdict.worst.bad:
        seals = " and ".join(map(_describe_seal, declared))
        raise UsageError(
            f"{system.name}: with {seals} there is still {verdict.worst}",
            remedy="seal another stream or key, or use an order: --synthesize order",
        )
    return dataflow


def _apply_cheapest_seals(system: ClassProgram, verdict: Verdict) -> Dataflow:
    refuse_what_needs_nothing(system, verdict)
    labels = {sink.stream.name: sink.label for sink in verdict.sinks}
    found_for = {sink.stream.name: _select_seals(sink.remedies) for sink in verdict.sinks}
    trials = islice(_try_seals(verdict.dataflow, labels, found_for.__getitem__), _MOST_TRIALS)
    found = next((dataflow for dataflow in trials if dataflow is not None), None)
    if found is not None:
        return found
    unhelped = next((s for s in verdict.sinks if s.label.bad and not _select_seals(s.remedies)), None)
    if unhelped is not None:
        message, left = f"no seal helps {unhelped.stream.name}", unhelped.remedies
    else:
        names = " and ".join(s.stream.name for s in verdict.sinks if s.label.bad)
        message = f"{names} need seals of one stream on different keys"
        left = tuple(r for s in verdict.sinks for r in s.remedies)
    orders = any(r.ordering is Ordering.DYNAMIC for r in left)
    raise UsageError(
        f"{system.name}: {message}",
        remedy="use an order: --synthesize order" if orders else "order the inputs, the same in every run",
    )


def _try_seals(
    dataflow: Dataflow, labels: Mapping[str, Label], remedies_of: Callable[[str], Sequence[Remedy]]
) -> Iterator[Dataflow | None]:
    """Yield the dataflow with seals after which no sink is bad, the cheapest first; None for each dead end.

    Each sink may need a seal of its own, so the worst one is helped first, and then what is left.  A dead end is
    yielded so that the caller can bound the number of trials, not only that of results.
    """
    worst = max(labels, key=lambda sink: labels[sink].severity)
    if not labels[worst].bad:
        yield dataflow
        return
    sealed = {s.name for s in dataflow.sources if s.seals}
    for remedy in remedies_of(worst):
        if sealed.isdisjoint(one.stream for one in remedy.seals):
            after = apply_remedy(dataflow, remedy)
            # Labels suffice here: a whole verdict would look for remedies of every sink, most of which are fine.
            yield from _try_seals(after, label_sinks(after), partial(_find_seals, after))
    yield None


def _find_seals(dataflow: Dataflow, sink: str) -> tuple[Remedy, ...]:
    return _select_seals(find_remedies(dataflow, sink))


def _select_seals(found: Sequence[Remedy]) -> tuple[Remedy, ...]:
    """Return the remedies that seal streams on attributes which these are known to have."""
    return tuple(r for r in found if r.seals and not r.supposed)


def _describe_seal(stream: Stream) -> str:
    return f"{stream.name} sealed on {','.join(sorted(stream.seals[0]))}"


# -- where they arrive -------------------------------------------------------------------------------------------


def _follow_seal(
    system: ClassProgram, dataflow: Dataflow, stream: Stream, key: Columns
) -> tuple[Component, SealedInput]:
    """Return the first component on the way of the stream for which order matters, and its input."""
    components = {c.name: c for c in dataflow.components}
    # Breadth first, so that a seal is held at the nearest component for
    # which order matters: behind it, the stream is
    # not sealed any more.
    pending: list[tuple[End, dict[str, str]]] = [(_target(stream), {a: a for a in key})]
    seen: list[End] = []
    while pending:
        end, names = pending.pop(0)
        if end in seen:
            continue
        seen.append(end)
        component = components[end.component]
        if any(p.annotation.behaviour.ordered for p in component.paths):
            source = None
            if import_name(system, component):
                input_of(system.cls, stream.name)
                check_transport(system.program, stream.name, f"{component.name}.{end.interface}")
                source = Source(stream.name, key, _find_consumers(system.program, stream.name))
            return component, SealedInput(end.interface, tuple(names[attribute] for attribute in key), source)
        for path in component.paths:
            behind = _rename_key(names, path.lineage) if path.source == end.interface else None
            out = End(component.name, path.target)
            if behind is not None:
                pending += [(_target(s), behind) for s in dataflow.streams if s.source == out and s.target]
    raise UsageError(
        f"{system.name}: the key of {stream.name} is lost before it comes to a component for which order matters",
        remedy="seal another stream, or use an order: --synthesize order",
    )


def _target(stream: Stream) -> End:
    assert stream.target is not None
    return stream.target


def _rename_key(names: _Names, lineage: Lineage) -> dict[str, str] | None:
    """Return the names of the key behind a path; None if it is lost there."""
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


def _refuse_unheld_components(system: ClassProgram, dataflow: Dataflow, held: set[str]) -> None:
    """Refuse a component for which order matters, and where nothing is held back."""
    # Being held back before an earlier component does not help: what that one lets out is not sealed any more.
    for component in dataflow.components:
        if component.name not in held and any(p.annotation.behaviour.ordered for p in component.paths):
            raise UsageError(
                f"{system.name}: order matters for {component.name}, too, and nothing is held back there",
                remedy=f"seal what goes to {component.name}, or use an order: --synthesize order",
            )


# -- how the others wait -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Trial:
    """One way to hold back the inputs of a component."""

    groups: tuple[tuple[SealedInput, ...], ...]
    reads: tuple[Read, ...]


def seal_component(
    system: ClassProgram, component: Component, inputs: Sequence[SealedInput]
) -> SealedComponent:
    """Plan to hold back inputs of a component; refuse one in which partitions do not stay apart."""
    name = import_name(system, component)
    module = system.component(name)
    program = module.program
    fed = {path.source for path in component.paths}  # what streams lead to, be it an interface or not
    written = [c.name for c in program.collections if c.name.replace(".", "_") in fed]
    refusals: list[tuple[_Trial, Refusal]] = []
    for trial in islice(_trials(component, module, inputs), _MOST_TRIALS):
        try:
            apart = check_worlds(program, _entries(module, trial), written)
        except Refusal as refusal:
            refusals.append((trial, refusal))
            continue
        # What is loose goes on whatever is let in, so that waiting for it to settle would be waiting for others.
        rules = [rule for rule in program.rules if rule.target in apart]
        check_settling(module.name, program, rules)
        one_by_one = _rows_replace_rows(program, component, inputs)
        # Rows that are let in one by one follow each other through what is
        # stored, so there is always a step to wait for.
        at_once = settles_at_once(program, rules) and not one_by_one
        watched = None if at_once else pending_targets(rules)
        return SealedComponent(name, trial.groups, trial.reads, one_by_one, watched)
    # Of many refusals, the one for the trial that the user most likely meant says what to change.
    raise _explain_refusal(module, inputs, *max(refusals, key=lambda r: _likelihood(module, r[0])))


def _trials(component: Component, module: ClassProgram, inputs: Sequence[SealedInput]) -> Iterator[_Trial]:
    """Yield ways to hold back inputs, those that wait the least first."""
    sensitive = {p.source for p in component.paths if p.annotation.behaviour.ordered}
    sealed = {one.interface for one in inputs}
    others = [c.name for c in module.program.collections if c.kind is Kind.INPUT and c.name not in sealed]
    for groups in _group_inputs(inputs):
        ways = [list(_ways_to_wait(module, name, groups, free=name not in sensitive)) for name in others]
        for chosen in product(*ways):
            yield _Trial(groups, tuple(read for read in chosen if read is not None))


def _likelihood(module: ClassProgram, trial: _Trial) -> tuple[int, int]:
    """Return how likely it is that a trial is what the user has in mind: keys are known by their names."""
    likely = 0
    for read in trial.reads:
        columns = set(input_of(module.cls, read.interface).schema.columns)
        named = [one.key for group in trial.groups for one in group if set(one.key) <= columns]
        # A column with the name of the key most likely is the key; where no
        # input has one, the request is about all.
        likely += read.key in named if named else not read.key
    return len(trial.reads), likely


def _group_inputs(inputs: Sequence[SealedInput]) -> Iterator[tuple[tuple[SealedInput, ...], ...]]:
    """Yield the inputs each on its own; then all with their partitions in common.

    Columns of keys are matched in any order: the key of a seal is a set, so nothing says which belong together.
    """
    yield tuple((one,) for one in inputs)
    if len(inputs) > 1 and len({len(one.key) for one in inputs}) == 1:
        first = inputs[0]
        for keys in product(*(permutations(one.key) for one in inputs[1:])):
            rest = [SealedInput(o.interface, key, o.source) for o, key in zip(inputs[1:], keys, strict=True)]
            if all(o.source is None or o.key == r.key for o, r in zip(inputs[1:], rest, strict=True)):
                yield ((first, *rest),)


def _ways_to_wait(
    module: ClassProgram, name: str, groups: Sequence[Sequence[SealedInput]], *, free: bool
) -> Iterator[Read | None]:
    """Yield what may be done with another input.

    ``free``: order does not matter for it, so maybe it need not wait.
    """
    if free:
        yield None
    columns = input_of(module.cls, name).schema.columns
    for number, group in enumerate(groups):
        named = [one.key for one in group if set(one.key) <= set(columns)]
        unnamed = permutations(columns, len(group[0].key))
        for key in dict.fromkeys([*named, *unnamed]):
            yield Read(name, key, number)
    yield Read(name)


def _entries(module: ClassProgram, trial: _Trial) -> dict[str, Entry]:
    found: dict[str, Entry] = {}
    for number, group in enumerate(trial.groups):
        for one in group:
            columns = input_of(module.cls, one.interface).schema.columns
            tags = {columns.index(c): frozenset({(f"group {number}", k)}) for k, c in enumerate(one.key)}
            home: Tags = frozenset((f"group {number}", k) for k in range(len(one.key)))
            found[one.interface] = Entry(tags, home, home)
    for read in trial.reads:
        schema = input_of(module.cls, read.interface).schema
        own: Tags = frozenset((read.interface, k) for k in range(len(schema.keys)))
        by_column = {k: frozenset({(read.interface, k)}) for k in range(len(schema.keys))}
        home = own
        for k, column in enumerate(read.key):
            tag = (f"group {read.group}", k)
            at = schema.index(column)
            by_column[at] = by_column.get(at, frozenset()) | {tag}
            home |= {tag}
        # The columns of a request identify it: two requests that are equal are one row.
        found[read.interface] = Entry(by_column, home, own, repeated=not read.key)
    return found


def _rows_replace_rows(program: BloomProgram, component: Component, inputs: Sequence[SealedInput]) -> bool:
    """Tell whether rows of a partition can replace each other in what is stored."""
    sealed = {one.interface for one in inputs}
    # Only where order matters for what is stored (OW) does it matter which row of a partition is the last.
    writes = any(p.source in sealed and p.annotation.behaviour is Behaviour.OW for p in component.paths)
    reached = set(sealed)
    while more := {r.target for r in program.rules if reached & set(collections_in(r.expr))} - reached:
        reached |= more
    tables = [c for c in program.collections if c.kind is Kind.TABLE and c.name in reached]
    deleted = {r.target for r in program.rules if r.op is Op.DELETE}
    return writes and any(t.schema.values or t.name in deleted for t in tables)


def _explain_refusal(
    module: ClassProgram, inputs: Sequence[SealedInput], trial: _Trial, refusal: Refusal
) -> UsageError:
    """Return the error for a component for which no way to hold inputs back was found."""
    key = ", ".join(inputs[0].key)
    unnamed = next((read.interface for read in trial.reads if not read.key), None)
    reason, remedy = refusal.reason, "seal another stream or key, or use an order: --synthesize order"
    if refusal.absence and unnamed is not None:
        reason = f"'{unnamed}' does not say which partition it is about, and {refusal.rule}"
        reason += " looks at what is absent"
        remedy = f"give '{unnamed}' the columns {key}, or use an order: --synthesize order"
    return UsageError(f"{module.name}: {reason}", position=refusal.rule.position, remedy=remedy)


# -- where it goes -----------------------------------------------------------------------------------------------


def _find_consumers(program: BloomProgram, stream: str) -> Consumers | None:
    """Return the table that says where rows of the stream are sent, if rules do so in one way only."""
    found = [c for rule in program.rules if rule.op is Op.SEND and (c := _find_destination(program, rule, stream))]
    return found[0] if len(set(found)) == 1 else None


def _find_destination(program: BloomProgram, rule: Rule, stream: str) -> Consumers | None:
    if not isinstance(rule.expr, Transform) or not isinstance(rule.expr.source, Join):
        return None
    sources = [getattr(source, "collection", "") for source in rule.expr.source.sources]
    schema = program.by_name[rule.target].schema
    paths = rule.expr.function.paths or ()
    # Only the plain idiom ``chan <~ (stream * table).pairs(...)`` is
    # understood; for any other the user fills in a table.
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
