"""When each of several promises applies: on generated programs as brute force says, and on some by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from clew import Answer, Verdict, check, parse_program
from clew.checker.answers import Standing
from clew.checker.survey.promises import Part, find_promises
from clew.dedalus.printer import print_program
from clew.engine.conditions import Occurrence
from clew.engine.ground import GroundProgram
from clew.faults import FailureSpec, FaultSet
from clew.program.checks import check_program
from clew.program.ir import Aggregate, Const, Premise, Program, Rule, Term, Timing, Wildcard
from clew.search.exhaustive import fault_sets
from generators import few_mixed_specs
from named_promises import promise_names, promising_programs
from reference import evaluate

#: Every execution of every program is interpreted twice, which is slow.
few = settings(max_examples=settings().max_examples // 20 + 1)

#: The relations that generated programs use only to say what must never hold.
TERMS = ("heard", "silent")


class _Everything:
    """Bounds as the exhaustive search sees them, without knowing which faults matter."""

    def __init__(self, spec: FailureSpec) -> None:
        self.spec = spec
        self.faults = list(spec.possible_faults())


def alone(program: Program) -> tuple[Program, dict[str, list[list[str]]]]:
    """The program with a relation for each premise of what must never hold, and what each promise looks for.

    That is, for each of its rules, the relations of which each has a row at some time.
    """
    rules: list[Rule] = []
    wanted: dict[str, list[list[str]]] = {}
    loose = [c for c in program.clauses if isinstance(c, Rule) and c.relation.startswith(("never", *TERMS))]
    for n, rule in enumerate(loose):
        names = [f"never_{n}_{k}" for k in range(len(rule.positive))]
        wanted.setdefault(rule.relation, []).append(names)
        for name, premise in zip(names, rule.positive, strict=True):
            anything = replace(premise, args=tuple(Wildcard() for _ in premise.args))
            rules.append(Rule(name, (Const("there"),), Timing.SAME, (anything,)))
    # The terms of generated programs are made of what is no term: the relation that stands for their one premise
    # takes their place.
    terms = {
        r.body[0].relation: r for r in rules if isinstance(r.body[0], Premise) and r.body[0].relation in TERMS
    }
    stand_ins = {term: wanted[term][0][0] for term in terms}
    bodies = [replace(r, body=(Premise(stand_ins[t], (Wildcard(),)),)) for t, r in terms.items()]
    kept = [r for r in rules if r not in terms.values()]
    return replace(program, clauses=(*program.clauses, *kept, *bodies)), wanted


def joined(program: Program) -> Program:
    """The program in which what must never hold leaves out the comparisons and negations that make it wrong."""
    loose = ("never", *TERMS)
    clauses = (_join(c) if isinstance(c, Rule) and c.relation.startswith(loose) else c for c in program.clauses)
    return replace(program, clauses=tuple(clauses))


def _join(rule: Rule) -> Rule:
    args = tuple(Const("some") if isinstance(a, Aggregate) else a for a in rule.args)
    return replace(rule, args=args, body=tuple(replace(p, args=_any_count(p)) for p in rule.positive))


def _any_count(premise: Premise) -> tuple[Term, ...]:
    return (premise.args[0], Wildcard()) if premise.relation == "heard" else premise.args


def applies(program: Program, spec: FailureSpec, relation: str, faults: FaultSet) -> bool:
    if not relation.startswith("never"):
        return bool(evaluate(program, spec, faults)[spec.eot][relation])
    apart, wanted = alone(program)
    run = evaluate(apart, spec, faults).values()
    return any(all(any(t[name] for t in run) for name in names) for names in wanted[relation])


def meets(program: Program, spec: FailureSpec, relation: str, faults: FaultSet) -> bool:
    return any(tables[relation] for tables in evaluate(joined(program), spec, faults).values())


@few
@given(st.data())
def test_each_promise_applies_as_brute_force_says(data: st.DataObject) -> None:
    program = check_program(data.draw(promising_programs())).program
    spec = data.draw(few_mixed_specs(program, 80))
    note(f"{spec}\n{print_program(program)}\n{program.durable}")
    found = {p.relation: p.applies for p in find_promises(GroundProgram(program, spec)) if p.part is Part.WHOLE}
    assert sorted(found) == promise_names(program)
    for relation, when in found.items():
        runs = [f for f in fault_sets(_Everything(spec)) if applies(program, spec, relation, f)]  # type: ignore[arg-type]  # nothing is executed with it
        expected = Occurrence.UNDER_FAULTS if runs else Occurrence.NEVER
        assert when is (Occurrence.FAILURE_FREE if FaultSet() in runs else expected), relation
        # Whatever is found together is found apart, however that is worked out.
        assert runs or not meets(program, spec, relation, FaultSet())


LOCK = """
    want(a, s); want(b, s);
    want(X, S)@next :- want(X, S);
    ask(S, X)@async :- want(X, S);
    holds(X, S)@async :- ask(S, X), X == a;
    holds(X, S)@next :- holds(X, S);
