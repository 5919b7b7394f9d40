"""Generated programs that promise more under faults than without: a timeout makes promises of its own."""

from __future__ import annotations

from hypothesis import strategies as st

from clew.program.ir import Comparison, Const, Premise, Program, Rule, Timing, Var, Wildcard
from generators import programs

ANY = Wildcard()
X, Y, NOW = Var("X"), Var("Y"), Var("Now")

#: Whoever has seen none of these by some time gives up waiting.
AWAITED = (
    Premise("ack", (X, Y, ANY), negated=True),
    Premise("message", (X, Y, ANY), negated=True),
    Premise("log", (X, ANY), negated=True),
    Premise("log", (Y, ANY), negated=True),
)


@st.composite
def impatient_programs(draw: st.DrawFn) -> Program:
    """A generated program in which nodes that wait for too long turn to their peers, and promise to reach them."""
    program = draw(programs())
    timeout = draw(st.sampled_from((3, 2, 4)))
    waited = Premise("log", (X, ANY)) if draw(st.booleans()) else Premise("node", (X, Y))
    pair = Premise("node", (X, Y)), Comparison("!=", X, Y)
    late = Premise("late", (X, Y))
    gives_up = Rule("late", (X, Y), Timing.SAME, (*pair, waited, _at(draw(st.sampled_from(AWAITED)), timeout)))
    asking: tuple[Premise | Comparison, ...] = (late,)
    if draw(st.booleans()):  # it asks for some steps only
        last = timeout + draw(st.integers(0, 1))
        asking = (Premise("late", (X, Y), at=NOW), Comparison("<=", NOW, Const(last)))
    rules = [
        gives_up,
        Rule("late", (X, Y), Timing.NEXT, (late,)),
        Rule("asked", (Y, X), Timing.ASYNC, asking),
        Rule("asked", (X, Y), Timing.NEXT, (Premise("asked", (X, Y)),)),
        Rule("pre", (X, Y), Timing.SAME, (late, *_guard(draw))),
        Rule("post", (X, Y), Timing.SAME, (Premise("asked", (Y, X)),)),
    ]
    return Program((*program.clauses, *rules))


def _at(premise: Premise, time: int) -> Premise:
    return Premise(premise.relation, premise.args, premise.negated, time)


def _guard(draw: st.DrawFn) -> tuple[Premise, ...]:
    guarded = draw(st.booleans())
    return (Premise("crash", (ANY, X, ANY), negated=True),) if guarded else ()
