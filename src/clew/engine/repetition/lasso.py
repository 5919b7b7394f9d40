"""Violations that last for ever, as a question about all executions at once: a run that comes back to itself.

What holds at a time decides what holds at the next, once everything that fails, is given or is looked up at a
fixed time is past (``clew.engine.recurrence``; here rows must be equal, with the numbers in them).  So if the
rows at two such times are equal, the run repeats what is between them for ever, and it lasts if it is violated
at every time of that.  Two times that are equal make all later pairs at this distance equal, up to the end: it
is enough to compare the end with each time before it, and the ground program grows by two rules for each row,
not for each row and pair::

    differs(P) :- r2(A0,A1,9-P), not r2(A0,A1,9).   and the reverse, for each relation with a part in the promise
    repeats(P) :- period(P), not differs(P), not still(9-P).
    lasts      :- repeats(P), not relieved(P).      relieved: not violated at some time from 9-P to 9
    lasts      :- bad5(A0,T).                       what must never hold, and has: that cannot be undone

Nothing here is a choice, so that an execution is still one model.  ``unsettled`` is what a certificate must
rule out beside ``lasts``: a run that has not come back to itself by the end, though all that happens to it is
over in time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import assert_never

from clew.duration import Loop
from clew.engine.execution import Execution
from clew.engine.ground import GroundProgram
from clew.engine.recurrence import find_dependencies, first_quiet_time
from clew.engine.values import encode_value
from clew.faults import KINDS, FailureSpec, Fault, FaultSet, Input
from clew.program.assertions import assertion_names, find_assertions
from clew.program.ir import Premise, Program, Rule, Var, expr_vars
from clew.program.outcomes import has_assertions, persistent_relations

LASTS, RECURS, UNSETTLED, UNCOVERED = "lasts", "recurs", "unsettled", "uncovered"


def relevant_relations(program: Program) -> frozenset[str]:
    """Return the relations whose rows are the state of a run: those that have a part in what must hold."""
    if has_assertions(program):
        return find_dependencies(program, assertion_names(program))
    return find_dependencies(program, persistent_relations(program))


def find_clock_reader(program: Program) -> tuple[Rule, Premise] | None:
    """Return a rule that tells times apart, with the premise that binds the time; None if there is none.

    Only of what has a part in what must hold: such a run never comes back to itself.
    """
    relevant = relevant_relations(program)
    for rule in program.rules:
        if rule.relation in relevant:
            used = _used_variables(rule)
            for premise in rule.premises:
                if isinstance(premise.at, Var) and premise.at in used:
                    return rule, premise
    return None


def _used_variables(rule: Rule) -> set[Var]:
    found = {v for arg in rule.args for v in expr_vars(arg)}
    found |= {a for p in rule.premises for a in p.args if isinstance(a, Var)}
    found |= {v for c in rule.comparisons for side in (c.left, c.right) for v in expr_vars(side)}
    return found | {v for c in rule.calls for arg in (*c.args, *c.results) for v in expr_vars(arg)}


def find_horizon(ground: GroundProgram) -> int:
    """Return the time by which everything is over that a certificate covers: EFF, or a later time of inputs.

    Inputs count as far as their declaration leaves room for runs after the last of them.
    """
    given = max((f.time for f in FaultSet.of(ground.fault_atoms).of_kind(Input)), default=0)
    return max(ground.spec.eff, given if given < ground.spec.eot else 0)


def encode_lasso(ground: GroundProgram, expected: Execution | None) -> str:
    """Return the question; ``expected`` is the failure-free run of a program without assertions."""
    program, eot = ground.program, ground.spec.eot
    relations = ground.encoding.relations
    periods = _possible_periods(program, eot, expected)
    lines = [f"period({period})." for period in periods]
    for name in sorted(relevant_relations(program)):
        if name in dict(relations.arities):
            row = f"r{relations.number(name)}({','.join(f'A{k}' for k in range(relations.arity(name)))}"
            lines.append(f"differs(P) :- period(P), {row},{eot}-P), not {row},{eot}).")
            lines.append(f"differs(P) :- period(P), {row},{eot}), not {row},{eot}-P).")
    lines += _busy_lines(ground.spec)
    # A delay may end after the last time.
    lines.append("still(T) :- busy(U), time(T), T<=U.")
    lines += _wrong_lines(ground, expected, eot - max(periods, default=0))
    for assertion in find_assertions(program):
        if assertion.post is None:
            row = ",".join("_" * (relations.arity(assertion.relation) + 1))
            lines.append(f"{LASTS} :- bad{relations.number(assertion.relation)}({row}).")
    lines += [
        f"repeats(P) :- period(P), not differs(P), not still({eot}-P).",
        f"relieved(P) :- period(P), T={eot}-P..{eot}, not wrong(T).",
        f"{LASTS} :- repeats(P), not relieved(P).",
        f"{RECURS} :- repeats(P), relieved(P), wrong(T), T>={eot}-P.",
        "closed :- repeats(P).",
        f"beyond :- busy(U), U>{find_horizon(ground)}.",
        f"{UNSETTLED} :- not closed, not beyond.",
    ]
    return "\n".join(lines) + "\n"


def encode_uncovered(found: Iterable[FaultSet]) -> str:
    """Return the question for runs whose future is not known, and whose faults include none of these sets."""
    lines = []
    for faults in found:
        atoms = [f"{fault.name}({','.join(map(encode_value, fault.parts))})" for fault in faults]
        lines.append(f"covered :- {', '.join([*atoms, '#true'])}.")
    return "\n".join([*lines, f"{UNCOVERED} :- {UNSETTLED}, not covered."]) + "\n"


def _possible_periods(program: Program, eot: int, expected: Execution | None) -> list[int]:
    """Return after how many steps a run could have come back to what it is at the end."""
    quiet = _first_quiet(program, FaultSet())
    periods = range(1, eot - quiet + 1)
    if expected is None:
        return list(periods)
    # What must hold at a time is what the failure-free run has then, so that has to come back, too.
    names = sorted(relevant_relations(program) & expected.tables.keys())
    return [p for p in periods if all(expected.rows(n, eot - p) == expected.rows(n, eot) for n in names)]


def _busy_lines(spec: FailureSpec) -> Iterator[str]:
    """Yield until when faults make a difference by themselves: the solver's words for ``last`` of each kind.

    A fault of a message that is not sent, or does not get through in any case, makes none.
    """
    passing = f"sends(F,G,T), not down(F,T), not parted(F,G,T){', not gone(G,T+1)' if spec.can_stop else ''}"
    for kind in KINDS:
        match kind.name:
            case "loss":
                yield f"busy(T) :- loss(F,G,T), {passing}."
            case "crash":
                yield "busy(T) :- crash(_,T)."
            case "delay":
                yield f"busy(T+L) :- delay(F,G,T,L), {passing}."
            case "duplicate":
                yield f"busy(T+1+L) :- duplicate(F,G,T,L), {passing}."
            case "restart":
                yield "busy(U) :- restart(_,_,U)."
            case "pause":
                yield "busy(U) :- pause(_,_,U)."
            case "partition":
                yield "busy(U) :- partition(_,_,U)."
            case "stop":
                yield "busy(T) :- stop(_,T)."
            case "input":
                yield "busy(T) :- input(_,_,T)."
            case "pick":
                yield "busy(T) :- pick(_,_,T)."
            case _ as unknown:
                assert_never(unknown)


def _wrong_lines(ground: GroundProgram, expected: Execution | None, first: int) -> Iterator[str]:
    """Yield at which times, from ``first`` on, something is violated."""
    relations, eot = ground.encoding.relations, ground.spec.eot
    if expected is None:
        for pre, post in find_assertions(ground.program):
            if post is None:
                continue
            args = ",".join(f"A{k}" for k in range(relations.arity(pre)))
            wanted, there = relations.number(pre), relations.number(post)
            yield f"wrong(T) :- r{wanted}({args},T), not r{there}({args},T), T>={first}."
        return
    for name in persistent_relations(ground.program):
        for time in range(first, eot + 1):
            for row in expected.rows(name, time):
                args = ",".join(map(encode_value, row))
                yield f"wrong({time}) :- not r{relations.number(name)}({args},{time})."


# -- the same of one execution ---------------------------------------------------------------------------------


def effective_faults(run: Execution) -> FaultSet:
    """Return the faults of a run that make a difference in it: not those of messages that are not sent."""
    sent = {(message.source, message.target, message.sent) for message in run.messages}
    others = [fault for fault in run.faults if fault.message is None]

    def is_effective(fault: Fault) -> bool:
        message = fault.message
        return message is None or (message in sent and not any(other.prevents(message) for other in others))

    return FaultSet.of(filter(is_effective, run.faults))


def find_loop(program: Program, faults: FaultSet, runs: Sequence[Execution]) -> Loop | None:
    """Return where runs with at most these faults come back to themselves, all of them together, by their end."""
    eot, names = runs[0].spec.eot, sorted(relevant_relations(program) & runs[0].tables.keys())
    states = {
        time: [run.rows(name, time) for run in runs for name in names]
        for time in range(_first_quiet(program, faults), eot + 1)
    }
    period = next((p for p in range(1, eot) if eot - p in states and states[eot - p] == states[eot]), None)
    if period is None:
        return None
    return Loop(next(t for t in states if states[t] == states[t + period]), period)


def _first_quiet(program: Program, faults: FaultSet) -> int:
    relevant = relevant_relations(program)
    return first_quiet_time(program, [rule for rule in program.rules if rule.relation in relevant], faults)
