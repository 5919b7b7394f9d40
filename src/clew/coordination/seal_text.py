"""The classes that hold back sealed inputs, as text (thesis, section 4.4).

A component is wrapped by overriding its input interfaces (section 3.3): who uses it meets the outer ones, and the
rules of the component see what the wrapper lets through.  A system that imports the component gets the wrapped one
under the same name, and the wires that the coordination needs.

A component that always has settled gets a partition in the step in which it is complete.  Any other is let alone
until it has settled: then ``Admission`` lets in the partitions that are complete, or the requests that wait.
"""

from __future__ import annotations

from clew.bloom.language.module import Module
from clew.coordination.components import component_of
from clew.coordination.plans import Read, SealedComponent, SealedInput, SealPlan, Source
from clew.coordination.text import (
    ClassText,
    block_text,
    by_partition,
    class_name,
    content,
    input_text,
    join_names,
    quote,
    rule_text,
    tuple_text,
    watch_rules,
)

_PUNCTUATION = 'interface.input("partition", "producer", val=["cnt"])'
_GROUP = tuple[SealedInput, ...]


def seal_says(cls: type[Module], plan: SealPlan) -> list[str]:
    """Return what there is to say about the coordinated program."""
    waiting = [(_at(part, one), one) for part in plan.components for one in part.inputs]
    says = [
        f"{cls.__name__} in which ``{at}`` waits until all rows with the same {join_names(one.key)} are there."
        for at, one in waiting
    ]
    for part in plan.components:
        groups = [group for group in part.groups if len(group) > 1]
        names = [join_names([_at(part, one) for one in group]) for group in groups]
        says += [f"A partition is let in when it is complete at {inputs}." for inputs in names]
    says.append("")
    for at, one in waiting:
        if one.source is None:
            says.append(f"``{one.interface}_punctuation`` gets the punctuations of producers (``Sealer``).")
        else:
            stream = one.source.stream
            says.append(f"``{stream}_ended`` of a producer gets a partition that nothing more comes for.")
            if one.source.consumers is None:
                says.append(f"``{stream}_consumers`` of a producer has the addresses that its rows go to.")
        if not plan.independent:
            says.append(f"``{at}_seals.producers`` of a consumer has rows (partition, address of a producer).")
    return says


def _at(part: SealedComponent, one: SealedInput) -> str:
    return f"{part.component}.{one.interface}" if part.component else one.interface


def seal_classes(cls: type[Module], plan: SealPlan) -> list[ClassText]:
    """Return the wrapped components, and the system that imports them."""
    wrapped: list[ClassText] = []
    for part in plan.components:
        module = component_of(cls, part.component)
        name = class_name("Sealed", module, part.component, [made.name for made in wrapped])
        wrapped.append(_component(name, module, part, plan))
    inside = [part for part in plan.components if part.component]
    # A class that imports nothing is the component itself: there is no system around it to be written.
    if not inside:
        return wrapped
    declarations, blocks, uses = [f"coordination = system({cls.__name__})"], [], {"system"}
    for part, made in zip(plan.components, wrapped, strict=True):
        declarations.append(f"{part.component} = imported({made.name})")
        for one in part.inputs:
            if one.source is not None:
                uses.add("Sealer")
                declarations += _producer_declarations(one.source)
                blocks.append(_producer_block(cls, part, one, one.source))
    places = [f"{made.name} in the place of {made.base.__name__}" for made in wrapped]
    whole = ClassText(
        f"Sealed{cls.__name__}",
        cls,
        f"With {join_names(places)}.",
        tuple(declarations),
        tuple(blocks),
        frozenset(uses),
    )
    return [*wrapped, whole]


# -- a component -------------------------------------------------------------------------------------------------


