"""Words that several reports share: about rows, violations, supports, distances and chains of consequences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from clew.engine.execution import Execution, Message
from clew.explain.steps import MessageStep, NodeStep, PhaseStep
from clew.faults import Fault, FaultSet, node_key
from clew.names import show
from clew.program.assertions import POST, PRE, Assertion, find_assertions, is_pre, post_of, stem_of
from clew.report.diagrams.hits import Hits
from clew.report.verdict.duration_text import duration_line
from clew.violation import Violation

if TYPE_CHECKING:  # what finds supports and consequences need not be loaded to speak of them
    from clew.explain.explanation import Event, Explanation
    from clew.explain.steps import Step
    from clew.explain.why import Running, Support, Why
    from clew.explain.without import Account, Without


def meaning(run: Execution) -> str:
    """Say what the outcome of a run means, for somebody who sees such a thing for the first time."""
    if not run.violations:
        # Without any promise what must hold is that no row gets lost that the failure-free run has at the end.
        kept = [_keeping(assertion, run) for assertion in assertions_of(run)]
        if kept:
            return f"{'; '.join(kept)}: the promise is kept." if len(kept) == 1 else f"{'; '.join(kept)}."
        return "Everything that the failure-free run has at the end is there: nothing got lost."
    lasts = ""
    if run.duration is not None:
        open_world = run.program is not None and bool(run.program.open_rows)
        line = duration_line(run.duration, run.spec.eot, open_world=open_world)
        lasts = f" It {line}." if run.duration.reason is None else f" {line.capitalize()}."
    first = run.violations[0]
    if first.time is not None:
        return f"It must never hold, and does at time {first.time}: the promise is broken.{lasts}"
    if is_pre(first.relation):
        post = post_of(first.relation)
        return f"It is in '{first.relation}' at the end but not in '{post}': the promise is broken.{lasts}"
    return f"The failure-free run has it at the end, this run does not: it got lost.{lasts}"


def assertions_of(run: Execution) -> tuple[Assertion, ...]:
    """Return the promises of the program that was executed."""
    if run.program is not None:
        return find_assertions(run.program)
    return (Assertion(PRE, POST),) if PRE in run.tables and POST in run.tables else ()


def _keeping(assertion: Assertion, run: Execution) -> str:
    relation, post = assertion
    if post is None:
        return f"Nothing is in '{relation}' at any time"
    vacuous = "" if run.rows(relation) else f" ('{relation}' is empty, so nothing was asked)"
    return f"Everything in '{relation}' is in '{post}' at the end{vacuous}"


def describe_violation(violation: Violation) -> str:
    """Say what a violation is."""
    if violation.time is not None:
        return f"{violation.at_any_time} holds at time {violation.time}, which must never be"
    if is_pre(violation.relation):
        return f"at the end {violation} holds, but {_owed(violation)} does not"
    return f"at the end {violation} is missing, which the failure-free run has"


def _owed(violation: Violation) -> Violation:
    """Return the row that a row of ``pre`` asks for."""
    return Violation(post_of(violation.relation), violation.row)


def message_text(message: Message) -> str:
    return f"{message.relation} {show(message.source)}→{show(message.target)}@{message.sent}"


def support_words(support: Support, faults: FaultSet, eot: int) -> list[tuple[str, bool]]:
    """Say what a support needs: messages in order, nodes that had to stay up; True where a fault cuts it."""
    hits = Hits(faults)
    # Messages of one relation over one link share their fate, and are said once.
    links = {(m.relation, m.source, m.target, m.sent): m for m in support.messages}
    words = [(message_text(m), hits.fault((m.source, m.target, m.sent)) is not None) for m in links.values()]
    for source, target, sent in support.punctual:
        late = f"what {show(source)} sends {show(target)} at {sent} is not late"
        words.append((late, hits.fault((source, target, sent)) is not None))
    for source, target, sent in support.once:
        twice = f"what {show(source)} sends {show(target)} at {sent} arrives only once"
        words.append((twice, hits.duplicate((source, target, sent)) is not None))
    for node, time in support.up:
        # What a node sends in the last step arrives after it: a crash then touches nothing.
        stays = f"{show(node)} never crashes" if time >= eot - 1 else f"{show(node)} up until {time}"
        words.append((stays, hits.has_crashed(node, time)))
    words += _running_words(support.running, eot)
    return words or [("nothing that a fault could touch", False)]


def _running_words(running: Iterable[Running], eot: int) -> Iterator[tuple[str, bool]]:
    """Say when nodes had to run: not be down, not be paused, or neither."""
    together: dict[tuple[object, ...], list[Running]] = {}
    for one in running:
        together.setdefault((one.node, one.times, one.throughout), []).append(one)
    for same in together.values():
        node, times = show(same[0].node), same[0].times
        state = "runs" if len(same) > 1 else "not paused" if same[0].paused else "not down"
        if same[0].throughout:
            words = f"{node} {state} at one of {_times(times)}"
        elif times[-1] < eot - 1 or times[-1] - times[0] >= len(times):
            words = f"{node} {state} at {_times(times)}"
        elif times[0] > 1:
            words = f"{node} {state} from {times[0]} on"
        else:
            words = f"{node} always runs" if state == "runs" else f"{node} {state.replace('not', 'never')}"
        yield words, any(one.cut for one in same)


def _times(times: Sequence[int]) -> str:
    """Write times in order, those in a row as a range: ``2, 4 to 6``."""
    rows: list[list[int]] = []
    for time in times:
        if rows and rows[-1][-1] == time - 1:
            rows[-1].append(time)
        else:
            rows.append([time])
    return ", ".join(str(row[0]) if len(row) == 1 else f"{row[0]} to {row[-1]}" for row in rows)


def brief(faults: FaultSet) -> str:
    """Write faults in the paper's notation; the same one at three or more times in a row is a range."""
    rows: list[list[Fault]] = []
    for fault in sorted(faults, key=lambda f: (f.message is None, same_but_for_time(f), f.time)):
        last = rows[-1][-1] if rows else None
        if last and same_but_for_time(last) == same_but_for_time(fault) and last.time + 1 == fault.time:
            rows[-1].append(fault)
        else:
            rows.append([fault])
    # Two are as short written out as in a range.
    parts = [f"{row[0]}…{row[-1]}" if len(row) > 2 else " ".join(map(str, row)) for row in rows]
    return " ".join(parts) or "no fault"


