"""``choose((X), (Y))`` as ordinary rules (section 3.1 of the thesis; Greco and Zaniolo's choice construct).

Of the ways to satisfy a body, those with one Y for each X are taken, and which Y that is nobody knows: the
adversary decides, anew in each step, and each node for itself.  So the place of the rule is always among the X.  A
rule ::

    leader(N, L) :- vote(N, L), choose((), (L));

becomes, with relations that no program can spell ::

    leader offered(N, L)  :- vote(N, L);
    leader wanted(N, L)   :- leader offered(N, L), leader picked(N, L);
    leader decided(N)     :- leader wanted(N, L);
    leader eligible(N, L) :- leader wanted(N, L);
    leader eligible(N, L) :- leader offered(N, L), notin leader decided(N);
    leader beaten(N, L)   :- leader eligible(N, L), leader eligible(N, M), M < L;
    leader chosen(N, L)   :- leader eligible(N, L), notin leader beaten(N, L);
    leader(N, L)          :- vote(N, L), leader chosen(N, L);

``picked`` has no rule: its rows are what the adversary picks (``clew.faults.Pick``), and one that is not on offer
changes nothing.  Without any pick the least Y is taken, so that the run without faults and choices is one run, the
same every time.  That is why the paper's stable models are not needed: one choice is one set of picks, and
everything that deals with sets of faults deals with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from clew.errors import ProgramError
from clew.program.assertions import assertion_names
from clew.program.ir import (
    Choice,
    Choose,
    Comparison,
    Const,
    Expr,
    Fact,
    Nested,
    Premise,
    Program,
    Rule,
    Term,
    Timing,
    Var,
    Wildcard,
)

_REMEDY = "choose((X), (Y)) takes one Y for each X: all of them are variables that premises bind"


def expand_choices(program: Program) -> Program:
    """Replace every ``choose`` by rules, and say in ``choices`` what there is to choose."""
    if not any(rule.choices for rule in program.rules):
        return program
    clauses: list[Fact | Rule] = []
    choices: list[Choice] = []
    numbers: dict[str, int] = {}
    stated = assertion_names(program)
    for clause in program.clauses:
        if isinstance(clause, Fact) or not clause.choices:
            clauses.append(clause)
            continue
        number = numbers[clause.relation] = numbers.get(clause.relation, 0) + 1
        # The relation says what is chosen; a second rule for it chooses something else.
        name = clause.relation if number == 1 else f"{clause.relation}.{number}"
        choice, rules = _expand(clause, _check(clause, stated), name)
        choices.append(choice)
        clauses += rules
    helpers = {c.relation for c in clauses} - {c.relation for c in program.clauses}
    return replace(
        program,
        clauses=tuple(clauses),
        helpers=program.helpers | helpers | {choice.picked for choice in choices},
        choices=tuple(choices),
    )


def _check(rule: Rule, stated: frozenset[str]) -> Choose:
    """Return the one choice of a rule; refuse what has no meaning with it."""
    first, *others = rule.choices
    if others:
        raise ProgramError(
            f"the rule for '{rule.relation}' chooses twice",
            position=others[0].position,
            remedy="choose in two rules, one after the other, or at once: choose((X), (Y, Z))",
        )
    if rule.aggregates:
        raise ProgramError(
            f"the rule for '{rule.relation}' chooses and aggregates",
            position=first.position,
            remedy="choose in a rule of its own, and aggregate what it concludes",
        )
    if rule.relation in stated:
        raise ProgramError(
            f"'{rule.relation}' chooses, and an assertion is what holds whatever is chosen",
            position=first.position,
            remedy="choose in a rule of the protocol, and look at what it concludes",
        )
    bound = {a for p in rule.positive for a in p.args if isinstance(a, Var)}
    bound |= {p.at for p in rule.premises if isinstance(p.at, Var)}
    for var in (*first.keys, *first.values):
        if var not in bound:
            raise ProgramError(
                f"the variable {var.name} in 'choose' is not bound", position=first.position, remedy=_REMEDY
            )
    twice = [var for var in first.values if var in first.keys or first.values.count(var) > 1]
    if twice or rule.location in first.values:
        shown = twice[0].name if twice else "the place of the rule"
        raise ProgramError(
            f"'choose' cannot choose {shown}: it is given, or named twice",
            position=first.position,
            remedy=_REMEDY,
        )
    return first


def _expand(rule: Rule, choose: Choose, name: str) -> tuple[Choice, list[Rule]]:
    place = rule.location
    assert not isinstance(place, Wildcard), "a program that was checked has a name for every place"
    keys: list[Var | Const] = [place, *(v for v in dict.fromkeys(choose.keys) if v != place)]
    values: list[Var | Const] = [*choose.values]
    row = tuple(keys + values)
    names = {part: f"{name} {part}" for part in ("offered", "picked", "decided", "eligible", "beaten", "chosen")}
    wanted = f"{name} wanted"
    body = tuple(b for b in rule.body if not isinstance(b, Choose))

    # Columns by number: a key may be a constant, and a name may come twice.
    heads = tuple(Var(f"C{number}") for number in range(len(row)))
    key, value = heads[: len(keys)], heads[len(keys) :]
    others = tuple(Var(f"D{number}") for number in range(len(values)))

    def conclude(relation: str, args: tuple[Var | Const, ...], *premises: Premise | Comparison) -> Rule:
        return Rule(relation, args, Timing.SAME, premises, rule.position)

    offered = Premise(names["offered"], heads)
    rules = [
        Rule(names["offered"], row, Timing.SAME, body, rule.position),
        conclude(wanted, heads, offered, Premise(names["picked"], heads)),
        conclude(names["decided"], key, Premise(wanted, heads)),
        conclude(names["eligible"], heads, Premise(wanted, heads)),
        conclude(names["eligible"], heads, offered, Premise(names["decided"], key, negated=True)),
        conclude(
            names["beaten"],
            heads,
            Premise(names["eligible"], heads),
            Premise(names["eligible"], (*key, *others)),
            Comparison("<", _vector(others), _vector(value)),
        ),
        conclude(
            names["chosen"],
            heads,
            Premise(names["eligible"], heads),
            Premise(names["beaten"], heads, negated=True),
        ),
        replace(rule, body=(*body, Premise(names["chosen"], tuple(_terms(row)), position=choose.position))),
    ]
    choice = Choice(name, names["offered"], names["picked"], len(keys), len(values), choose.position)
    return choice, rules


def _vector(variables: tuple[Var, ...]) -> Expr:
    """Return what is compared: one value, or several in their order."""
    return variables[0] if len(variables) == 1 else Nested(variables)


def _terms(row: tuple[Var | Const, ...]) -> Iterator[Term]:
    yield from row