"""


def _check(assertions: str, *, allow_hollow: bool = False, strict: bool = False) -> Verdict:
    program, nodes = parse_program(LOCK + assertions), ["a", "b", "s"]
    return check(program, nodes=nodes, eot=4, eff=0, crashes=1, allow_hollow=allow_hollow, strict=strict)


def _standings(verdict: Verdict) -> dict[str, Standing]:
    return {answer.assertion.relation: answer.standing for answer in verdict.promises}


#: What must never hold, and whether that says something: the first terms are all empty without faults.
SAYS_SOMETHING = [
    ("never(X, Y) :- holds(X, S), holds(Y, S), X != Y;", True),
    ("clash(X, Y) :- holds(X, S), holds(Y, S), X != Y; never(X, Y) :- clash(X, Y);", True),
    ("many(S, count<X>) :- holds(X, S); never(S) :- many(S, 2);", True),
    ("many(S, count<X>) :- holds(X, S); never(S) :- many(S, N), N > 1;", True),
    ("owns(X) :- holds(X, _); owns(X) :- owns(X), owns(X); never(X) :- owns(X), notin want(X, s);", True),
    ("never(S) :- holds(a, S), holds(b, S);", True),
    ("never(S) :- holds(b, S);", True),
    ("never(S) :- holds(a, S), holds(b, s)@1;", False),  # nobody holds anything at time 1
    ("never(X) :- holds(X, S), ask(X, S);", False),
    ("never(X) :- held(X, _);", False),
    ("never(X) :- holds(X, t);", False),
    ("never(X) :- holds(X, S), holds(S, X);", False),
    ("clash(X, Y) :- hold(X, S), holds(Y, S), X != Y; never(X, Y) :- clash(X, Y);", False),
    ("clash(X) :- holds(X, t); never(X) :- clash(X);", False),
]


@pytest.mark.parametrize(("assertions", "says"), SAYS_SOMETHING)
def test_what_must_never_hold_is_hollow_only_if_what_it_looks_for_is_never_there(
    assertions: str, says: bool
) -> None:
    verdict = _check(assertions)
    assert verdict.answer is (Answer.CERTIFIED if says else Answer.INCOMPLETE)
    assert verdict.ruled_out
    assert _standings(verdict) == {"never": Standing.CERTIFIED if says else Standing.VACUOUS}
    assert _check(assertions, allow_hollow=True).answer is Answer.CERTIFIED


PAIR = "pre_served(X) :- want(X, _); post_served(X) :- want(X, _), ask(_, _); "


def test_one_promise_that_says_nothing_makes_the_answer_incomplete_and_is_named() -> None:
    verdict = _check(PAIR + "never(X) :- held(X, _);")
    assert verdict.answer is Answer.INCOMPLETE
    assert verdict.reason == (
        "nothing is promised by 'never', which applies in no admissible execution (--allow-hollow permits that)"
    )
    assert _standings(verdict) == {"pre_served": Standing.CERTIFIED, "never": Standing.VACUOUS}
    assert "'never' never applies within these bounds: nothing is promised by it" in verdict.cautions
    allowed = _check(PAIR + "never(X) :- held(X, _);", allow_hollow=True)
    assert (allowed.answer, _standings(allowed)) == (Answer.CERTIFIED, _standings(verdict))


def test_a_promise_that_holds_beside_a_broken_one_is_no_certificate_if_it_says_nothing() -> None:
    broken = "pre(X) :- want(X, _); post(X) :- holds(X, _); "
    verdict = _check(broken + PAIR + "never(X) :- held(X, _);")
    assert verdict.answer is Answer.COUNTEREXAMPLE
    assert _standings(verdict) == {
        "pre": Standing.VIOLATED,
        "pre_served": Standing.CERTIFIED,
        "never": Standing.VACUOUS,
    }


def test_a_pair_that_applies_only_under_faults_is_named_in_the_caution() -> None:
    assertions = PAIR + "pre_dead(X) :- want(X, _), crash(_, X, _); post_dead(X) :- want(X, _), ask(_, _);"
    verdict = _check(assertions)
    assert verdict.answer is Answer.CERTIFIED
    assert verdict.cautions == (
        "in the failure-free run 'pre_dead' is empty at the end, so little is said by it: "
        "EOT may be too small, or nothing keeps its rows",
    )
    assert _check(assertions, strict=True).answer is Answer.INCOMPLETE
    assert _standings(_check(assertions, strict=True)) == dict.fromkeys(
        ("pre_served", "pre_dead"), Standing.UNDECIDED
    )


@pytest.mark.parametrize(
    ("assertions", "caution"),
    [
        (
            "never(X) :- holds(X, S), notin holds(X, S);",
            "a rule for 'never' (<text>:7) cannot be broken: what it looks for excludes itself, whatever happens",
        ),
        (
            "pre_x(X, S) :- holds(X, S); post_x(X, S) :- holds(X, S);",
            "a rule for 'pre_x' (<text>:7) cannot be broken: "
            "'post_x' follows from 'pre_x' alone, whatever happens",
        ),
    ],
)
def test_a_promise_that_nothing_could_break_is_told(assertions: str, caution: str) -> None:
    verdict = _check(assertions)
    assert [c for c in verdict.cautions if "cannot be broken" in c] == [caution]


def test_rules_that_say_what_is_wrong_are_not_expected_to_fire() -> None:
    verdict = _check("clash(X, Y) :- holds(X, S), holds(Y, S), X != Y; never(X, Y) :- clash(X, Y);")
    assert verdict.survey is not None
    assert verdict.survey.silent == ()
