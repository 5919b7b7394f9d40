"""The checker accepts what the naive one accepts and what solvers write, and never a proof of what is false."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pysat.solvers import Solver

from clew.verify.drat import check_proof
from clew.verify.numbers import Clause, Cnf, Step, read_proof
from clew.verify.refusals import RefusedError
from verify.naive import accepts, has_model

VARIABLES = 5
_literal = st.integers(1, VARIABLES).flatmap(lambda v: st.sampled_from([v, -v]))
_clause = st.lists(_literal, min_size=1, max_size=3, unique_by=abs).map(tuple)
_step = st.builds(Step, st.booleans(), st.lists(_literal, max_size=3).map(tuple))
MANY = settings().max_examples * 2


def _accepted(clauses: list[Clause], steps: list[Step]) -> bool:
    try:
        check_proof(Cnf(VARIABLES, clauses), steps)
    except RefusedError:
        return False
    return True


@settings(max_examples=MANY)
@given(st.lists(_clause, max_size=12), st.lists(_step, max_size=5))
def test_the_checker_agrees_with_the_naive_one(clauses: list[Clause], steps: list[Step]) -> None:
    accepted = _accepted(clauses, steps)
    assert accepted == accepts(clauses, steps)
    assert not (accepted and has_model(clauses, VARIABLES))


@settings(max_examples=MANY)
@given(st.lists(_clause, min_size=3, max_size=10), st.data())
def test_no_proof_that_a_model_does_not_exist_is_accepted(clauses: list[Clause], data: st.DataObject) -> None:
    """Steps that delete what is there, and add what the checker may take for redundant."""
    assume(has_model(clauses, VARIABLES))
    deleted = data.draw(st.lists(st.sampled_from(clauses), max_size=3))
    added = data.draw(st.lists(st.lists(_literal, max_size=2).map(tuple), max_size=4))
    steps = [*(Step(True, c) for c in deleted), *(Step(False, c) for c in added)]
    assert not _accepted(clauses, data.draw(st.permutations(steps)))


@pytest.mark.parametrize(
    "solver", ["glucose3", "glucose4", "lingeling", "maplechrono", "cadical103", "cadical153"]
)
@settings(max_examples=settings().max_examples // 4)
@given(st.lists(_clause, min_size=8, max_size=30))
def test_proofs_of_solvers_are_accepted(solver: str, clauses: list[Clause]) -> None:
    """Without their deletions, some of which are of clauses that a solver has changed without saying so."""
    with Solver(name=solver, bootstrap_with=[list(c) for c in clauses], with_proof=True) as asked:
        assume(not asked.solve())
        text = "\n".join(asked.get_proof())
    steps = [step for step in read_proof(text.encode()) if not step.deletes]
    assert _accepted(clauses, steps)


@given(st.lists(_clause, min_size=8, max_size=24), st.data())
def test_a_changed_proof_is_accepted_only_if_it_still_is_one(clauses: list[Clause], data: st.DataObject) -> None:
    assume(not has_model(clauses, VARIABLES))
    with Solver(name="glucose4", bootstrap_with=[list(c) for c in clauses], with_proof=True) as asked:
        assert not asked.solve()
        steps = [s for s in read_proof("\n".join([*asked.get_proof(), "0"]).encode()) if not s.deletes]
    place = data.draw(st.integers(0, len(steps) - 1))
    match data.draw(st.sampled_from(["drop", "flip", "truncate", "shorten"])):
        case "drop":
            del steps[place]
        case "flip":
            assume(steps[place].clause)
            first, *rest = steps[place].clause
            steps[place] = Step(False, (-first, *rest))
        case "truncate":
            del steps[place:]
        case "shorten":
            assume(steps[place].clause)
            steps[place] = Step(False, steps[place].clause[1:])
    assert _accepted(clauses, steps) == accepts(clauses, steps)


def test_a_redundant_clause_needs_its_first_literal() -> None:
    """x5 is new: any clause with it first changes nothing, but one with it last must follow."""
    clauses: list[Clause] = [(1, 2), (-1, 2), (1, -2), (-1, -2)]
    assert _accepted(clauses, [Step(False, (5, 1)), Step(False, (1,)), Step(False, ())])
    satisfiable: list[Clause] = [(1, 2), (-1, 2)]
    with pytest.raises(RefusedError, match=r"step 1 .* does not follow: -2 5 0"):
        check_proof(Cnf(5, satisfiable), [Step(False, (-2, 5))])


def test_a_clause_that_something_rests_on_is_kept() -> None:
    clauses: list[Clause] = [(1,), (-1, 2), (-2, 3, 4), (-2, 3, -4), (-3, 4), (-3, -4)]
    steps = [Step(True, (1,)), Step(True, (-1, 2)), Step(False, (3,)), Step(False, ())]
    assert _accepted(clauses, steps)


def test_refusals_name_the_step() -> None:
    clauses: list[Clause] = [(1, 2), (-1, 3), (3, 4)]
    with pytest.raises(RefusedError, match="step 2 of the proof does not follow: 1 0"):
        check_proof(Cnf(4, clauses), [Step(True, (3, 4)), Step(False, (1,)), Step(False, ())])
    with pytest.raises(RefusedError, match="step 1 of the proof deletes a clause that is not there"):
        check_proof(Cnf(4, clauses), [Step(True, (1, 3))])
    with pytest.raises(RefusedError, match="ends before"):
        check_proof(Cnf(4, clauses), [])


def test_an_empty_clause_is_a_contradiction() -> None:
    assert check_proof(Cnf(0, [()]), []) == 0


def test_the_work_can_be_ended() -> None:
    def stop(done: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check_proof(Cnf(1, [(1,), (-1,)]), [], stop)
