"""Refinements that look at a run as a whole: what is not monotone in a step, and takes nothing back in the end.

An output is what it ever showed, so it is no harm if a rule shows a row only once, or no longer.

*First time.*  ``fresh <= heard.notin(known)`` and ``known <+ fresh``: a row is held back only if the same row was
let through before.  All columns must be compared: with fewer, another row with the same number would be held back.

*Arrived.*  ``owed <= wanted.notin(acked)`` and ``data <~ (owed * timer)...``, where a row is in ``acked`` only if
the very message has arrived: what is held back would be a repetition.

*Repeats.*  ``chan <~ given``, ``buffer <= given`` and ``chan <~ (buffer * timer).lefts()``: what the last rule
sends was sent before, when it entered the buffer.  Whatever the buffer loses, the same is sent in the end.

*Done with.*  ``done <= (answer * buffer).rights(...)`` and ``buffer <- done``: a row leaves the buffer after it
was in ``done``, so what is ever done stays the same, if apart from that the buffer is only read for repeats.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clew.bloom.expressions import NotIn, Ref, collections_in
from clew.bloom.program import BloomProgram, Op, Rule
from clew.bloom.schema import Kind
from clew.bloom.symbolic import Column, Scalar
from clew.consistency.copies import Copied, columns_in, copied, replaced
from clew.consistency.stems import UNKNOWN, stems_of

#: Begins the reason of what is held back as soon as it is known to have arrived.
UNTIL_ARRIVED = "until it has arrived"


def refined_over_time(program: BloomProgram) -> Mapping[tuple[int, str], str]:
    """Why rule number so-and-so does read this collection in a monotone way, though it does not look like it."""
    found: dict[tuple[int, str], str] = {}
    for number, rule in enumerate(program.rules):
        if rule.op is Op.NOW and _lets_through_once(rule, program):
            assert isinstance(rule.expr, NotIn)
            for name in collections_in(rule.expr.absent):
                found[number, name] = f"the first time, notin {name}"
        if rule.op is Op.NOW and _holds_back_what_arrived(rule, program):
            assert isinstance(rule.expr, NotIn)
            for name in collections_in(rule.expr.absent):
                found[number, name] = f"{UNTIL_ARRIVED}, notin {name}"
        if rule.op is Op.DELETE and _is_done_with(rule, program):
            for name in collections_in(rule.expr):
                found[number, name] = f"deletes what is done with by {name}"
    return found


def _rules(program: BloomProgram, target: str, *ops: Op) -> list[Rule]:
    return [r for r in program.rules if r.target == target and (r.op in ops or not ops)]


def _readers(program: BloomProgram, collection: str) -> list[Rule]:
    return [r for r in program.rules if collection in collections_in(r.expr)]


# -- first time --------------------------------------------------------------------------------------------------


def _lets_through_once(rule: Rule, program: BloomProgram) -> bool:
    match rule.expr:
        case NotIn(source, Ref(known), matches) if len(_rules(program, rule.target)) == 1:
            width = len(source.columns)
        case _:
            return False
    fills = _rules(program, known)
    if program.by_name[known].kind is not Kind.TABLE or not fills:
        return False
    if width == 0 or {left for left, _ in matches} != set(range(width)):
        return False
    return all(fill.op is Op.NEXT and _remembers(copied(fill.expr), rule.target, matches) for fill in fills)


def _remembers(fill: Copied | None, fresh: str, matches: tuple[tuple[int, int], ...]) -> bool:
    """Whether what is compared later is what was let through."""
    if fill is None or fill.collections != (fresh,):
        return False
    return all(fill.row[right] == Column(0, left) for left, right in matches)


# -- arrived -----------------------------------------------------------------------------------------------------


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
    """Whether a row of ``known`` stems from the very message that would be sent."""
    sent = copied(sending.expr)
    if sending.op is not Op.SEND or sent is None or sent.collections.count(owed) != 1:
        return False
    part = sent.collections.index(owed)
    stems = stems_of(program, known, sending.target)
    for stem in stems:
        columns: dict[Column, Scalar] = dict.fromkeys(columns_in(sent.row), UNKNOWN)
        columns.update({Column(part, left): stem.row[right] for left, right in matches})
        message = tuple(replaced(column, columns, here=stem.node) for column in sent.row)
        if any(column != Column(0, index) for index, column in enumerate(message)):
            return False
    return bool(stems)


# -- done with ---------------------------------------------------------------------------------------------------


def _is_done_with(rule: Rule, program: BloomProgram) -> bool:
    buffer = rule.target
    making = _making(rule, program)
    if making is None or len(_rules(program, buffer, Op.DELETE)) != 1:
        return False
    taken = copied(making.expr)
    if taken is None or taken.collections.count(buffer) != 1:
        return False
    if not taken.is_all_of(taken.collections.index(buffer)):
        return False
    others = [r for r in _readers(program, buffer) if r is not rule and r is not making]
    # If there are none, the buffer is there for what is left in it, and that is not the same at all times.
    return bool(others) and all(_repeats(other, buffer, program) for other in others)


def _making(deletion: Rule, program: BloomProgram) -> Rule | None:
    """The rule that says what is done with: the deletion itself, or the only one for the collection it reads."""
    names = collections_in(deletion.expr)
    if len(names) != 1 or names == (deletion.target,):
        return deletion
    (done,) = names
    deleted, made = copied(deletion.expr), _rules(program, done)
    if program.by_name[done].kind.persists or len(made) != 1 or made[0].op is not Op.NOW:
        return None
    return made[0] if deleted is not None and deleted.always and deleted.is_all_of(0) else None


# -- repeats -----------------------------------------------------------------------------------------------------


def _repeats(rule: Rule, buffer: str, program: BloomProgram) -> bool:
    """Whether all that a rule sends was sent when it entered the buffer."""
    again = copied(rule.expr)
    if rule.op is not Op.SEND or again is None or again.collections.count(buffer) != 1:
        return False
    part = again.collections.index(buffer)
    if any(column.part != part for column in columns_in(again.row)):
        return False
    fills = _rules(program, buffer, Op.NOW, Op.NEXT)
    return bool(fills) and all(_was_sent(rule.target, again, part, fill, program) for fill in fills)


def _was_sent(channel: str, again: Copied, part: int, fill: Rule, program: BloomProgram) -> bool:
    entering = copied(fill.expr)
    if entering is None or len(entering.collections) != 1:
        return False
    inner = {Column(part, index): column for index, column in enumerate(entering.row)}
    wanted = tuple(replaced(column, inner) for column in again.row)
    return any(
        sent is not None and sent.always and sent.collections == entering.collections and sent.row == wanted
        for sent in _sendings(channel, program)
    )


def _sendings(channel: str, program: BloomProgram) -> Iterator[Copied | None]:
    return (copied(r.expr) for r in _rules(program, channel, Op.SEND))
