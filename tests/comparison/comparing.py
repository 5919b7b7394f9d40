"""What is compared of one problem: the interpreter under sets of faults, all searches, and the command line."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import chain, combinations
from pathlib import Path
from random import Random

import reference
from clew.checker.lasting import refuse_lasting
from clew.checker.model import Model
from clew.checker.strategies import STRATEGIES, Options, examine
from clew.checker.traced import TracedModel
from clew.dedalus.printer import print_program
from clew.engine.ground import GroundProgram
from clew.errors import ProgramError, UsageError
from clew.faults import FailureSpec, Fault, FaultSet
from clew.lineage.negation import Negation
from clew.names import show
from clew.program.ir import BUILT_IN, Program
from clew.program.outcomes import has_assertions
from clew.report.replay.reading import read_verdict
from clew.search import exact, exhaustive, lineage, random_faults
from clew.search.symmetry import Symmetries
from clew.search.verdict import Answer, Findings, Ledger, conduct
from clew.violation import Violation
from command import clew
from comparison.problems import MOST_SETS, Problem, count_sets
from named_promises import promise_names

#: One of so many problems is searched by the interpreter alone, which takes most of the time.  Of the others, it
#: runs what decides the answer, and so many sets of faults more.
_EVERY = 16
_SAMPLE = 10

#: What lasts is looked at so many steps beyond the end.
_LATER = 8

#: Of a list of all counterexamples so many are executed again by the command that is printed with each.
_MOST_REPLAYED = 3

Search = Callable[[Ledger], str | None]


class DisagreementError(AssertionError):
    """Two ways to an answer come to two answers."""


@dataclass
class Counts:
    """How much was compared."""

    programs: int = 0
    lasting: int = 0
    brute_force: int = 0
    interpreted: int = 0
    executed: int = 0
    failing: int = 0
    commands: int = 0
    replays: int = 0

    def add(self, other: Counts) -> None:
        for name, number in asdict(other).items():
            setattr(self, name, getattr(self, name) + number)


def compare(number: int, problem: Problem, folder: Path) -> Counts:
    """Compare all ways to the answers of one problem; raise ``DisagreementError`` where two differ."""
    counts = Counts(programs=1)
    _compare_execution(problem, counts)
    draw = Random(number)
    if draw.randrange(_EVERY) == 0:
        counts.brute_force = 1
        oracle = _interpret_all(problem, counts)
    else:
        oracle = _execute_all(problem, counts)
        _interpret_some(draw, problem, oracle, counts)
    counts.failing = int(any(oracle.values()))
    _compare_searches(draw, problem, oracle, counts)
    if draw.randrange(10) == 0:
        _compare_lasting(draw, problem, counts)
    _compare_command(draw, problem, oracle, folder, counts)
    return counts


# -- one execution ------------------------------------------------------------------------------------------------


def _violations(program: Program, spec: FailureSpec, faults: FaultSet) -> set[Violation]:
    """What the interpreter says is violated."""
    if has_assertions(program):
        return {Violation(*found) for found in reference.broken_promises(program, spec, faults)}
    return {Violation(str(row[0]), row[1:]) for row in reference.violations(program, spec, faults)}


def _compare_execution(problem: Problem, counts: Counts) -> None:
    """Compare the rows, messages and violations of one execution with faults of all kinds."""
    written, spec, faults = problem.written, problem.wide, problem.faults
    run = GroundProgram(problem.program, spec).run(faults)
    expected = reference.evaluate(written, spec, faults)
    for time, tables in expected.items():
        for relation, rows in tables.items():
            if relation not in BUILT_IN:
                _agree(set(run.rows(relation, time)), set(rows), f"{relation} at {time} under {faults} in {spec}")
    _agree(set(run.violations), _violations(written, spec, faults), f"violations under {faults} in {spec}")
    sent = {(m.relation, m.source, m.row, m.sent) for m in run.messages}
    _agree(sent, set(reference.sendings(written, spec, faults)), f"messages under {faults} in {spec}")
    few = GroundProgram(problem.program, spec, only=faults).run(faults)
    _agree(few.tables, run.tables, f"the run with these faults alone, {faults} in {spec}")
    counts.executed += 2
    counts.interpreted += 1


# -- all executions -----------------------------------------------------------------------------------------------


def _interpret_all(problem: Problem, counts: Counts) -> dict[str, set[FaultSet]]:
    """Return for each promise its minimal sets of faults, by running the interpreter under every set."""
    written, spec, possible = problem.written, problem.spec, problem.possible
    names = promise_names(written) if has_assertions(written) else [""]
    failing: dict[str, list[set[Fault]]] = {name: [] for name in names}
    for chosen in chain.from_iterable(combinations(possible, n) for n in range(_most(spec, possible) + 1)):
        faults, happening = FaultSet.of(chosen), set(chosen)
        # What contains a minimal set of every promise is minimal for none.
        covered = all(any(smaller <= happening for smaller in known) for known in failing.values())
        if not covered and spec.admits(faults):
            counts.interpreted += 1
            for violation in _violations(written, spec, faults):
                known = failing[violation.relation if has_assertions(written) else ""]
                if not any(smaller <= happening for smaller in known):
                    known.append(happening)
    return {name: {FaultSet.of(faults) for faults in sets} for name, sets in failing.items()}


def _execute_all(problem: Problem, counts: Counts) -> dict[str, set[FaultSet]]:
    """Return for each promise its minimal sets of faults, by the engine under every set."""
    model = Model(problem.program, problem.spec)
    found = _conduct(lambda book: exhaustive.search(model, book, find_all=True, promises=model.promises), counts)
    if not has_assertions(problem.program):
        return {"": _minimal(found)}
    return _minimal_by_promise(found, promise_names(problem.written))


def _interpret_some(draw: Random, problem: Problem, oracle: Mapping[str, set[FaultSet]], counts: Counts) -> None:
    """Compare runs with the interpreter: of minimal sets, of these without one of their faults, and of others."""
    written, spec = problem.written, problem.spec
    minimal = sorted(_union(oracle), key=FaultSet.sort_key)
    sets: dict[FaultSet, None] = {FaultSet(): None}
    for faults in minimal[:_SAMPLE]:
        sets[faults] = None
        sets.update({FaultSet.of(f for f in faults if f != fault): None for fault in faults})
    for _ in range(_SAMPLE):
        chosen: list[Fault] = []
        for fault in draw.sample(problem.possible, draw.randint(0, min(6, len(problem.possible)))):
            if spec.admits(FaultSet.of([*chosen, fault])):
                chosen.append(fault)
        sets[FaultSet.of(chosen)] = None
    model = Model(problem.program, spec)
    for faults in sets:
        counts.interpreted += 1
        counts.executed += 1
        broken = _violations(written, spec, faults)
        _agree(set(model.run(faults).violations), broken, f"violations under {faults}")
        for name, smallest in oracle.items():
            is_broken = any(not name or violation.relation == name for violation in broken)
            expected = any(set(one) <= set(faults) for one in smallest)
            # More faults may as well make good what some of them break.
            if is_broken > expected or (faults in smallest and not is_broken):
                raise DisagreementError(f"{name} under {faults}: the interpreter says {sorted(map(str, broken))}")


def _most(spec: FailureSpec, possible: Collection[Fault]) -> int:
    """Return how many of these can happen at once at most."""
    kinds = {type(fault) for fault in possible}
    counts = [(kind.most(spec), sum(type(f) is kind for f in possible)) for kind in kinds]
    return sum(count if most is None else min(most, count) for most, count in counts)


def _compare_searches(draw: Random, problem: Problem, oracle: dict[str, set[FaultSet]], counts: Counts) -> None:
    program, spec = problem.program, problem.spec
    plain = Model(program, spec)
    negation = draw.choice((Negation.EXACT, Negation.CONSERVATIVE))
    traced = TracedModel(program, spec, negation)
    promises = plain.promises
    everything: dict[str, Search] = {
        "exhaustive": lambda book: exhaustive.search(plain, book, find_all=True, promises=promises),
        "exact": lambda book: exact.search(plain, book, find_all=True, promises=promises),
        f"lineage, {negation.value}": lambda book: lineage.search(traced, book, find_all=True, promises=promises),
    }
    for name, search in everything.items():
        found = _conduct(search, counts)
        _agree(found.answer, _answer(oracle), f"the answer of {name}")
        _agree(_minimal(found), _union(oracle), f"minimal counterexamples of {name}")
        if has_assertions(program):
            _agree(_minimal_by_promise(found, oracle), oracle, f"minimal counterexamples by promise of {name}")
    _compare_fewest(draw, problem, oracle, plain, counts)
    if draw.randrange(4) == 0:
        _compare_symmetric(problem, oracle, plain, counts)


def _compare_fewest(
    draw: Random, problem: Problem, oracle: dict[str, set[FaultSet]], plain: Model, counts: Counts
) -> None:
    """Compare the fewest faults for each promise, and that draws at random claim no more than is so."""
    first = TracedModel(problem.program, problem.spec, Negation.EXACT)
    one: dict[str, Search] = {
        "exact": lambda book: exact.search(plain, book, promises=plain.promises),
        "lineage": lambda book: lineage.search(first, book, promises=plain.promises),
        "exhaustive": lambda book: exhaustive.search(plain, book, promises=plain.promises),
    }
    fewest = min((faults.weight for sets in oracle.values() for faults in sets), default=None)
    for name, search in one.items():
        found = _conduct(search, counts)
        _agree(found.answer, _answer(oracle), f"the first answer of {name}")
        _agree(min((f.weight for f in _minimal(found)), default=None), fewest, f"the fewest faults of {name}")
    seed = draw.randrange(100)
    drawn = _conduct(lambda book: random_faults.search(plain, book, seed=seed, max_runs=5), counts)
    if drawn.answer is Answer.CERTIFIED:
        raise DisagreementError("a draw at random certifies")
    for counterexample in drawn.counterexamples:
        expected = _violations(problem.written, problem.spec, counterexample.faults)
        _agree(
            set(counterexample.violations), expected, f"what {counterexample.faults}, drawn at random, violates"
        )


def _compare_symmetric(problem: Problem, oracle: dict[str, set[FaultSet]], plain: Model, counts: Counts) -> None:
    traced = TracedModel(problem.program, problem.spec, Negation.EXACT)
    symmetries = Symmetries(plain.symmetries(), problem.spec.nodes)
    halved: dict[str, Search] = {
        "exhaustive": lambda book: exhaustive.search(
            plain, book, find_all=True, symmetric=plain, promises=plain.promises
        ),
        "lineage": lambda book: lineage.search(
            traced, book, find_all=True, symmetric=traced, promises=plain.promises
        ),
    }
    for name, search in halved.items():
        known = _minimal(_conduct(search, counts))
        images = {image for faults in known for image in symmetries.images(faults)}
        _agree(known | images, _union(oracle), f"counterexamples of {name} with symmetry")


def _compare_lasting(draw: Random, problem: Problem, counts: Counts) -> None:
    """Compare two searches for what lasts, and what they find with a long run of the interpreter."""
    written, program, spec = problem.written, problem.program, replace(problem.spec, eot=problem.spec.eot + 2)
    # In a longer run more can happen, which is too much for the search that tries it all.
    if count_sets(Model(program, spec).faults, spec) > MOST_SETS:
        return
    try:
        refuse_lasting(program, spec)
        found, executed = (
            examine(STRATEGIES[name], program, spec, Options(lasting=True), Ledger()).findings
            for name in ("exact", "exhaustive")
        )
    except (ProgramError, UsageError):  # what lasts has no meaning for it
        return
    counts.lasting += 1
    counts.executed += found.runs + executed.runs
    answers = [(one.answer, bool(one.reason)) for one in (found, executed)]
    _agree(answers[0], answers[1], "the answers on what lasts")
    weights = [sorted(f.weight for f in _minimal(one)) for one in (found, executed)]
    _agree(weights[0], weights[1], "the fewest faults that last")
    longer = replace(spec, eot=spec.eot + _LATER)
    for faults in _minimal(found):
        counts.interpreted += 1
        if not _lasts(written, longer, faults, spec.eot, spec.eot):
            raise DisagreementError(f"the violation under {faults} does not last in {longer}")
    # Bounds may allow none of a kind, such as no input.
    over = [fault for fault in problem.possible if fault.last <= spec.eff and spec.admits(FaultSet.of([fault]))]
    for fault in draw.sample(over, min(_SAMPLE // 2, len(over))) if found.answer is Answer.CERTIFIED else ():
        counts.interpreted += 1
        if _lasts(written, longer, FaultSet.of([fault]), spec.eot, longer.eot):
            raise DisagreementError(f"the violation under {fault} lasts in {longer}")


def _lasts(program: Program, spec: FailureSpec, faults: FaultSet, since: int, until: int) -> bool:
    """Tell whether something is violated at all times from ``since`` on, or ``never`` has a row by ``until``."""
    run = reference.evaluate(program, spec, faults)
    if not has_assertions(program):
        expected = reference.evaluate(program, spec, FaultSet())
        kept = reference.persistent_relations(program)
        return all(any(expected[t][name] - run[t][name] for name in kept) for t in range(since, spec.eot + 1))
    names = promise_names(program)
    if any(run[time][name] for name in names if name.startswith("never") for time in range(1, until + 1)):
        return True
    pairs = [(name, "post" + name[3:]) for name in names if name.startswith("pre")]
    return all(any(run[t][pre] - run[t][post] for pre, post in pairs) for t in range(since, spec.eot + 1))


def _conduct(search: Search, counts: Counts) -> Findings:
    ledger = Ledger()
    found = conduct(search, ledger)
    counts.executed += found.runs
    return found


def _union(oracle: Mapping[str, set[FaultSet]]) -> set[FaultSet]:
    return {faults for sets in oracle.values() for faults in sets}


def _answer(oracle: Mapping[str, set[FaultSet]]) -> Answer:
    return Answer.COUNTEREXAMPLE if any(oracle.values()) else Answer.CERTIFIED


def _minimal(findings: Findings) -> set[FaultSet]:
    return {counterexample.faults for counterexample in findings.counterexamples}


def _minimal_by_promise(findings: Findings, names: Collection[str]) -> dict[str, set[FaultSet]]:
    found: dict[str, set[FaultSet]] = {}
    for name in names:
        breaking = [c.faults for c in findings.counterexamples if any(v.relation == name for v in c.violations)]
        found[name] = {f for f in breaking if not any(set(o) < set(f) for o in breaking)}
    return found


def _agree(found: object, expected: object, what: str) -> None:
    if found != expected:
        raise DisagreementError(f"{what}:\n  {found}\n  and not\n  {expected}")


# -- the command line ---------------------------------------------------------------------------------------------


def _compare_command(
    draw: Random, problem: Problem, oracle: dict[str, set[FaultSet]], folder: Path, counts: Counts
) -> None:
    """Check the program by the command, and execute every command that it prints."""
    written, spec = problem.written, problem.spec
    file, saved = folder / "program.ded", folder / "verdict.json"
    file.write_text(print_program(written), encoding="utf-8")
    find_all = ["--all"] if draw.randrange(5) == 0 else []
    strategy = ["--strategy", draw.choice(("exact", "exact", "lineage", "exhaustive"))]
    asked = ["check", str(file), *_flags(spec), "--allow-hollow", *strategy, *find_all, "--json", str(saved)]
    answer = clew(*asked)
    counts.commands += 1
    if answer.returncode != (1 if any(oracle.values()) else 0):
        raise DisagreementError(f"exit code {answer.returncode} of clew {shlex.join(asked)}\n{answer.stderr}")
    told = read_verdict(saved)
    for counterexample in told.counterexamples:
        expected = _violations(written, spec, counterexample.faults)
        _agree(set(counterexample.violations), expected, f"what {counterexample.faults} violates, by the command")
    commands = [
        line.split("replay: clew ", 1)[1] for line in answer.stdout.splitlines() if "replay: clew " in line
    ]
    if told.counterexamples and not commands:
        raise DisagreementError(f"no replay command in\n{answer.stdout}")
    for command, counterexample in list(zip(commands, told.counterexamples, strict=False))[:_MOST_REPLAYED]:
        again = folder / "run.json"
        replayed = clew(*shlex.split(command), "--json", str(again))
        counts.replays += 1
        if replayed.returncode != 1:
            raise DisagreementError(f"exit code {replayed.returncode} of clew {command}\n{replayed.stderr}")
        document = json.loads(again.read_text(encoding="utf-8"))
        violated = {Violation(v["relation"], tuple(v["row"]), v.get("time")) for v in document["violated"]}
        _agree(violated, set(counterexample.violations), f"what clew {command} violates")


def _flags(spec: FailureSpec) -> list[str]:
    numbers = [part for name, number in spec.numbers.items() for part in (f"--{name}", str(number))]
    return ["--nodes", ",".join(map(show, spec.nodes)), *numbers]
