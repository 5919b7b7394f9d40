"""Refute the question with a SAT solver that writes down its steps, and add loop formulas until that succeeds.

clingo itself gives no proof that a public checker reads, so its answer is found a second time, as a SAT problem.
Lazily: all loop formulas would be exponentially many, and most programs need none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pysat.solvers import Solver

from clew.budgets.deadline import Deadline
from clew.errors import BudgetExhaustedError
from clew.faults import FailureSpec
from clew.program.ir import Program
from clew.proof.completion import MOST_LITERALS, Completion, TooLargeError
from clew.proof.loops import Foundations
from clew.proof.question import Question, UnsupportedStatementError, ground_question

#: One that writes proofs, can be interrupted, and is deterministic.  It adds only what unit propagation confirms.
_SOLVER = "glucose4"


@dataclass(frozen=True)
class Refutation:
    """A question, its clauses, what their variables stand for, and the steps of a proof that there is no model."""

    question: Question
    spec: FailureSpec
    variables: int
    clauses: tuple[tuple[int, ...], ...]
    definitions: tuple[str, ...]
    steps: tuple[str, ...]


@dataclass(frozen=True)
class NoRefutation:
    """There is no proof, and why."""

    reason: str


class ContradictionError(AssertionError):
    """The clauses have a stable model although no execution shows a violation: one of two answers is wrong."""


def refute(
    program: Program, spec: FailureSpec, deadline: Deadline, *, most_literals: int = MOST_LITERALS
) -> Refutation | NoRefutation:
    """Prove that no admissible execution shows a violation, which must be so.

    What ends the work before that, also the deadline, is the reason why there is no proof.
    """
    try:
        with deadline.listening():
            question = ground_question(program, spec, deadline)
            return refute_question(question, spec, deadline, most_literals)
    except BudgetExhaustedError as limit:
        return NoRefutation(str(limit))
    except UnsupportedStatementError as problem:
        return NoRefutation(str(problem))
    except TooLargeError:
        return NoRefutation(f"the question has more than {most_literals:,} literals")


def refute_question(
    question: Question, spec: FailureSpec, deadline: Deadline, most_literals: int = MOST_LITERALS
) -> Refutation | NoRefutation:
    """Prove that a question has no stable model: where clauses have other models, loop formulas exclude them."""
    completion = Completion(question, most_literals, deadline.check)
    foundations: Foundations | None = None
    while True:
        deadline.check()
        model, steps = solve_with_proof(list(completion.clauses), deadline)
        if model is None:
            break
        foundations = foundations or Foundations(question)
        loops = foundations.find_loops({v for v in model if 0 < v <= question.atoms})
        # Then it is a stable model, that is, an execution with a violation: the certificate would be wrong.
        if not loops:
            raise ContradictionError("the question of a certificate has an answer; please report this program")
        if not sum(completion.add_loop(loop) for loop in loops):
            return NoRefutation("its disjunctions have an unfounded set that no loop formula excludes")
    if sum(step.count(" ") + 1 for step in steps) > most_literals:
        return NoRefutation(f"the proof has more than {most_literals:,} literals")
    return Refutation(
        question, spec, completion.variables, tuple(completion.clauses), tuple(completion.definitions), steps
    )


def solve_with_proof(
    clauses: Sequence[Sequence[int]], deadline: Deadline
) -> tuple[Sequence[int] | None, tuple[str, ...]]:
    """Return a model of the clauses; if there is none, None and the steps of the proof."""
    # A new solver for every question: a proof is about the clauses that the solver was given at first.
    with Solver(name=_SOLVER, bootstrap_with=clauses, with_proof=True) as solver:
        with deadline.watching(solver.interrupt):
            solvable = solver.solve_limited(expect_interrupt=True)
        if solvable is None:
            deadline.check()
            raise AssertionError("the solver stopped without being asked to")
        if solvable:
            return solver.get_model(), ()
        return None, tuple(_additions(solver.get_proof()))


def _additions(steps: Sequence[str]) -> Iterator[str]:
    """Yield the steps of a proof that add something, and at last the contradiction, also where it is obvious.

    Deletions only make checking faster, and those of this solver mean something else to each checker: it deletes
    what units rest on, and clauses that it has shortened silently.  Without them every checker agrees.
    """
    yield from (step for step in steps if not step.startswith("d") and step != "0")
    yield "0"
