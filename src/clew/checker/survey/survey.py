"""Everything that is looked up beside the search, and what of it the reader has to know.

A *caution* is what makes the absence of a counterexample mean little; a *remark* is worth knowing, no more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from clew.budgets.deadline import Deadline
from clew.checker.survey.coverage import RuleCoverage, count_firings, find_coverage
from clew.checker.survey.equal_values import find_equal_values
from clew.checker.survey.promises import Part, Promise, find_promises
from clew.checker.survey.tautology import find_tautologies
from clew.engine.conditions import Occurrence
from clew.engine.ground import GroundProgram
from clew.errors import BudgetExhaustedError, Notice, Position
from clew.faults import FailureSpec
from clew.program.assertions import is_never, is_pre, post_of, states_more_than_one
from clew.program.ir import Program
from clew.program.outcomes import has_assertions, rests_on_messages, stated_outcomes


@dataclass(frozen=True)
class Survey:
    """What is promised, which rules fire, and what else was noticed; ``finished`` if nothing was left out."""

    promises: tuple[Promise, ...] = ()
    coverage: tuple[RuleCoverage, ...] = ()
    notices: tuple[Notice, ...] = ()
    finished: bool = True

    @property
    def whole(self) -> Occurrence:
        """Return when anything at all is promised; of several promises, when the one is that says least."""
        parts = [p.applies for p in self.promises if p.part is Part.WHOLE]
        if parts:
            # Each promise is to say something: one that never applies would hide behind the others.
            order = (Occurrence.NEVER, Occurrence.UNKNOWN, Occurrence.UNDER_FAULTS, Occurrence.FAILURE_FREE)
            return min(parts, key=order.index)
        parts = [p.applies for p in self.promises if p.part is Part.RELATION]
        known = (Occurrence.FAILURE_FREE, Occurrence.UNDER_FAULTS, Occurrence.UNKNOWN)
        return next((when for when in known if when in parts), Occurrence.NEVER if parts else Occurrence.UNKNOWN)

    @property
    def known(self) -> bool:
        """Tell whether it was found out if anything is promised."""
        return self.whole is not Occurrence.UNKNOWN

    @property
    def hollow(self) -> bool:
        """Tell whether nothing is promised in any admissible execution, or by one of several promises."""
        return self.whole is Occurrence.NEVER

    @property
    def hollow_promises(self) -> tuple[str, ...]:
        """Return the promises that apply in no admissible execution, if others do or may."""
        whole = [p for p in self.promises if p.part is Part.WHOLE]
        return tuple(p.relation for p in whole if p.applies is Occurrence.NEVER) if len(whole) > 1 else ()

    def applies(self, relation: str) -> Occurrence:
        """Return when one of several promises applies."""
        whole = (p.applies for p in self.promises if p.part is Part.WHOLE and p.relation == relation)
        return next(whole, Occurrence.UNKNOWN)

    @property
    def silent(self) -> tuple[RuleCoverage, ...]:
        """Return the rules that fire in no admissible execution although one would expect them to."""
        return tuple(c for c in self.coverage if c.fires is Occurrence.NEVER and not c.expected)


def take_survey(ground: GroundProgram, deadline: Deadline, *, count: bool = False) -> Survey:
    """Look up promises and rules in all executions; ``count`` how often rules fire in the failure-free run."""
    # In the order of what a reader misses most: what the budget cuts off is the rest.
    found = Survey(finished=False)
    try:
        found = replace(found, promises=find_promises(ground))
        follows = find_tautologies(ground, deadline)
        found = replace(
            found,
            promises=tuple(
                replace(p, follows=follows[p.rule], suspected=follows[p.rule] is None) if p.rule in follows else p
                for p in found.promises
            ),
        )
        found = replace(found, coverage=find_coverage(ground))
        found = replace(found, notices=find_equal_values(ground))
        if count:
            times = count_firings(ground.program, ground.spec, deadline)
            found = replace(found, coverage=tuple(replace(c, times=times[c.rule]) for c in found.coverage))
    except BudgetExhaustedError:
        return found
    # What ran out within the last questions has left them unknown.
    return replace(found, finished=not (deadline.passed() or (deadline.effort and deadline.effort.exhausted)))


def look_at_sums(ground: GroundProgram) -> Survey:
    """Look up equal values alone: a sum without them may be why there is a counterexample."""
    return Survey(notices=find_equal_values(ground), finished=False)


def look_at_promises(ground: GroundProgram) -> Survey:
    """Look up also which promises apply: those that hold beside a counterexample may promise nothing."""
    return replace(look_at_sums(ground), promises=find_promises(ground))


def find_cautions(survey: Survey | None, program: Program, spec: FailureSpec, *, vacuous: bool) -> Iterator[str]:
    """Yield what makes the absence of a counterexample mean little."""
    if survey is not None and survey.hollow and not survey.hollow_promises:
        yield "nothing is promised within these bounds"
    elif states_more_than_one(program):
        yield from _idle_promises(survey)
    elif vacuous:
        yield (
            "in the failure-free run 'pre' is empty at the end, so little is said: "
            "EOT may be too small, or nothing keeps its rows"
        )
    # One is enough, and all of them can be many: they are made one by one.
    if program.open_rows:
        pass  # inputs and choices are tried, whatever faults there are
    elif next(spec.possible_faults(), None) is None:
        yield "these bounds allow no fault at all; give --eff, --crashes or --delays"
    elif not rests_on_messages(program):
        promised = _describe_outcomes(program)
        yield f"{promised} depends on no message and on no crash, so that no fault could break it"
    if survey is not None and (not survey.hollow or survey.hollow_promises):
        yield from _doubts(survey)


def _idle_promises(survey: Survey | None) -> Iterator[str]:
    """Yield each of several promises of which nothing is asked in the failure-free run."""
    for promise in survey.promises if survey is not None else ():
        if promise.part is Part.WHOLE and is_pre(promise.name) and promise.applies is Occurrence.UNDER_FAULTS:
            yield (
                f"in the failure-free run '{promise.name}' is empty at the end, so little is said by it: "
                "EOT may be too small, or nothing keeps its rows"
            )


def _describe_outcomes(program: Program) -> str:
    if has_assertions(program):
        return "what is promised"
    return f"what must survive ({', '.join(stated_outcomes(program))})"


def _doubts(survey: Survey) -> Iterator[str]:
    """Yield the parts of the promise that say nothing."""
    for promise in _skip_repeated_tags(survey.promises):
        if promise.applies is Occurrence.NEVER:
            yield f"{_describe(promise)} never applies within these bounds: nothing is promised by it"
        elif promise.applies is Occurrence.UNKNOWN:
            yield f"it is not known whether {_describe(promise)} ever applies"
        elif promise.follows or promise.suspected:
            yield f"{_describe(promise)} {_why_unbreakable(promise)}"
    if not survey.finished:
        yield "the budget did not suffice to look up every promise and every rule"


def _why_unbreakable(promise: Promise) -> str:
    post = post_of(promise.relation)
    match bool(promise.follows), is_never(promise.relation):
        case True, True:
            return "cannot be broken: what it looks for excludes itself, whatever happens"
        case False, True:
            return "can perhaps not be broken: what it looks for may exclude itself"
        case True, False:
            return f"cannot be broken: '{post}' follows from '{promise.relation}' alone, whatever happens"
        case _:
            return f"can perhaps not be broken: '{post}' may follow from '{promise.relation}' alone"


def find_remarks(survey: Survey | None) -> Iterator[str]:
    """Yield what is worth knowing."""
    for promise in _skip_repeated_tags(survey.promises if survey is not None else ()):
        # Of what must never hold, each rule is told of, and the whole is no more than that.
        if promise.part in (Part.RULE, Part.TAG) and promise.applies is Occurrence.UNDER_FAULTS:
            yield f"{_describe(promise)} applies only under faults"


def _skip_repeated_tags(promises: Iterable[Promise]) -> Iterator[Promise]:
    """Yield the promises without tags of which no more is to be said than of the rule that writes them."""
    # Rules come before tags in a survey, so those that matter here have been seen.
    rules: set[tuple[Position | None, Occurrence]] = set()
    for promise in promises:
        if promise.part is Part.RULE:
            rules.add((promise.position, promise.applies))
        if promise.part is not Part.TAG or (promise.position, promise.applies) not in rules:
            yield promise


def _describe(promise: Promise) -> str:
    where = f" ({promise.position.file}:{promise.position.line})" if promise.position else ""
    match promise.part:
        case Part.WHOLE:
            return f"'{promise.name}'"
        case Part.RULE:
            tags = f" with {promise.name}" if promise.name != promise.relation else ""
            return f"a rule for '{promise.relation}'{tags}{where}"
        case Part.TAG:
            return f"the tag {promise.name} in '{promise.relation}'{where}"
        case Part.RELATION:
            return f"'{promise.name}'"
