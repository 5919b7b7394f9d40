"""Whether sealed partitions stay apart inside a component: the proof that a synthesized seal rests on.

The rows of a partition enter a component in one step.  If they meet only rows of the same partition from then on,
each partition has a *world* of its own, which evolves in the same way whenever it is let in and whatever happens
in others.  So what comes out of all worlds together is one set of rows, in every order of messages.  The same
holds for requests: each is a world of its own, within the world of the partition that it asks about.

A column is *tagged* if it always holds a part of what identifies the world of its row.  Tags are followed by
identity, and each rule is held to one of these laws:

- rows that are joined, or looked up with ``notin``, agree in the tags that both sides have;
- groups are within a world: the columns that identify it are among those that are grouped by;
- deletions and key conflicts are within a world, in the same way;
- what has lost its tags, or comes at any time, is *loose*: it is only passed on, stored and joined with what
  stays, which is confluent (the CALM theorem, section 3.2 of the thesis).

Where none of them holds, there is no seal: ``Refusal`` says which rule is to blame.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from clew.bloom.ir.expressions import (
    AnyExpr,
    Elements,
    Expr,
    Extreme,
    Group,
    Join,
    NotIn,
    Project,
    Reduce,
    Ref,
    Rename,
    Role,
    Rows,
    Take,
    Transform,
    WhenTrue,
    collections_in,
)
from clew.bloom.ir.program import BloomProgram, Op, Rule
from clew.bloom.ir.schema import Collection, Kind
from clew.bloom.ir.symbolic import Column
from clew.coordination.quiescence import pulses

#: A part of what identifies a world: of a group of sealed inputs, or of an input with requests; and its number.
Tag = tuple[str, int]
Tags = frozenset[Tag]
_NONE: Tags = frozenset()


@dataclass(frozen=True)
class Entry:
    """How rows enter at an input: ``tags`` of its columns by number, and the tags that identify their world.

    ``repeated``: a request that enters again for every partition.  ``home``: all tags of the world and of those
    that it is in; ``identity``: as many of them as tell it from others.
    """

    tags: Mapping[int, Tags]
    home: Tags
    identity: Tags
    repeated: bool = False


@dataclass(frozen=True)
class Flow:
    """What is known about rows.  ``home`` is None for loose rows, and empty for what is the same in all runs.

    ``lasting``: no row goes away again.  ``early``: constant, but not there from the first step on.  ``asked``:
    belongs to a request about all partitions.  ``passing``: nothing is left when the component has settled.
    """

    columns: tuple[Tags, ...]
    home: Tags | None = _NONE
    identity: Tags = _NONE
    lasting: bool = False
    early: bool = False
    asked: bool = False
    passing: bool = False

    @property
    def fixed(self) -> bool:
        return self.home is not None and not self.home

    @property
    def loose(self) -> bool:
        return self.home is None

    @property
    def tags(self) -> Tags:
        return frozenset().union(*self.columns) if self.columns else _NONE


class Refusal(Exception):  # noqa: N818  # an answer of the analysis, caught by who asked
    """Why a component cannot be sealed in some way.  ``absence``: a rule looks at what is not there."""

    def __init__(self, reason: str, rule: Rule, *, absence: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.rule = rule
        self.absence = absence


def check_worlds(
    program: BloomProgram, entries: Mapping[str, Entry], written: Iterable[str] = ()
) -> frozenset[str]:
    """Return the collections with worlds, or that are constant; raise ``Refusal`` if worlds do not stay apart.

    ``written``: collections that others write to besides, at any time.
    """
    return _Worlds(program, entries, frozenset(written)).check()


class _Worlds:
    def __init__(self, program: BloomProgram, entries: Mapping[str, Entry], written: frozenset[str]) -> None:
        self._program = program
        self._entries = entries
        self._written = written
        self._deleted = {rule.target for rule in program.rules if rule.op is Op.DELETE}
        self._read = {name for rule in program.rules for name in collections_in(rule.expr)}
        self._pulses = pulses(program)
        self._rules: dict[str, list[Rule]] = {}
        for rule in program.rules:
            if rule.op is not Op.DELETE:
                self._rules.setdefault(rule.target, []).append(rule)
        self._flows: dict[str, Flow | None] = {c.name: self._source(c) for c in program.collections}

    # -- the flow of every collection ----------------------------------------------------------------------------

    def check(self) -> frozenset[str]:
        # A collection starts without rows, and rules that add some only take tags away, so that this ends.  The
        # laws are enforced on the result alone: a rule that keeps them halfway may break them with fewer tags.
        while self._improve():
            pass
        for rule in self._program.rules:
            flow = self._of(rule, strict=True)
            if flow is not None:
                self._check_target(rule, flow)
        return frozenset(name for name, flow in self._flows.items() if flow is None or not flow.loose)

    def _source(self, collection: Collection) -> Flow | None:
        name, width = collection.name, len(collection.schema.columns)
        entry = self._entries.get(name)
        if entry is not None:
            columns = tuple(entry.tags.get(k, _NONE) for k in range(width))
            return Flow(columns, entry.home, entry.identity, asked=entry.repeated, passing=True)
        untagged = (_NONE,) * width
        if collection.kind.arrives or collection.kind is Kind.INPUT or name in self._written:
            # Of what has rows, only a table keeps them, and only if no rule deletes from it.
            lasting = collection.kind is Kind.TABLE and name not in self._deleted
            return Flow(untagged, None, lasting=lasting)
        if name not in self._rules:
            return Flow(untagged, lasting=True)  # given before, or always empty
        return None

    def _improve(self) -> bool:
        changed = False
        for collection in self._program.collections:
            name, known = collection.name, self._flows[collection.name]
            if collection.kind.arrives or name in self._entries or collection.kind is Kind.INPUT:
                continue  # what rules send to it comes at any time
            for rule in self._rules.get(name, ()):
                found = self._of(rule, strict=False)
                if found is not None:
                    known = self._add_rows(collection, rule, found, known)
            if known != self._flows[name]:
                self._flows[name] = known
                changed = True
        return changed

    def _add_rows(self, collection: Collection, rule: Rule, found: Flow, known: Flow | None) -> Flow:
        """Return the flow of a collection that rows are added to."""
        lasting = collection.kind is Kind.TABLE and collection.name not in self._deleted
        # ``<+`` of constants: the rows are missing in the first step, and a
        # row that comes then would not find them.
        early = found.early or (found.fixed and rule.op is Op.NEXT)
        flow = replace(found, lasting=lasting, early=early, passing=collection.name in self._pulses)
        if known is not None:
            flow = _merge(known, flow)
        if not flow.loose and not flow.identity <= flow.tags:
            flow = _loosen(flow)  # the worlds of its rows are not known any more
        return flow

    def _of(self, rule: Rule, *, strict: bool) -> Flow | None:
        return _Expression(rule, self._flows, strict=strict).flow(rule.expr)

    # -- what is done to a collection ----------------------------------------------------------------------------

    def _check_target(self, rule: Rule, flow: Flow) -> None:
        target = self._program.by_name[rule.target]
        known = self._flows[target.name]
        if rule.op is Op.DELETE:
            self._check_deletion(rule, flow, known)
        # A request about all partitions enters once for each; what it stored would be seen by the next repetition.
        elif flow.asked and target.name in self._read and target.name not in self._pulses:
            raise Refusal(f"{rule} stores requests that are made again for every partition", rule)
        # What leaves the node is stored by others, under keys that are not ours to prove anything about.
        sent_away = target.kind.arrives or target.name not in self._flows
        if target.schema.values and not sent_away and rule.op is not Op.DELETE:
            self._check_key(rule, target, flow, known)

    def _check_deletion(self, rule: Rule, flow: Flow, known: Flow | None) -> None:
        if known is None or (flow.fixed and known.fixed):
            return
        if known.loose or flow.loose or flow.home != known.home or flow.asked:
            raise Refusal(f"{rule} deletes rows that do not belong to its partition alone", rule)
        # A deletion takes whole rows, so that columns are compared position by position.
        shared = frozenset().union(*(a & b for a, b in zip(flow.columns, known.columns, strict=False)))
        if not known.identity <= shared:
            raise Refusal(f"{rule} deletes rows of other partitions", rule)

    def _check_key(self, rule: Rule, target: Collection, flow: Flow, known: Flow | None) -> None:
        """Refuse rows of different worlds with one key, which would be in conflict."""
        merged = flow if known is None else _merge(known, flow)
        tagged = frozenset().union(*(merged.columns[: len(target.schema.keys)]))
        if merged.loose or not merged.identity <= tagged:
            raise Refusal(
                f"{rule} may put rows of different partitions under one key of '{target.name}'", rule
            )


def _merge(one: Flow, other: Flow) -> Flow:
    """Return what holds for rows of both."""
    columns = tuple(a & b for a, b in zip(one.columns, other.columns, strict=False))
    merged = Flow(
        columns,
        one.home,
        one.identity,
        lasting=one.lasting and other.lasting,
        early=one.early or other.early,
        asked=one.asked or other.asked,
        passing=one.passing and other.passing,
    )
    # Rows of two kinds of worlds in one collection: which world a row is of cannot be told from it any more.
    return merged if one.home == other.home else _loosen(merged)


def _loosen(flow: Flow) -> Flow:
    return replace(flow, columns=(_NONE,) * len(flow.columns), home=None, identity=_NONE)


# -- expressions -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Expression:
    """The flows of the expressions of a rule.  Unless ``strict``, what breaks the laws is loose."""

    rule: Rule
    flows: Mapping[str, Flow | None]
    strict: bool

    def flow(self, expr: AnyExpr) -> Flow | None:
        """Return the flow of an expression; None if it has no rows as far as is known."""
        match expr:
            case Ref(collection):
                return self.flows[collection]
            case Rows():
                return Flow((_NONE,) * len(expr.columns), lasting=True)
            case Transform():
                return self._transform(expr)
            case Project(source, kept):
                return self._select(source, kept)
            case Rename(source, columns):
                return self._select(source, range(len(columns)))
            case Join():
                return self._join(expr)
            case NotIn(source, absent, matches):
                return self._look_up(self.flow(source), self.flow(absent), matches)
            case Group(source, keys, aggregates):
                return self._group(self.flow(source), keys, len(aggregates))
            case Extreme(source, keys):
                found = self.flow(source)
                return found and self._within(found, keys)
            case Reduce(source):
                return self._constant(source, "folds rows", len(expr.columns))
            case Elements() | WhenTrue():
                return self._constant(expr, "reads a lattice", len(expr.columns))
        return self._constant(expr, "merges rows into a lattice", 1)

    def _refuse(self, what: str, flow: Flow, *, absence: bool = False) -> Flow:
        if self.strict:
            raise Refusal(f"{self.rule} {what}", self.rule, absence=absence)
        return _loosen(flow)

    def _constant(self, expr: AnyExpr, what: str, width: int) -> Flow:
        """Return the flow of what is only understood if it does not change."""
        found = [self.flows[name] for name in collections_in(expr)]
        result = Flow((_NONE,) * width)
        # Lattices and folds have no columns to follow, so there is nothing to tell worlds apart by.
        if any(flow is not None and not flow.fixed for flow in found):
            return self._refuse(f"{what}, and it is not known which of them belong together", result)
        return result

    # -- row by row ----------------------------------------------------------------------------------------------

    def _transform(self, expr: Transform) -> Flow | None:
        found, function = self.flow(expr.source), expr.function
        if found is None:
            return None
        # A look into another collection is not monotone, and its columns are not compared with anything.
        if function.reads:
            return self._refuse(f"has a function that looks into {', '.join(function.reads)}", found)
        if function.paths is None:
            width = len(expr.columns)
            untagged = replace(found, columns=(_NONE,) * width)
            return untagged if found.fixed else self._refuse("has a function that is not seen through", untagged)
        if function.role is Role.FILTER:
            return found
        starts = [0]
        for part in function.parts:
            starts.append(starts[-1] + len(part))
        columns: tuple[Tags, ...] | None = None
        for shape in (row for path in function.paths for row in path.rows):
            tags = tuple(_tags_in(scalar, found, starts) for scalar in shape) if isinstance(shape, tuple) else ()
            known = columns
            columns = tags if known is None else tuple(a & b for a, b in zip(known, tags, strict=False))
        width = len(expr.columns)
        # Paths may make rows of different widths; what is missing in one has no tags.
        padded = ((*(columns or ()), *((_NONE,) * width))[:width]) if width else (columns or ())
        return replace(found, columns=padded)

    def _select(self, source: Expr, kept: Iterable[int]) -> Flow | None:
        found = self.flow(source)
        if found is None:
            return None
        width = len(found.columns)
        return replace(found, columns=tuple(found.columns[k] if k < width else _NONE for k in kept))

    # -- where rows meet -----------------------------------------------------------------------------------------

    def _join(self, expr: Join) -> Flow | None:
        sides = [self.flow(source) for source in expr.sources]
        # None: the side has no rows as far as is known yet, so the join has none, in this round of the fixpoint.
        if any(side is None for side in sides):
            return sides[0] if expr.take is Take.OUTER else None
        known = [side for side in sides if side is not None]
        columns = [list(side.columns) for side in known]
        for m in expr.matches:  # equal columns hold the same part of a world
            both = columns[m.left_source][m.left] | columns[m.right_source][m.right]
            columns[m.left_source][m.left] = columns[m.right_source][m.right] = both
        result = known[0]
        for number, side in enumerate(known[1:], 1):
            agreed = frozenset().union(
                *(
                    known[m.left_source].columns[m.left] & known[m.right_source].columns[m.right]
                    for m in expr.matches
                    if number in (m.left_source, m.right_source) and max(m.left_source, m.right_source) <= number
                )
            )
            result = self._meet(result, side, agreed)
        if expr.take is Take.OUTER and not known[1].fixed:
            matched = [(m.left, m.right) for m in expr.matches]
            looked = self._look_up(known[0], known[1], matched)
            result = replace(result, lasting=False) if looked and not looked.loose else _loosen(result)
        chosen = {Take.LEFTS: columns[:1], Take.RIGHTS: columns[1:2]}.get(expr.take, columns)
        flat = tuple(tags for side_columns in chosen for tags in side_columns)
        if expr.take is Take.OUTER:  # None, where there is no match
            flat = (*known[0].columns, *((_NONE,) * len(known[1].columns)))
        return replace(result, columns=(_NONE,) * len(flat) if result.loose else flat)

    def _meet(self, one: Flow, other: Flow, agreed: Tags) -> Flow:
        """Return the flow of rows that are joined; ``agreed``: the tags that are equal on both sides."""
        both = replace(
            one,
            lasting=one.lasting and other.lasting,
            early=one.early or other.early,
            asked=one.asked or other.asked,
            passing=one.passing or other.passing,
        )
        if one.fixed or other.fixed:
            moving = other if one.fixed else one
            if moving.loose and not moving.lasting and both.early:
                return self._refuse("joins what comes at any time with what is not there from the start", both)
            return replace(both, home=moving.home, identity=moving.identity)
        # Two sides that stay find each other in the end, whatever comes first: even loose rows do (CALM).
        if one.lasting and other.lasting:
            stays = self._world_of_both(one, other, agreed)
            return _loosen(both) if stays is None else replace(both, home=stays[0], identity=stays[1])
        # Rows of one step meet a loose side or miss it, depending on when that came.
        if one.loose or other.loose:
            return self._refuse("joins rows that come at any time, and one side is not stored", both)
        found = self._world_of_both(one, other, agreed)
        if found is None:
            return self._refuse("joins rows of different partitions, and one side is not stored", both)
        self._refuse_gone(one, other)
        return replace(both, home=found[0], identity=found[1])

    def _world_of_both(self, one: Flow, other: Flow, agreed: Tags) -> tuple[Tags, Tags] | None:
        """Return the world that joined rows belong to; None if they can be of different ones."""
        if one.home is None or other.home is None or not (one.home & other.home) <= agreed:
            return None
        # The world of a request lies within that of its partition, so the inner one is where the rows belong.
        if one.home <= other.home:
            return other.home, other.identity
        if other.home <= one.home:
            return one.home, one.identity
        if one.asked != other.asked:  # a request about all partitions, and what it finds in one
            return one.home | other.home, one.identity | other.identity
        return None

    def _refuse_gone(self, one: Flow, other: Flow) -> None:
        """Refuse a join of a request with what is there for a step: it comes when the partition has settled."""
        for sealed, request in ((one, other), (other, one)):
            within = (request.asked and not sealed.asked) or (sealed.home or _NONE) < (request.home or _NONE)
            if self.strict and within and sealed.passing:
                raise Refusal(f"{self.rule} joins a request with rows that are gone when it is let in", self.rule)

    def _look_up(
        self, source: Flow | None, absent: Flow | None, matches: Iterable[tuple[int, int]]
    ) -> Flow | None:
        if source is None or absent is None:
            return source
        if absent.fixed:
            # A row that comes in the first step finds nothing yet, and is let through; later it would not be.
            if source.loose and absent.early:
                return self._refuse("looks up what is not there from the start", source, absence=True)
            return replace(source, lasting=source.lasting and absent.lasting)
        agreed = frozenset().union(*(source.columns[a] & absent.columns[b] for a, b in matches))
        if absent.loose or source.loose or not absent.home <= (source.home or _NONE):  # type: ignore[operator]
            return self._refuse("looks at what is absent, and that can still come", source, absence=True)
        if not (absent.home or _NONE) <= agreed:
            return self._refuse("looks at what is absent in other partitions", source, absence=True)
        self._refuse_gone(absent, source)
        return replace(source, lasting=False, asked=source.asked or absent.asked)

    def _group(self, source: Flow | None, keys: tuple[int, ...], aggregates: int) -> Flow | None:
        if source is None:
            return None
        found = self._within(source, keys)
        columns = (*(found.columns[k] for k in keys), *((_NONE,) * aggregates))
        return replace(found, columns=columns)

    def _within(self, source: Flow, keys: tuple[int, ...]) -> Flow:
        """Return the flow of what is computed from groups of rows."""
        if source.fixed:
            return replace(source, lasting=False)
        if source.loose:
            return self._refuse("compares or counts rows that come at any time", source)
        # Grouping by less than what identifies a world counts rows of
        # several, and that count changes as each is let in.
        if not source.identity <= frozenset().union(*(source.columns[k] for k in keys)):
            return self._refuse("compares or counts rows of different partitions", source)
        return replace(source, lasting=False)


def _tags_in(scalar: object, source: Flow, starts: list[int]) -> Tags:
    if not isinstance(scalar, Column):
        return _NONE
    number = starts[scalar.part] + scalar.index
    return source.columns[number] if number < len(source.columns) else _NONE