def _component(name: str, cls: type[Module], part: SealedComponent, plan: SealPlan) -> ClassText:
    seals = "IndependentSeals" if plan.independent else "VotedSeals"
    uses = {"sealed", seals}
    keys = ", ".join(f'"{one.interface}": [{quote(one.key)}]' for one in part.inputs)
    reads = f", reads=[{quote(read.interface for read in part.reads)}]" if part.reads else ""
    declarations = [f"coordination = sealed({cls.__name__}, {{{keys}}}{reads})"]
    for one in part.inputs:
        declarations += [
            f"{one.interface} = {input_text(cls, one.interface)}",
            f"{one.interface}_punctuation = {_PUNCTUATION}",
            f"{one.interface}_seals = imported({seals})",
        ]
    if part.one_by_one:
        uses.add("OneByOne")
        declarations += [f"{_name(group)}_turns = imported(OneByOne)" for group in part.groups]
    for read in part.reads:
        waits = "ReadsOfPartition" if read.key else "ReadsOfAll"
        uses.add(waits)
        declarations += [f"{read.interface} = {input_text(cls, read.interface)}"]
        declarations += [f"{read.interface}_reads = imported({waits})"]
    blocks = [_hold_block(cls, part, group) for group in part.groups]
    blocks += [_read_block(cls, part, read) for read in part.reads]
    # Requests wait until the partition has settled, not only until it was let in: its consequences may take steps.
    if part.watched is not None:
        uses |= {"Settling", "Admission"} | ({"pending_changes"} if part.watched else set())
        declarations += ["settling = imported(Settling)", "admission = imported(Admission)"]
        blocks += [_watch_block(part, part.watched), _admit_block(part)]
    held = [*(one.interface for one in part.inputs), *(read.interface for read in part.reads)]
    return ClassText(
        name,
        cls,
        f"Holds back {join_names(held)}.",
        tuple(declarations),
        tuple(blocks),
        frozenset(uses),
    )


def _name(group: _GROUP) -> str:
    """Return the name of a group: that of its first input."""
    return group[0].interface


def _hold_block(cls: type[Module], part: SealedComponent, group: _GROUP) -> str:
    rules = []
    for one in group:
        name = one.interface
        rules += [
            rule_text(f"self.{name}_seals.row <=", f"self.{name}", by_partition(cls, name, one.key)),
            f"self.{name}_seals.punctuation <= self.{name}_punctuation",
        ]
        rules += [
            f"self.{name}_seals.wait <= self.{name}_seals.complete.notin(self.{other.interface}_seals.complete)"
            for other in group
            if other is not one
        ]
    if part.one_by_one:
        return block_text(f"hold_{_name(group)}", [*rules, *_turn_rules(group)])
    # ``<+``: the whole partition is there in the next step, at once, and none of it in this one.
    rules += [f"self.{one.interface} <+ self.{one.interface}_seals.released(lambda r: r.content)" for one in group]
    return block_text(f"hold_{_name(group)}", rules)


def _turn_rules(group: _GROUP) -> list[str]:
    """Return the rules by which rows take turns; those of several inputs with the name of the input in front."""
    turns = f"self.{_name(group)}_turns"
    rules = [f"{turns}.complete <= self.{_name(group)}_seals.opened", f"{turns}.wait <= self.settling.busy"]
    if len(group) == 1:
        name = group[0].interface
        return [
            f"{turns}.row <= self.{name}_seals.released",
            *rules,
            f"self.{name} <+ {turns}.released(lambda r: r.content)",
        ]
    for one in group:
        name = one.interface
        rules += [
            rule_text(
                f"{turns}.row <=",
                f"self.{name}_seals.released",
                f'lambda r: (r.partition, ("{name}", r.content))',
            ),
            rule_text(
                f"self.{name} <+",
                f'{turns}.released.filter(lambda r: r.content[0] == "{name}")',
                "lambda r: r.content[1]",
            ),
        ]
    return rules


