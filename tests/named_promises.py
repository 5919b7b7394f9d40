"""Generated programs that state more than ``pre`` and ``post``: pairs with names, and what must never hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import strategies as st

from clew.program.ir import Aggregate, Comparison, Const, Fact, Premise, Program, Rule, Timing, Var, Wildcard
from generators import lasting_programs

ANY = Wildcard()
X, Y, P, N = Var("X"), Var("Y"), Var("P"), Var("N")

NODE = Premise("node", (X, Y))
LOG, OTHER_LOG = Premise("log", (X, P)), Premise("log", (Y, P))
MESSAGE, ACK = Premise("message", (X, Y, P)), Premise("ack", (X, Y, P))
APART = Comparison("!=", X, Y)
Body = tuple[Premise | Comparison, ...]

#: What is wrong if it holds: (columns, body, rules for the terms that it uses).
WRONG: tuple[tuple[tuple[Var, ...], Body, tuple[Rule, ...]], ...] = (
    ((X, Y), (LOG, OTHER_LOG, APART), ()),
    ((X, P), (LOG, Premise("message", (X, ANY, P), negated=True)), ()),
    ((X,), (ACK, Premise("log", (Y, P), negated=True)), ()),
    ((X, N), (Premise("log", (X, ANY), at=N), Comparison(">=", N, Const(3))), ()),
    ((X,), (LOG, Premise("crash", (ANY, X, ANY))), ()),
    ((X, Y), (NODE, APART, Premise("log", (X, ANY), negated=True), Premise("ack", (Y, ANY, ANY))), ()),
    (
        (X, N),
        (Premise("heard", (X, N)), Comparison(">", N, Const(1))),
        (Rule("heard", (X, Aggregate("count", Y)), Timing.SAME, (MESSAGE,)),),
    ),
    (
        (X, P),
        (Premise("silent", (X, P)), Premise("ack", (X, ANY, ANY), negated=True)),
        (Rule("silent", (X, P), Timing.SAME, (LOG, Premise("message", (ANY, X, P), negated=True))),),
    ),
    ((X, P), (Premise("start", (X, P), at=1), Premise("log", (X, P), at=2, negated=True)), ()),
)

#: Pairs: columns, when something is owed, and what.
OWED: tuple[tuple[tuple[Var, ...], Body, Body], ...] = (
    ((X, Y), (NODE, Premise("log", (X, ANY)), APART), (NODE, Premise("log", (Y, ANY)))),
    ((X, P), (LOG, Premise("crash", (ANY, X, ANY), negated=True)), (Premise("message", (X, ANY, P)),)),
    ((X,), (Premise("message", (X, ANY, ANY)),), (Premise("ack", (ANY, X, ANY)), Premise("log", (X, ANY)))),
    ((X, P), (LOG,), (LOG, NODE, OTHER_LOG, APART)),
)


@st.composite
def promising_programs(draw: st.DrawFn) -> Program:
    """A small program with at least one promise other than ``pre`` and ``post``, mostly with several."""
    program = draw(lasting_programs())
    match draw(st.sampled_from(("keep", "name", "drop"))):
        case "name":
            program = _rename(program, {"pre": "pre_main", "post": "post_main"})
        case "drop":
            kept = [c for c in program.clauses if c.relation not in ("pre", "post")]
            program = replace(program, clauses=tuple(kept))
    rules: list[Rule] = []
    for name in draw(st.sampled_from((("never",), ("never_x", "never"), (), ("never_x",)))):
        for columns, body, terms in draw(st.lists(st.sampled_from(WRONG), min_size=1, max_size=2, unique=True)):
            rules += [*terms, Rule(name, columns[:1], Timing.SAME, body)]
    for name in draw(st.sampled_from((("x",), (), ("x", "y")) if rules else (("x",), ("x", "y")))):
        columns, owed, paid = draw(st.sampled_from(OWED))
        rules.append(Rule(f"pre_{name}", columns, Timing.SAME, owed))
        rules.append(Rule(f"post_{name}", columns, Timing.SAME, paid))
    if draw(st.booleans()):
        rules.reverse()
    return replace(program, clauses=tuple(dict.fromkeys((*program.clauses, *rules))))


def _rename(program: Program, names: dict[str, str]) -> Program:
    def renamed(clause: Fact | Rule) -> Fact | Rule:
        relation = names.get(clause.relation, clause.relation)
        if isinstance(clause, Fact):
            return replace(clause, relation=relation)
        body = tuple(
            replace(b, relation=names.get(b.relation, b.relation)) if isinstance(b, Premise) else b
            for b in clause.body
        )
        return replace(clause, relation=relation, body=body)

    return replace(program, clauses=tuple(map(renamed, program.clauses)))


def promise_names(program: Program) -> Sequence[str]:
    """The relations whose rows are violations, told by their names alone."""
    defined = {clause.relation for clause in program.clauses}
    stems = [n for n in defined if n in ("pre", "never") or n.startswith(("pre_", "never_"))]
    return sorted(n for n in stems if n.startswith("never") or n.replace("pre", "post", 1) in defined)
