"""What makes a text a program: arities, bound variables, strata, places.

``check_program`` refuses what has no meaning (with a position and a remedy), rewrites what is only an
abbreviation, and returns notices for what is legal but probably not meant.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from clew.errors import Notice, Position, ProgramError
from clew.names import nearest_name
from clew.program.assertion_checks import check_assertions
from clew.program.choosing import expand_choices
from clew.program.constructs import refuse_constructs
from clew.program.inputs import check_inputs
from clew.program.ir import (
    BUILT_IN,
    CRASH,
    DOWN,
    Const,
    InputRule,
    Premise,
    Program,
    Rule,
    Term,
    Timing,
    Var,
    Wildcard,
    expr_vars,
)
from clew.program.outcomes import assertion_relations
from clew.program.strata import check_growth, check_strata
from clew.program.successors import SUCCESSOR, expand_successors

_BUILT_IN_COLUMNS = {CRASH: "crash(Observer, Node, Time)", DOWN: "down(Observer, Node)"}
_BUILT_IN_USE = {
    CRASH: f"bound the crashes with --crashes; read them with {_BUILT_IN_COLUMNS[CRASH]}",
    DOWN: f"use another name; {_BUILT_IN_COLUMNS[DOWN]} holds while a node is down, see --restarts",
}


@dataclass(frozen=True)
class CheckedProgram:
    """A program that can be executed, with what its author should know about it."""

    program: Program
    notices: tuple[Notice, ...]


def check_program(program: Program) -> CheckedProgram:
    """Refuse, name what is unnamed, refuse again, and notice: everything between a text and an executable program.

    The order matters: messages about arities and misspelt constructs make sense of a program as it was written,
    while bound variables and strata can only be judged once every place has a name.
    """
    _check_not_empty(program)
    _check_arities(program)
    _check_built_in(program)
    program = expand_successors(program)
    refuse_constructs(program)
    check_assertions(program)
    check_inputs(program)
    lonely = list(_notice_lonely_variables(program))  # before they are rewritten
    program = _name_locations(_lonely_to_wildcards(program))
    for rule in program.rules:
        _check_bound(rule)
    noticed = (_notice_undefined_relations, _notice_crashes_of_anybody, _notice_mixed_places)
    # Of the program as it is written: what it is expanded to would be noticed twice.
    notices = [notice for look in noticed for notice in look(program)]
    check_strata(program)
    program = expand_choices(program)
    check_growth(program)
    return CheckedProgram(program, (*lonely, *notices))


def _check_not_empty(program: Program) -> None:
    # An empty program violates nothing; certifying it would hide a wrong file or a missing include.
    if not program.clauses and not program.inputs:
        raise ProgramError(
            "the program is empty", remedy="give a file with facts and rules, such as node(a, b)@1;"
        )


def _uses(program: Program) -> Iterator[tuple[str, int, Position | None]]:
    for clause in (*program.clauses, *program.inputs):
        yield clause.relation, len(clause.args), clause.position
        rule = clause.rule if isinstance(clause, InputRule) else clause
        if isinstance(rule, Rule):
            for premise in rule.premises:
                # ``successor`` is an abbreviation; its columns are checked where it is expanded.
                if premise.relation != SUCCESSOR:
                    yield premise.relation, len(premise.args), premise.position


def _check_arities(program: Program) -> None:
    # The first use decides, wherever it is: nothing is declared in Dedalus.
    first: dict[str, tuple[int, Position | None]] = {name: (arity, None) for name, arity in BUILT_IN.items()}
    for relation, arity, position in _uses(program):
        known, where = first.setdefault(relation, (arity, position))
        if known != arity:
            origin = f"at {where}" if where else f"{_BUILT_IN_COLUMNS[relation]} is built in"
            raise ProgramError(
                f"'{relation}' is used with {arity} columns here and with {known} elsewhere",
                position=position,
                remedy=f"make both the same, or use two names ({origin})",
            )


def _check_built_in(program: Program) -> None:
    for clause in (*program.clauses, *program.inputs):
        if clause.relation in BUILT_IN:
            raise ProgramError(
                f"'{clause.relation}' is built in and cannot be defined",
                position=clause.position,
                remedy=_BUILT_IN_USE[clause.relation],
            )


def _variables(rule: Rule) -> Iterator[Var]:
    """Yield every occurrence of a variable in the rule."""
    for arg in rule.args:
        yield from expr_vars(arg)
    for premise in rule.premises:
        yield from (a for a in premise.args if isinstance(a, Var))
        if isinstance(premise.at, Var):
            yield premise.at
    for comparison in rule.comparisons:
        yield from expr_vars(comparison.left)
        yield from expr_vars(comparison.right)
    for call in rule.calls:
        yield from (v for arg in call.args for v in expr_vars(arg))
        yield from call.results
    for choose in rule.choices:
        yield from (*choose.keys, *choose.values)


def _lonely(rule: Rule) -> set[Var]:
    """Return the variables that occur once in the rule, in a negated premise.

    Strictly, such a variable is unbound.  It is read as ``_``, with a notice, because it may also be a misspelt
    one.
    """
    occurrences = Counter(_variables(rule))
    # Only negated premises: in any other the rule means what it says, and one that occurs once is no mistake.
    negated = {a for p in rule.negative for a in p.args if isinstance(a, Var)}
    return {v for v in negated if occurrences[v] == 1}


def _notice_lonely_variables(program: Program) -> Iterator[Notice]:
    for rule in program.rules:
        lonely = _lonely(rule)
        for premise in rule.negative:
            for arg in premise.args:
                if arg in lonely and isinstance(arg, Var):
                    yield Notice(
                        f"{arg.name} occurs only in 'notin {premise.relation}' and is read as _",
                        premise.position,
                        "write _ to say that any value is meant",
                    )


def _lonely_to_wildcards(program: Program) -> Program:
    return _map_rules(program, _rule_with_wildcards)


def _rule_with_wildcards(rule: Rule) -> Rule:
    lonely = _lonely(rule)
    if not lonely:
        return rule
    body = tuple(
        replace(b, args=tuple(Wildcard() if a in lonely else a for a in b.args))
        if isinstance(b, Premise) and b.negated
        else b
        for b in rule.body
    )
    return replace(rule, body=body)


def _name_locations(program: Program) -> Program:
    """Give a name to the place of a rule that says ``_``: one that sends needs it to say who sends."""
    return _map_rules(program, _rule_with_named_location)


def _rule_with_named_location(rule: Rule) -> Rule:
    if not isinstance(rule.location, Wildcard):
        return rule
    if not rule.positive:
        raise ProgramError(
            f"the rule for '{rule.relation}' has no place to run",
            position=rule.position,
            remedy="give its first premise a location instead of _",
        )
    # Not spellable in the language, so it cannot clash with a variable of the user's.
    here = Var("_here")
    named = replace(rule.positive[0], args=(here, *rule.positive[0].args[1:]))
    return replace(rule, body=tuple(named if b is rule.positive[0] else b for b in rule.body))


def _map_rules(program: Program, rewrite: Callable[[Rule], Rule]) -> Program:
    clauses = tuple(rewrite(c) if isinstance(c, Rule) else c for c in program.clauses)
    return replace(program, clauses=clauses)


def _check_bound(rule: Rule) -> None:
    bound = {a for p in rule.positive for a in p.args if isinstance(a, Var)}
    # p(X)@N binds N to the rule's time, even if p is negated: that time is known in any case.
    bound |= {p.at for p in rule.premises if isinstance(p.at, Var)}
    # In their order: the arguments of a call may be results of one before it.
    for call in rule.calls:
        for var in (v for arg in call.args for v in expr_vars(arg)):
            if var not in bound:
                raise _unbound(var, f"an argument of {call.function.name}", call.position)
        # Only after its arguments were looked at: a call binds nothing for itself.
        bound.update(call.results)
    for arg in rule.args:
        if isinstance(arg, Wildcard):
            raise ProgramError(
                f"'_' in the head of '{rule.relation}' has no value",
                position=rule.position,
                remedy="use a variable that a premise binds, or a constant",
            )
        for var in expr_vars(arg):
            if var not in bound:
                raise _unbound(var, f"the head of '{rule.relation}'", rule.position)
    for comparison in rule.comparisons:
        for var in (*expr_vars(comparison.left), *expr_vars(comparison.right)):
            if var not in bound:
                raise _unbound(
                    var,
                    "a comparison",
                    comparison.position,
                    "; a comparison binds nothing: compute in the head",
                )
    for premise in rule.negative:
        for arg in premise.args:
            if isinstance(arg, Var) and arg not in bound:
                raise _unbound(arg, f"'notin {premise.relation}'", premise.position)


def _unbound(var: Var, where: str, position: Position | None, more: str = "") -> ProgramError:
    return ProgramError(
        f"the variable {var.name} in {where} is not bound",
        position=position,
        remedy=f"add a premise (without notin) that contains {var.name}, or quote it if a string was meant{more}",
    )


def _notice_undefined_relations(program: Program) -> Iterator[Notice]:
    defined = {c.relation for c in (*program.clauses, *program.inputs)} | set(BUILT_IN)
    told: set[str] = set()  # a misspelt name is often misspelt everywhere: once is enough
    for rule in program.rules:
        for premise in rule.premises:
            if premise.relation not in defined and premise.relation not in told:
                told.add(premise.relation)
                holds = f", and 'notin {premise.relation}' always holds" if premise.negated else ""
                # Helpers are relations that a front end made up: nobody has meant one of those.
                nearest = nearest_name(premise.relation, defined - program.helpers)
                spelling = f"did you mean '{nearest}'? Otherwise" if nearest else "check the spelling, or"
                yield Notice(
                    f"no fact or rule defines '{premise.relation}': it is always empty{holds}",
                    premise.position,
                    f"{spelling} give the file that defines it",
                )


def _notice_crashes_of_anybody(program: Program) -> Iterator[Notice]:
    """Notice ``crash(X, _, _)``, which looks like "X has crashed" and is not: the first column is who sees it."""
    for rule in program.rules:
        for premise in rule.premises:
            match premise.args:
                # A named second column is what was meant; with three ``_`` the author says that anybody will do.
                case (Var() | Const(), Wildcard(), Wildcard()) if premise.relation == CRASH:
                    yield Notice(
                        "this looks at whether anybody crashes: the first column of 'crash' is the observer",
                        premise.position,
                        "write crash(_, Node, _) for a node that crashes, or crash(_, _, _) if this is meant",
                    )


def _notice_mixed_places(program: Program) -> Iterator[Notice]:
    """Notice rules that look at, or conclude at, another place than their own without a message.

    In the paper all premises of a rule are at one place (section 4.1.1); only an assertion may see several.
    """
    assertions = assertion_relations(program)
    for rule in program.rules:
        if rule.relation in assertions:
            continue
        here = rule.location
        for premise in rule.positive:
            # Crashes are seen by everybody: the first column of ``crash`` is no place of a row.
            if premise.relation not in BUILT_IN and _elsewhere(premise.args[0], here):
                yield Notice(
                    f"the rule for '{rule.relation}' reads '{premise.relation}' at another place than its own",
                    premise.position,
                    "a node knows only its own rows: send them with @async",
                )
        # An @async rule is a message, whose place is where it arrives.
        if rule.timing is not Timing.ASYNC and rule.args[0] != here:
            yield Notice(
                f"the rule for '{rule.relation}' concludes at another place than its own without a message",
                rule.position,
                "use @async, so that the message can be lost",
            )


def _elsewhere(place: Term, here: Term) -> bool:
    return not isinstance(place, Wildcard) and place != here