def _read_block(cls: type[Module], part: SealedComponent, read: Read) -> str:
    name = read.interface
    function = by_partition(cls, name, read.key) if read.key else f"lambda r: ({content(cls, name)},)"
    rules = [rule_text(f"self.{name}_reads.read <=", f"self.{name}", function)]
    groups = [part.groups[read.group]] if read.key else part.groups
    for group in groups:
        opened = f"self.{_name(group)}_seals.opened"
        if part.watched is not None:
            opened = f'self.admission.settled.filter(lambda s: s.stream == "{_name(group)}").project("partition")'
        rules.append(f"self.{name}_reads.opened <= {opened}")
    if part.watched is not None:
        rules.append(f"self.{name}_reads.wait <= self.admission.closed")
    rules.append(f"self.{name} <+ self.{name}_reads.due(lambda d: d.content)")
    return block_text(f"hold_{name}", rules)


def _watch_block(part: SealedComponent, watched: tuple[str, ...]) -> str:
    rules = watch_rules("settling", watched)
    for group in part.groups:
        let_in = [f"{_name(group)}_turns"] if part.one_by_one else [f"{one.interface}_seals" for one in group]
        rules += [f'self.settling.admitted <= self.{name}.released(lambda r: ("rows",))' for name in let_in]
        if part.one_by_one:
            working = f"self.{_name(group)}_turns.working"
            rules.append(f'self.admission.busy <= {working}(lambda w: ("one by one",))')
    rules += [
        f'self.settling.admitted <= self.{read.interface}_reads.due(lambda d: ("requests",))'
        for read in part.reads
    ]
    return block_text("watch", [*rules, "self.admission.busy <= self.settling.busy"])


def _admit_block(part: SealedComponent) -> str:
    rules = []
    for group in part.groups:
        name = _name(group)
        complete = f"self.{name}_seals.complete"
        for other in group[1:]:
            complete = f'({complete} * self.{other.interface}_seals.complete).lefts(partition="partition")'
        last = "turns" if part.one_by_one else "seals"
        rules += [
            rule_text("self.admission.complete <=", complete, f'lambda c: ("{name}", c.partition)'),
            rule_text(
                "self.admission.entered <=", f"self.{name}_{last}.opened", f'lambda o: ("{name}", o.partition)'
            ),
        ]
        full = f'self.admission.full.filter(lambda f: f.stream == "{name}").project("partition")'
        rules += [f"self.{one.interface}_seals.wait <= {full}" for one in group]
    rules += [f"self.admission.ready <= self.{read.interface}_reads.ready" for read in part.reads]
    return block_text("admit", rules)


# -- producers ---------------------------------------------------------------------------------------------------


def _producer_declarations(source: Source) -> list[str]:
    name = source.stream
    declarations = [
        f"{name}_ended = interface.input({quote(source.key)})",
        f"{name}_sealer = imported(Sealer)",
        f'{name}_punctuation = channel("@consumer", "partition", "producer", val=["cnt"])',
    ]
    return declarations if source.consumers else [*declarations, f'{name}_consumers = table("node")']


def _producer_block(cls: type[Module], part: SealedComponent, one: SealedInput, source: Source) -> str:
    name = source.stream
    table, column = f"{name}_consumers", "node"
    if source.consumers is not None:
        table, column = source.consumers.table, source.consumers.column
    ended = tuple_text(f"e.{column}" for column in source.key)
    rules = [
        rule_text(f"self.{name}_sealer.produced <=", f"self.{name}", by_partition(cls, name, source.key)),
        f"self.{name}_sealer.ended <= self.{name}_ended(lambda e: ({ended},))",
        rule_text(
            f"self.{name}_punctuation <~",
            f"(self.{name}_sealer.punctuation * self.{table}).pairs",
            f"lambda p, n: (n.{column}, p.partition, p.producer, p.cnt)",
        ),
        f"self.{part.component}.{one.interface}_punctuation <= self.{name}_punctuation.payloads()",
    ]
    return block_text(f"seal_{name}", rules)
