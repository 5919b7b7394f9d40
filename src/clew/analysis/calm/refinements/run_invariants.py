"""Refinements that look at a run as a whole: what is not monotone in a step, and takes nothing back in the end.

An output is all that it ever showed, so it is no harm if a rule shows a row only once, or no longer.  Each of
these laws says which rows *ever* are in a collection, whatever the schedule is; in between, the rows come and
go.

*First time* (``reliable_broadcast.ReliableBroadcast``).  ``fresh <= heard.notin(known)`` and ``known <+ fresh``:
a row is held back only if it is in ``known``, and there are only rows that were in ``fresh``.  So the rows that
ever are in ``fresh`` are those that ever are in ``heard``.  All columns must be compared: with fewer, another
row with the same number would be held back.

*First step* (``idioms.FirstStep``).  ``first <= rows(...).notin(born)``, if only ``<+`` fills ``born``: in the
first step nothing is there yet, so all rows are let through then.

*Until it has arrived* (``broadcast.Acknowledged``).  ``owed <= wanted.notin(acked)`` and ``data <~ (owed *
timer)...``, where a row is in ``acked`` only if the very message has arrived (``provenance``): a row is sent in
the end, or the same message has arrived already.  Either way it is among the messages that ever arrive.

*Repetitions* (``kvs.KVSClient``, and listing 3.1 of the thesis in ``delivery.ReliableDelivery``).  ``chan <~
given``, ``buffer <= given`` and ``chan <~ (buffer * timer).lefts()``: what the last rule sends was sent before,
when it entered the buffer.  Where a buffer is read for nothing else, nobody can tell what is deleted from it, or
when.

*Answered* (listing 3.1).  ``done <= (answer * buffer).rights(...)`` and ``buffer <- done``, with repetitions: a
row stays in the buffer until it is in ``done``.  Its own message, sent when it entered, leads to an answer that
comes to this node and is equal in all columns that are compared; that answer comes later, and finds the row in
the buffer or was preceded by another one that did.  So the rows that ever are in ``done`` are those in the
buffer whose answer comes here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from clew.analysis.calm.refinements.projections import Copied, columns_in, substitute, trace_copy
from clew.analysis.calm.refinements.provenance import UNKNOWN, trace_provenance
from clew.bloom.ir.expressions import Join, NotIn, Ref, Take, collections_in
from clew.bloom.ir.program import BloomProgram, Op, Rule
from clew.bloom.ir.schema import Kind
from clew.bloom.ir.symbolic import Column, Here, Scalar


@dataclass(frozen=True)
class Refinements:
    """By rule number.  ``reasons``: why a read is monotone, though it does not look like it.

    ``passing``: its rows may be gone after a step, though what it reads is still there.  ``answered``: what it
    joins comes together under every schedule.  ``harmless``: nobody can tell what it deletes.
    """

    reasons: Mapping[tuple[int, str], str]
    passing: frozenset[int]
    answered: frozenset[int]
    harmless: frozenset[int]


def refine_over_runs(program: BloomProgram) -> Refinements:
    """Find the rules of a program that one of the laws above is about."""
    reasons: dict[tuple[int, str], str] = {}
    passing: set[int] = set()
    answered: set[int] = set()
    harmless: set[int] = set()
    for number, rule in enumerate(program.rules):
        said = _said_of_notin(rule, program)
        if said is not None:
            assert isinstance(rule.expr, NotIn)
            reasons.update(
                {(number, name): f"{said.why}, notin {name}" for name in collections_in(rule.expr.absent)}
            )
            passing |= {number} if said.passing else set()
        if rule.op is Op.DELETE:
            buffer = _read_buffer(rule.target, program)
            if buffer is not None:
                harmless.add(number)
                reasons.update(
                    {(number, n): f"deletes what is done with by {n}" for n in collections_in(rule.expr)}
                )
                answered |= {k for k, r in enumerate(program.rules) if r is buffer.answered}
    return Refinements(reasons, frozenset(passing), frozenset(answered), frozenset(harmless))


def _rules(program: BloomProgram, target: str, *ops: Op) -> list[Rule]:
    return [r for r in program.rules if r.target == target and (r.op in ops or not ops)]


def _readers(program: BloomProgram, collection: str) -> list[Rule]:
    return [r for r in program.rules if collection in collections_in(r.expr)]


# -- notin -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _NotIn:
    why: str
    passing: bool = True


def _said_of_notin(rule: Rule, program: BloomProgram) -> _NotIn | None:
    if rule.op is not Op.NOW:
        return None
    if _lets_through_once(rule, program):
        return _NotIn("the first time")
    if _is_first_step(rule, program):
        return _NotIn("in the first step")
    if _holds_back_what_arrived(rule, program):
        # When it is gone, it has arrived: a rule that only sends it whenever a clock ticks misses nothing.
        return _NotIn("until it has arrived", passing=not _is_only_sent(rule.target, program))
    return None


def _lets_through_once(rule: Rule, program: BloomProgram) -> bool:
    match rule.expr:
        case NotIn(source, Ref(known), matches) if len(_rules(program, rule.target)) == 1:
            width = len(source.columns)
        case _:
            return False
    fills = _rules(program, known)
    if program.by_name[known].kind is not Kind.TABLE or not fills:
        return False
    # Comparing some columns only would hold back other rows than the one that was let through.
    if width == 0 or {left for left, _ in matches} != set(range(width)):
        return False
    return all(fill.op is Op.NEXT and _remembers(trace_copy(fill.expr), rule.target, matches) for fill in fills)


def _remembers(fill: Copied | None, fresh: str, matches: tuple[tuple[int, int], ...]) -> bool:
    """Return whether what is compared later is what was let through."""
    if fill is None or fill.collections != (fresh,):
        return False
    return all(fill.row[right] == Column(0, left) for left, right in matches)


def _is_first_step(rule: Rule, program: BloomProgram) -> bool:
    match rule.expr:
        case NotIn(source, Ref(known)) if not collections_in(source):
            # Filled with ``<=``, it could hold rows back in the very first step.
            fills = _rules(program, known, Op.NOW, Op.NEXT, Op.SEND)
            return bool(fills) and all(fill.op is Op.NEXT for fill in fills)
    return False


def _holds_back_what_arrived(rule: Rule, program: BloomProgram) -> bool:
    match rule.expr:
        case NotIn(_, Ref(known), matches) if len(_rules(program, rule.target)) == 1:
            readers = _readers(program, rule.target)
        case _:
            return False
    if program.by_name[rule.target].kind not in (Kind.SCRATCH, Kind.TEMP) or not readers:
        return False
    return all(_has_arrived(reader, rule.target, known, matches, program) for reader in readers)


def _has_arrived(
    sending: Rule, owed: str, known: str, matches: tuple[tuple[int, int], ...], program: BloomProgram
) -> bool:
    """Return whether a row of ``known`` comes from the very message that would be sent."""
    sent = trace_copy(sending.expr)
    if sending.op is not Op.SEND or sent is None or sent.collections.count(owed) != 1:
        return False
    part = sent.collections.index(owed)
    ways = trace_provenance(program, known, sending.target)
    for way in ways:
        # The message that would be sent, in terms of the one that arrived: they must be the same in every column.
        columns: dict[Column, Scalar] = dict.fromkeys(columns_in(sent.row), UNKNOWN)
        columns.update({Column(part, left): way.row[right] for left, right in matches})
        message = tuple(substitute(column, columns, here=way.node) for column in sent.row)
        if any(column != Column(0, index) for index, column in enumerate(message)):
            return False
    return bool(ways)


def _is_only_sent(collection: str, program: BloomProgram) -> bool:
    """Return whether all that is done with it is to send it, at times that clocks say."""
    # A clock ticks again and again, so that what is still owed at a tick is sent then.
    clocks = {c.name for c in program.collections if c.kind is Kind.PERIODIC}
    return all(
        rule.op is Op.SEND and set(collections_in(rule.expr)) <= {collection, *clocks}
        for rule in _readers(program, collection)
    )


# -- buffers -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Buffer:
    """A table from which rules may delete.  ``answered``: the one that says what is done with, if there is one."""

    answered: Rule | None


def _read_buffer(name: str, program: BloomProgram) -> _Buffer | None:
    """Return the buffer, if it is read only to repeat what was sent, and for what is answered."""
    readers = [r for r in _readers(program, name) if not (r.op is Op.DELETE and r.target == name)]
    repeats = [r for r in readers if _repeats(r, name, program)]
    others = [r for r in readers if r not in repeats]
    # If it is not read at all, the buffer is there for what is left in it, and that is not the same at all times.
    if not repeats or len(others) > 1:
        return None
    if others and not (
        _deletes_only(name, others[0], program) and _is_answered(others[0], name, repeats, program)
    ):
        return None
    return _Buffer(others[0] if others else None)


def _repeats(rule: Rule, buffer: str, program: BloomProgram) -> bool:
    """Return whether all that a rule sends was sent when it entered the buffer."""
    again = trace_copy(rule.expr)
    if rule.op is not Op.SEND or again is None or again.collections.count(buffer) != 1:
        return False
    part = again.collections.index(buffer)
    # The repetition must not carry anything of the clock or the other side: the first message did not.
    if any(column.part != part for column in columns_in(again.row)):
        return False
    fills = _rules(program, buffer, Op.NOW, Op.NEXT)
    return bool(fills) and all(_was_sent(rule.target, again, part, fill, program) for fill in fills)


def _was_sent(channel: str, again: Copied, part: int, fill: Rule, program: BloomProgram) -> bool:
    entering = trace_copy(fill.expr)
    if entering is None or len(entering.collections) != 1:
        return False
    inner = {Column(part, index): column for index, column in enumerate(entering.row)}
    wanted = tuple(substitute(column, inner) for column in again.row)
    # What enters the buffer must be sent at once, by some rule: only then is the repetition one.
    sendings = (trace_copy(r.expr) for r in _rules(program, channel, Op.SEND))
    return any(
        sent is not None and sent.always and sent.collections == entering.collections and sent.row == wanted
        for sent in sendings
    )


def _deletes_only(buffer: str, making: Rule, program: BloomProgram) -> bool:
    """Return whether a row leaves the buffer only when it is in what the rule makes."""
    done = making.target
    # A table would keep what is done with, and delete rows that enter the buffer later.
    passes = program.by_name[done].kind in (Kind.SCRATCH, Kind.TEMP)
    if not passes or making.op is not Op.NOW or len(_rules(program, done)) != 1:
        return False
    # Deleted must be exactly what is done with: anything more would be lost without an answer.
    deleted = [trace_copy(r.expr) for r in _rules(program, buffer, Op.DELETE)]
    return all(d is not None and d.collections == (done,) and d.is_all_of(0) for d in deleted)


def _is_answered(making: Rule, buffer: str, repeats: list[Rule], program: BloomProgram) -> bool:
    """Return whether every row of the buffer that finds an answer has one of its own, which it finds too."""
    match making.expr:
        case Join((Ref(first), Ref(answer)), matches, Take.LEFTS) if first == buffer:
            compared = [(m.right, m.left) for m in matches]
        case Join((Ref(answer), Ref(second)), matches, Take.RIGHTS) if second == buffer:
            compared = [(m.left, m.right) for m in matches]
        case _:
            return False
    schema = program.by_name[answer].schema
    if program.by_name[answer].kind is not Kind.CHANNEL or schema.location is None:
        return False
    place = schema.index(schema.location)
    # If the address is compared, no answer at all that comes here is equal to a row whose own goes elsewhere.
    return any(
        (own[place] == Here() or any(column == place for column, _ in compared))
        and all(own[column] == Column(0, index) for column, index in compared)
        for rule in repeats
        for own in _own_answers(rule, buffer, answer, program)
    )


def _own_answers(sending: Rule, buffer: str, answer: str, program: BloomProgram) -> Iterator[tuple[Scalar, ...]]:
    """Yield the answers that the message of a row of the buffer certainly leads to, in terms of that row."""
    sent = trace_copy(sending.expr)
    assert sent is not None
    part = sent.collections.index(buffer)
    own = {column: Column(0, column.index) for column in columns_in(sent.row) if column.part == part}
    row = tuple(substitute(column, own) for column in sent.row)
    yield from _follow_row(sending.target, row, _place(row, sending.target, program), answer, program, frozenset())


def _follow_row(
    name: str, row: tuple[Scalar, ...], place: Scalar, answer: str, program: BloomProgram, before: frozenset[str]
) -> Iterator[tuple[Scalar, ...]]:
    """Yield what a row leads to in another collection, by rules that make a row of every row."""
    if name == answer:
        yield row
        return
    inner = {Column(0, index): column for index, column in enumerate(row)}
    for rule in _readers(program, name):
        made = trace_copy(rule.expr)
        # A rule that only sometimes makes a row proves no answer; and a cycle proves nothing new.
        if made is None or not made.always or rule.op is Op.DELETE or rule.target in before | {name}:
            continue
        following = tuple(substitute(column, inner, here=place) for column in made.row)
        there = _place(following, rule.target, program) if rule.op is Op.SEND else place
        yield from _follow_row(rule.target, following, there, answer, program, before | {name})


def _place(row: tuple[Scalar, ...], channel: str, program: BloomProgram) -> Scalar:
    """Return the address that a row of a channel goes to."""
    schema = program.by_name[channel].schema
    return UNKNOWN if schema.location is None else row[schema.index(schema.location)]
