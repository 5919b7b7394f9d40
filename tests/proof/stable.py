"""The models of a question's clauses, one by one, with loop formulas where a model is not stable."""

from __future__ import annotations

from collections.abc import Collection

from clingo import Control, Symbol, SymbolType, parse_term
from pysat.solvers import Solver

from clew.budgets.deadline import Deadline
from clew.faults import Crash, Delay, Fault, FaultSet, Input, Loss, Part, Pick, make_fault
from clew.proof.completion import Completion
from clew.proof.loops import Foundations
from clew.proof.question import Question, QuestionRecorder

_FAULTS = {"loss": Loss, "crash": Crash, "delay": Delay, "input": Input, "pick": Pick}


def project_models(
    question: Question, onto: Collection[int], completion: Completion | None = None
) -> set[frozenset[int]]:
    """Return the stable models as the clauses and loop formulas have them, restricted to some atoms."""
    completion = completion or Completion(question)
    foundations = Foundations(question)
    found: set[frozenset[int]] = set()
    with Solver(name="glucose4", bootstrap_with=list(completion.clauses)) as solver:
        while solver.solve():
            true = {v for v in solver.get_model() if 0 < v <= question.atoms}
            loops = foundations.find_loops(true)
            if loops:
                known = len(completion.clauses)
                assert sum(map(completion.add_loop, loops)), "the loop formulas exclude the model"
                for clause in list(completion.clauses)[known:]:
                    solver.add_clause(list(clause))
            else:
                found.add(frozenset(atom for atom in onto if atom in true))
                solver.add_clause([-atom if atom in true else atom for atom in onto])
                if not onto:
                    break
    return found


def ground_text(text: str) -> Question:
    """Ground a logic program of a test."""
    recorder = QuestionRecorder(Deadline(None))
    control = Control(["--warn=none"], logger=lambda code, message: None)
    control.register_observer(recorder)
    control.add("base", [], text)
    control.ground([("base", [])])
    assert recorder.unsupported is None
    return Question(tuple(recorder.rules), tuple(recorder.names), recorder.atoms, text)


def fault_atoms(question: Question) -> dict[int, Fault]:
    """Return the faults by their atoms, read from the names."""
    found: dict[int, Fault] = {}
    for name, literal in question.names:
        symbol = parse_term(name)
        if literal is not None and symbol.name in _FAULTS:
            found[literal] = make_fault(_FAULTS[symbol.name], map(_value, symbol.arguments))
    return found


def _value(symbol: Symbol) -> Part:
    if symbol.type is SymbolType.String:
        return symbol.string
    return symbol.number if symbol.type is SymbolType.Number else tuple(map(_value, symbol.arguments))


def violating_faults(question: Question) -> set[FaultSet]:
    """Return every fault set of a model of the question."""
    faults = fault_atoms(question)
    return {FaultSet.of(faults[atom] for atom in true) for true in project_models(question, list(faults))}
