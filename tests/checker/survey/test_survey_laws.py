"""What the survey says of generated programs, compared with every admissible execution of the naive interpreter.

The interpreter knows nothing of solver and encoding.  Rules are watched through *probes*: the same rules for
relations of their own, which change nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import count

from hypothesis import given, note, settings
from hypothesis import strategies as st

from clew.checker.survey.coverage import find_coverage
from clew.checker.survey.equal_values import find_equal_values
from clew.checker.survey.promises import Part, find_promises
from clew.dedalus.printer import print_program
from clew.engine.conditions import Occurrence
from clew.engine.ground import GroundProgram
from clew.faults import FailureSpec
from clew.names import show
from clew.program.assertions import PRE
from clew.program.checks import check_program
from clew.program.ir import Aggregate, Const, Premise, Program, Rule, Timing, Var, Wildcard
from clew.program.outcomes import has_assertions
from clew.search.exhaustive import fault_sets
from generators import programs, tiny_specs
from reference import Execution, Row, evaluate

#: Every execution of every program is interpreted, which is slow.
few = settings(max_examples=settings().max_examples // 4)


@dataclass(frozen=True)
class Watch:
    """What is looked for in an execution; ``probe`` is a rule that is added for that, under a name of its own."""

    happens: Callable[[Execution, str], bool]
    probe: Rule | None = None


class _Everything:
    """Bounds as the exhaustive search sees them, without knowing which faults matter."""

    def __init__(self, spec: FailureSpec) -> None:
        self.spec = spec
        self.faults = list(spec.possible_faults())


def occurrences(program: Program, spec: FailureSpec, watches: Sequence[Watch]) -> list[Occurrence]:
    """Run everything and look."""
    probes = [replace(w.probe, relation=f"probe{n}") for n, w in enumerate(watches) if w.probe]
    watched = replace(program, clauses=(*program.clauses, *probes))
    found = [Occurrence.NEVER] * len(watches)
    for faults in fault_sets(_Everything(spec)):  # type: ignore[arg-type]  # nothing is executed with it
        run = evaluate(watched, spec, faults)
        when = Occurrence.UNDER_FAULTS if faults else Occurrence.FAILURE_FREE
        for n, watch in enumerate(watches):
            if found[n] is Occurrence.NEVER and watch.happens(run, f"probe{n}"):
                found[n] = when
        if Occurrence.NEVER not in found:
            break
    return found


def rows(run: Execution, relation: str, times: Iterable[int]) -> list[frozenset[Row]]:
    return [run[time].get(relation, frozenset()) for time in times if time >= 1]


def times_of(rule: Rule, spec: FailureSpec) -> range:
    """When the rule can fire: what it concludes later must be within the execution."""
    return range(1, spec.eot + (rule.timing is Timing.SAME))


def firing(rule: Rule, spec: FailureSpec) -> Watch:
    return Watch(lambda run, name: any(rows(run, name, times_of(rule, spec))), replace(rule, timing=Timing.SAME))


def promising(rule: Rule, spec: FailureSpec) -> Watch:
    if rule.timing is Timing.ASYNC:
        return Watch(lambda run, name: any(rows(run, name, [spec.eot])), rule)
    time = spec.eot - (rule.timing is Timing.NEXT)
    return Watch(lambda run, name: any(rows(run, name, [time])), replace(rule, timing=Timing.SAME))


def tagging(column: int, tag: str, spec: FailureSpec) -> Watch:
    def happens(run: Execution, _: str) -> bool:
        return any(show(row[column]) == tag for found in rows(run, PRE, [spec.eot]) for row in found)

    return Watch(happens)


def draw_case(data: st.DataObject, *, asserting: bool = False) -> tuple[Program, FailureSpec]:
    drawn = programs().filter(has_assertions) if asserting else programs()
    program = check_program(data.draw(drawn)).program
    spec = data.draw(tiny_specs(program))
    note(print_program(program))
    note(str(spec))
    return program, spec


@few
@given(st.data())
def test_rules_fire_as_brute_force_says(data: st.DataObject) -> None:
    program, spec = draw_case(data)
    found = find_coverage(GroundProgram(program, spec, expect_outcomes=False))
    assert [c.rule for c in found] == list(program.rules)
    # Each probe is a rule more for every execution: two or three are enough of one program.
    chosen = data.draw(st.lists(st.sampled_from(found), min_size=1, max_size=3))
    assert [c.fires for c in chosen] == occurrences(program, spec, [firing(c.rule, spec) for c in chosen])


@few
@given(st.data())
def test_promises_apply_as_brute_force_says(data: st.DataObject) -> None:
    program, spec = draw_case(data, asserting=True)
    rules = [rule for rule in program.rules if rule.relation == PRE]
    tags = dict.fromkeys(
        (k, show(arg.value)) for rule in rules for k, arg in enumerate(rule.args) if isinstance(arg, Const)
    )
    whole, *parts = find_promises(GroundProgram(program, spec))
    expected = occurrences(
        program,
        spec,
        [
            Watch(lambda run, _: any(rows(run, PRE, [spec.eot]))),
            *(promising(rule, spec) for rule in rules),
            *(tagging(column, tag, spec) for column, tag in tags),
        ],
    )
    assert whole.applies is expected[0]
    assert [p.applies for p in parts if p.part is Part.RULE][: len(rules)] == expected[1 : 1 + len(rules)]
    found = {(p.name, p.applies) for p in parts if p.part is Part.TAG}
    assert {(tag, when) for (_, tag), when in zip(tags, expected[1 + len(rules) :], strict=True)} <= found


@few
@given(st.data())
def test_equal_values_are_told_where_brute_force_finds_them(data: st.DataObject) -> None:
    program, spec = draw_case(data)
    watches = [
        equal_values(rule, aggregate, spec)
        for rule in program.rules
        for aggregate in rule.aggregates
        if aggregate.function in ("sum", "avg") and not aggregate.per
    ]
    told = find_equal_values(GroundProgram(program, spec, expect_outcomes=False))
    expected = occurrences(program, spec, watches) if watches else []
    assert len(told) == sum(when is not Occurrence.NEVER for when in expected)


def equal_values(rule: Rule, aggregate: Aggregate, spec: FailureSpec) -> Watch:
    """The probe shows group, value and the rows that the value comes from."""
    names = (Var(f"_{n}") for n in count())
    body = tuple(
        replace(b, args=tuple(next(names) if isinstance(a, Wildcard) else a for a in b.args))
        if isinstance(b, Premise) and not b.negated
        else b
        for b in rule.body
    )
    named = replace(rule, body=body, timing=Timing.SAME)
    group = [a for a in rule.args if not isinstance(a, Aggregate)]
    if rule.timing is Timing.ASYNC:
        group.append(named.location)
    giving = [a for p in named.positive if aggregate.var in p.args for a in p.args]
    probe = replace(named, args=(*group, aggregate.var, *giving))

    def happens(run: Execution, name: str) -> bool:
        every = rows(run, name, times_of(rule, spec))
        return any(_repeats(found, len(group), aggregate.function) for found in every)

    return Watch(happens, probe)


def _repeats(found: Iterable[Row], group: int, function: str) -> bool:
    counted = [row[: group + 1] for row in found if row[group] != 0 or function != "sum"]
    return len(set(counted)) < len(counted)