def same_but_for_time(fault: Fault) -> tuple[object, ...]:
    """Return a sort key that is equal for faults that differ in their time only."""
    _, *numbers = fault.numbers  # the first is the time
    return (fault.name, *map(node_key, fault.nodes), *numbers)


def why_lead(why: Why) -> str:
    """Say how many supports there were, and that none is left."""
    violation = why.violation
    if not why.supports:
        return f"{violation} is violated in the failure-free run already: no fault is needed."
    many = f"{'more than ' if why.more else ''}{len(why.supports)}"
    supports, cut = ("one support", "it is cut") if many == "1" else (f"{many} supports", "each is cut")
    if why.by_pre:
        return f"without faults {supports} kept {violation} away; {cut}:"
    if is_pre(violation.relation):
        return f"given '{violation.relation}', {_owed(violation)} had {supports} without faults; {cut}:"
    return f"{violation} had {supports} without faults; {cut}:"


def account_lead(account: Account) -> str:
    """Say which of the faults are needed; the lines of the others follow."""
    if not account.needed:
        return "it is violated in the failure-free run already."
    counted = {fault.kind.counted for fault in account.needed}
    what = counted.pop() if len(counted) == 1 else "fault"
    if counted:  # inputs or choices beside faults, or both
        return f"{'not all' if len(account.needed) < len(account.without) else 'each'} of these is needed:"
    if len(account.needed) < len(account.without):
        return f"not all of the {what}s are needed:"
    return f"each of the {what}s is needed:" if len(account.needed) > 1 else f"it takes one {what}:"


def not_needed(count: int) -> str:
    """Say what happens without some faults, of which there are so many, that make no difference."""
    return f"it is violated all the same, so {'it is' if count == 1 else 'they are'} not needed"


def step_text(step: Step, fault: Fault) -> str:
    """Tell a step of the run without the fault."""
    if isinstance(step, NodeStep):
        return f"{show(step.node)} stays up"
    if not isinstance(step, MessageStep):
        return f"{'' if step.there else 'no '}{Violation(step.relation, step.row)}@{step.time}"
    message = f"{_message(step)}@{step.time}"
    # Of the message that the fault would hit it is said that it gets through; of others, whether they are there.
    if not step.hit:
        return f"{'' if step.there else 'no '}{message}{_arrival(step)}"
    return f"{message} {fault.undone(step.target, _arrival(step))}"


def outcome_text(line: Without) -> str:
    """Say what the steps lead to."""
    if stem_of(line.outcome.relation) is not None:
        return f"{line.outcome} {'holds' if line.holds else 'does not hold'}"
    return f"{line.outcome} is there at the end"


def event_text(event: Event) -> str:
    """Tell an event of the failing run; its time stands before it."""
    step, fault = event.step, event.fault
    if isinstance(step, PhaseStep):
        return f"{step.words}: {fault}" if step.begins else step.words
    if isinstance(step, NodeStep):
        return f"{show(step.node)} crashes: {fault}"
    if not isinstance(step, MessageStep):
        return str(Violation(step.relation, step.row))
    if fault is None:
        return f"{_message(step)}{_arrival(step)}"
    return f"{_message(step)} {fault.effect(step.target)}: {fault}"


def story(row: Explanation, eot: int) -> list[tuple[int, str]]:
    """Tell how a violation arose, with the time of each event; empty where something was only lost."""
    if not row.events:
        return []
    # What must never hold and does ends the story: that a node goes on later has no part in it.
    end = row.violation.time or eot
    told = [(event.time, event_text(event)) for event in row.events if event.time <= end]
    return [*told, (end, ending_text(row.violation))]


def ending_text(violation: Violation) -> str:
    """Say with what the story ends."""
    if violation.time is not None:
        return f"{violation.at_any_time} holds"
    if is_pre(violation.relation):
        return f"{violation} holds, {_owed(violation)} does not"
    return f"{violation} is missing"


def _message(step: MessageStep) -> str:
    """Name a message; where others like it are sent at the same time, with what it says."""
    row = f"({', '.join(map(show, step.row[1:]))})" if step.one_of_several else ""
    return f"{step.relation}{row} {show(step.source)}→{show(step.target)}"


def _arrival(step: MessageStep) -> str:
    """Say when a message arrives that is later than the next step."""
    return "" if step.arrives == step.time + 1 else f" (arrives at {step.arrives})"
