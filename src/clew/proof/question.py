"""The ground program of the question "is there an execution with a violation?", and its text in aspif.

aspif is the format in which gringo hands ground programs to solvers: any of them can read what is written here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from clingo import Observer, Symbol

from clew.budgets.deadline import Deadline
from clew.engine.ground import GroundProgram
from clew.faults import FailureSpec, Pick
from clew.program.ir import Program

#: Only executions with a violation are looked for.
_QUESTION = ":- not violated.\n"


class Conjunction(NamedTuple):
    """A body that holds when all of its literals do."""

    literals: tuple[int, ...]


class WeightBody(NamedTuple):
    """A body that holds when the weights of its true literals add up to the bound."""

    bound: int
    elements: tuple[tuple[int, int], ...]


class QuestionRule(NamedTuple):
    """A ground rule; without a head it is a constraint, with several atoms there a choice or a disjunction."""

    choice: bool
    head: tuple[int, ...]
    body: Conjunction | WeightBody


class NamedAtom(NamedTuple):
    """What is shown while a literal holds; without a literal, always."""

    name: str
    literal: int | None


@dataclass(frozen=True)
class Question:
    """The rules of a ground program, the names of its atoms, and the text that was grounded."""

    rules: tuple[QuestionRule, ...]
    names: tuple[NamedAtom, ...]
    atoms: int
    text: str


class UnsupportedStatementError(Exception):
    """The ground program has something that the question cannot express."""


def ground_question(program: Program, spec: FailureSpec, deadline: Deadline | None = None) -> Question:
    """Ground the question whether an admissible execution shows a violation."""
    # The same ground program as the search had: ``clew verify --program`` grounds it once more and compares.
    recorder = QuestionRecorder(deadline or Deadline(None))
    ground = GroundProgram(program, spec, observer=recorder, deadline=deadline)
    ground.extend("question", _QUESTION)
    recorder.finish()
    if recorder.unsupported:
        raise UnsupportedStatementError(f"the ground program has {recorder.unsupported}")
    return Question(tuple(recorder.rules), tuple(recorder.names), recorder.atoms, "\n".join(ground.texts))


def write_aspif(question: Question) -> str:
    """Return the question in aspif."""
    lines = ["asp 1 0 0"]
    lines += map(_rule_line, question.rules)
    for name, literal in question.names:
        condition = "0" if literal is None else f"1 {literal}"
        lines.append(f"4 {len(name.encode())} {name} {condition}")
    return "\n".join([*lines, "0"]) + "\n"


def _rule_line(rule: QuestionRule) -> str:
    numbers = [1, int(rule.choice), len(rule.head), *rule.head]
    match rule.body:
        case Conjunction(literals):
            numbers += [0, len(literals), *literals]
        case WeightBody(bound, elements):
            numbers += [1, bound, len(elements), *(n for element in elements for n in element)]
    return " ".join(map(str, numbers))


class QuestionRecorder(Observer):
    """Keeps every statement that decides whether there is a violation.

    The optimisation does not, nor do assumptions: those are of the executions that the engine looks at while it
    finds out what a program without assertions promises.
    """

    def __init__(self, deadline: Deadline) -> None:
        self._deadline = deadline
        self.rules: list[QuestionRule] = []
        self.names: list[NamedAtom] = []
        self.atoms = 0
        self.unsupported: str | None = None
        self._open: set[int] = set()
        self._picks: set[int] = set()

    def rule(self, choice: bool, head: Sequence[int], body: Sequence[int]) -> None:
        self._keep(QuestionRule(choice, tuple(head), Conjunction(tuple(body))), body)

    def weight_rule(
        self, choice: bool, head: Sequence[int], lower_bound: int, body: Sequence[tuple[int, int]]
    ) -> None:
        elements = tuple((literal, weight) for literal, weight in body)
        self._keep(
            QuestionRule(choice, tuple(head), WeightBody(lower_bound, elements)), [literal for literal, _ in body]
        )

    def _keep(self, rule: QuestionRule, literals: Sequence[int]) -> None:
        self.rules.append(rule)
        self.atoms = max(self.atoms, *rule.head, *map(abs, literals), 0)
        if len(self.rules) % 10_000 == 0:
            self._deadline.check()  # the thread that grounds stops by itself

    def output_atom(self, symbol: Symbol, atom: int) -> None:
        self.names.append(NamedAtom(str(symbol), atom or None))
        if symbol.name == Pick.name:
            self._picks.add(atom)

    def external(self, atom: int, value: object) -> None:
        # What the adversary picks is open whatever holds, as if a choice without a body had it in its head.
        self._open.add(atom)
        self._keep(QuestionRule(True, (atom,), Conjunction(())), ())

    def finish(self) -> None:
        """Note external atoms that are no picks: the encoding of a search has none that are open."""
        if not self._open <= self._picks:
            self.unsupported = "external atoms"

    def acyc_edge(self, node_u: int, node_v: int, condition: Sequence[int]) -> None:
        self.unsupported = "edges"
