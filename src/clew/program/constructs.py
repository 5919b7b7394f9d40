"""Names that the literature gives a meaning which they do not have here.

A premise over a relation that nothing defines is never true.  Where somebody forgot a file that is worth a notice.
But who writes ``successor(A, B)`` follows section 3.1 of the thesis and does not expect an empty relation, and
what is certified about it says nothing about the program that was meant.  So these names are refused as long as
the program does not define them.  A program that does may call its relations what it likes.
"""

from __future__ import annotations

from typing import NamedTuple

from clew.errors import ProgramError
from clew.program.columns import Columns
from clew.program.ir import BinOp, Const, HeadArg, Program, Rule, Var

_PICK = "write choose((X), (Y)), with parentheses around both, to take one Y for each X"
_COUNT = (
    "write successor(A, B), or count in the head of a rule, as in seq(X, N + 1)@next :- seq(X, N); "
    "the next time is @next"
)
_WHEN = "write @N after a premise, as in p(X)@N: it binds N to the time of the rule"
_EVERY_TIME = "what happens at every time is a relation that persists, as in tick(X)@next :- tick(X)"
_KEEP = "write persist[p]; or the rule, as in p(X, Y)@next :- p(X, Y)"
_ABSENT = "which Clew does not have"


class Construct(NamedTuple):
    """What a name means elsewhere, and what is written here."""

    meaning: str
    remedy: str


#: As the name of a relation in a body.
CONSTRUCTS = {
    "choose": Construct("the choice construct of Dedalus, which has two lists of variables", _PICK),
    "choice": Construct("the choice construct of Datalog, which has two lists of variables", _PICK),
    "succ": Construct(f"the successor relation of Datalog, {_ABSENT}", _COUNT),
    "time": Construct(f"the time predicate of Dedalus, {_ABSENT}", _WHEN),
    "now": Construct(f"a clock, {_ABSENT}", _WHEN),
    "localtime": Construct(f"a clock, {_ABSENT}", _WHEN),
    "clock": Construct(f"the clock that Molly adds to programs, {_ABSENT}", _WHEN),
    "timer": Construct(f"a timer of Overlog, {_ABSENT}", _EVERY_TIME),
    "periodic": Construct(f"a timer of Overlog, {_ABSENT}", _EVERY_TIME),
    "persist": Construct("the persistence macro of Dedalus, which is a clause of its own", _KEEP),
    **{
        name: Construct("an aggregate, no relation", f"write it in a head, as in total(X, {name}<Y>) :- p(X, Y)")
        for name in ("count", "sum", "min", "max", "avg")
    },
}

#: As the name of a fact: Overlog declares things like this, as in timer(tick, 1000ms);
DECLARATIONS = {
    "timer": Construct("declares a timer in Overlog", _EVERY_TIME),
    "materialize": Construct("declares a table in Overlog", f"nothing is declared here; to keep rows, {_KEEP}"),
    "define": Construct("declares a table in Overlog", f"nothing is declared here; to keep rows, {_KEEP}"),
    "watch": Construct("asks for a trace in Overlog", "leave it out: clew run shows every relation"),
    "persist": Construct("keeps a relation in Dedalus", _KEEP),
}

_FUNCTION = Construct(
    f"a function of Overlog, {_ABSENT}",
    "there are + - * / and aggregates; programs in Bloom may call Python functions",
)

#: How names of functions begin in Overlog.
_FUNCTIONS = "f_"


def refuse_constructs(program: Program) -> None:
    """Refuse what is written for another system; raises ``ProgramError``."""
    if any(rule.text is not None for rule in program.rules):
        return  # not Dedalus: its relations are collections that somebody declared
    # Whoever defines such a relation knows what it means: these names are not reserved.
    defined = {clause.relation for clause in (*program.clauses, *program.inputs)}
    for rule in program.rules:
        for premise in rule.premises:
            construct = None if premise.relation in defined else _construct_named(premise.relation)
            if construct is not None:
                raise ProgramError(
                    f"'{premise.relation}' is {construct.meaning}",
                    position=premise.position,
                    remedy=f"{construct.remedy}. Or define a relation of this name",
                )
        _refuse_text_in_arithmetic(rule)
        _refuse_place_as_time(rule, program)
    _refuse_declarations(program)


def _construct_named(relation: str) -> Construct | None:
    return _FUNCTION if relation.startswith(_FUNCTIONS) else CONSTRUCTS.get(relation)


def _refuse_declarations(program: Program) -> None:
    """Refuse facts that declare something elsewhere: here, one that no rule reads does nothing."""
    # Facts that some rule reads are data, whatever their name means elsewhere.
    read = {premise.relation for rule in program.rules for premise in rule.premises}
    for fact in program.facts:
        declaration = None if fact.relation in read else DECLARATIONS.get(fact.relation)
        if declaration is not None:
            raise ProgramError(
                f"'{fact.relation}' {declaration.meaning}, and nothing here: no rule reads it",
                position=fact.position,
                remedy=declaration.remedy,
            )


def _refuse_text_in_arithmetic(rule: Rule) -> None:
    found = [(text, rule.position) for arg in rule.args for text in _texts(arg)]
    for comparison in rule.comparisons:
        found += [
            (text, comparison.position) for side in (comparison.left, comparison.right) for text in _texts(side)
        ]
    for text, position in found:
        raise ProgramError(
            f"the rule for '{rule.relation}' computes with the string \"{text}\"",
            position=position,
            remedy="only numbers can be computed with, and strings not be joined; variables start with a capital",
        )


def _texts(expr: HeadArg) -> list[str]:
    """Return the strings that an expression computes with."""
    if not isinstance(expr, BinOp):
        return []
    sides = (expr.left, expr.right)
    own = [side.value for side in sides if isinstance(side, Const) and isinstance(side.value, str)]
    return own + [text for side in sides for text in _texts(side)]


def _refuse_place_as_time(rule: Rule, program: Program) -> None:
    """Refuse ``p(X, Y)@X``: it looks like a place, as Overlog marks it, and is a time."""
    places = {premise.args[0] for premise in rule.premises}
    for premise in rule.premises:
        if isinstance(premise.at, Var) and premise.at in places:
            # The fixpoint is costly, and hardly any program gets here.
            if Columns(program).variables(rule)[premise.at].has_numbers:
                continue  # nodes that are numbers may well take turns
            raise ProgramError(
                f"after '@' stands a time, and {premise.at.name} is a place in this rule",
                position=premise.position,
                remedy="the first column is the place of a row: leave the @ out, or call the time otherwise",
            )
