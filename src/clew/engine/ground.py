"""The ground program of one failure spec, and the questions that can be put to it.

*Ground once, then everything is a query.*  One grounding takes 2 to 10 ms for the protocols of the paper (Flux 56
ms), and one clingo ``Control`` then serves every question:

- an **execution**: all faults are fixed by assumptions, and exactly one model is left (``run``, ``truth``);
- the **exact search**: the faults are left free and a violation is asked for (``solutions``).  No model is a
  certificate.  Every row of the paper's Figures 12 and 13 takes 1 to 4 ms more (Flux 13 ms), and it is exact for
  negation and aggregates, where the paper's lineage is an approximation;
- the **lineage**: an observer records every ground rule, those of executions that never happened included
  (``rules``; 3PC at EOT 9 has 2,312, Kafka 2,888).

Always read a *model*, never what the grounder takes for facts: gringo works predicate by predicate, so a program
that is stratified only through time (``p@next :- p, notin q;  q :- p;``) is not evaluated while it is grounded.
"""

from __future__ import annotations

from collections.abc import Container, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import count
from typing import NamedTuple

from clingo import Control, HeuristicType, MessageCode, Model, Observer, Symbol

from clew.budgets.deadline import Deadline, call
from clew.engine.atoms import GroundRule, NamingRecorder, Recorder, RowAtom, SentAtom
from clew.engine.callbacks import Arithmetic
from clew.engine.encode import GIVEN, RULE, VIOLATED, Aggregated, encode, encode_expected_rows
from clew.engine.execution import Execution, Message, Row, row_key, violation_key
from clew.engine.fault_semantics import Arrivals
from clew.engine.metering import Meter
from clew.engine.solving import models
from clew.engine.unknown_nodes import notice_unknown_nodes
from clew.engine.values import symbol_values
from clew.errors import Notice, ProgramError
from clew.faults import (
    KINDS,
    FailureSpec,
    Fault,
    FaultSet,
    GivenRow,
    NodeName,
    Part,
    Pick,
    SentMessage,
    fault_key,
    make_fault,
)
from clew.program.assertions import is_never
from clew.program.ir import LARGEST_NUMBER, Program, Rule, Value, as_place
from clew.program.outcomes import has_assertions, outcomes_of
from clew.violation import Violation, keep_earliest


class SolverFigures(NamedTuple):
    """The size of the question, and the choices and conflicts on the way to the answer."""

    atoms: int
    rules: int
    choices: int
    conflicts: int


class GroundProgram:
    """All admissible executions of a program within a failure spec."""

    def __init__(
        self,
        program: Program,
        spec: FailureSpec,
        *,
        record_rules: bool = False,
        traceable: bool = False,
        expect_outcomes: bool = True,
        choices: str = "",
        only: FaultSet | None = None,
        observer: Observer | None = None,
        deadline: Deadline | None = None,
    ) -> None:
        """Ground; ``record_rules`` keeps the ground rules, ``traceable`` ones are complete and know their source.

        ``choices``: lines for clingo that leave it open whether rows hold.  With ``only``, no other faults can
        happen; what none of them changes is certain then, and not in the rules.  ``observer`` is told of all that
        is grounded.
        """
        self.program = program
        self.spec = spec
        self._deadline = deadline or Deadline(None)
        self._arithmetic = Arithmetic(program, self._deadline)
        self._control = Control(["--warn=none"], logger=self._ignore)
        naming = traceable or only is not None
        # Recording costs a callback into Python for every ground rule, so only lineage and explanations ask for
        # it.
        self._recorder = (NamingRecorder if naming else Recorder)(self._deadline) if record_rules else None
        if self._recorder:
            self._control.register_observer(self._recorder)
        if observer:
            self._control.register_observer(observer)
        effort = self._deadline.effort
        self._meter = Meter(self._control, effort, traced=record_rules) if effort else None
        self.figures: SolverFigures | None = None  # what the report tells about the search
        self._prefers_absent_faults = False
        self._parts = count(1)
        #: What was grounded, part after part: a proof's file has it, so that a certificate can be checked.
        self.texts: list[str] = []
        self.encoding = encode(program, spec, traceable=traceable, only=only)
        if program.open_rows:
            from clew.engine.given_rows import given_row_lines  # which few programs need

            choices += "\n".join(given_row_lines(program, self.encoding.relations, spec, only)) + "\n"
        self.extend("base", self.encoding.text + choices)
        if traceable:
            self._take_off_marks()
        # The encoding has a #minimize statement; who wants an execution must not get the one with the fewest
        # faults.
        self._solve_options.opt_mode = "ignore"
        self._refuse_overflowing_sums()
        # The one place where faults and atoms meet: assumptions are made of it, and models are read by it.
        self.fault_atoms: dict[Fault, int] = {
            make_fault(kind, map(_part, values)): literal
            for kind in KINDS
            for literal, values in self.atoms(kind.name, len(kind.kind.columns))
        }
        if program.choices and only is None:
            self._free_picks()
        if expect_outcomes and not has_assertions(program):
            self._expect_failure_free_rows()

    # -- grounding ---------------------------------------------------------------------------------

    @staticmethod
    def _ignore(code: MessageCode, message: str) -> None:
        """Drop clingo's remarks on the generated text; what concerns the user is found by our own checks."""

    def extend(self, part: str, text: str) -> None:
        """Ground more rules; those of earlier parts do not see what they derive.

        In a thread that can be left (``call``): clingo cannot be interrupted while it grounds, and a user who
        presses Ctrl-C should not wait for a program that explodes.
        """
        self._control.add(part, [], text)
        self.texts.append(text)
        try:
            call(lambda: self._control.ground([(part, [])], context=self._arithmetic), self._deadline)
        except Exception as error:
            # clingo wraps what its callbacks raise; the original knows the position
            if self._arithmetic.failure:
                raise self._arithmetic.failure from None
            # Sums of what is not certain are refused by clingo itself; which it was, we see as for the others.
            if isinstance(error, RuntimeError) and "overflow" in str(error):
                self._refuse_overflowing_sums()
            raise
        if self._meter:
            self._meter.count_grounding()

    def next_part(self) -> int:
        """Return a number that no part of this program has."""
        return next(self._parts)

    def _take_off_marks(self) -> None:
        """Set the premises that made the rules traceable to true; what they tell goes into the recorded rules."""
        sources = {literal: values[0] for literal, values in self.atoms(RULE, 1)}
        marks = {*sources, *(literal for literal, _ in self.atoms(GIVEN, 0))}
        for mark in marks:
            self._control.assign_external(mark, True)
        if self._recorder:
            self._recorder.rules = [_strip_marks(rule, marks, sources) for rule in self._recorder.rules]

    def _free_picks(self) -> None:
        """Leave picks open: they are externals, which are false unless something else is said."""
        for atom, _ in self.atoms(Pick.name, len(Pick.kind.columns)):
            self._control.assign_external(atom, None)

    def _refuse_overflowing_sums(self) -> None:
        """Refuse sums that could wrap around: clingo adds with 32 bits; a certificate must not rest on that."""
        for index, rule in enumerate(self.program.rules):
            sums = [k for k, a in enumerate(rule.aggregates) if a.function in ("sum", "avg")]
            for column in sums:
                if self._largest_sum(index, rule, column) > LARGEST_NUMBER:
                    raise ProgramError(
                        f"a sum in {self.program.describe(rule)} can become too large",
                        position=rule.position,
                        remedy=f"keep sums below {LARGEST_NUMBER}",
                    )

    def _largest_sum(self, index: int, rule: Rule, column: int) -> int:
        """Return what the values of a group that count could add up to at most, in either direction.

        Over all executions at once, so it may be more than any of them has; that is the safe side.
        """
        columns = Aggregated.of(rule)
        first = columns.group + columns.values
        told_apart = [first + columns.per.index(v) for v in rule.aggregates[column].per]
        values: dict[tuple[Value, ...], set[tuple[Value, ...]]] = {}
        for _, row in self.atoms(f"g{index}", columns.arity):
            counted = (row[columns.group + column], *(row[k] for k in told_apart))
            values.setdefault((*row[: columns.group], row[-1]), set()).add(counted)
        sums = (sum(abs(v) for v, *_ in counted if isinstance(v, int)) for counted in values.values())
        return max(sums, default=0)

    def _expect_failure_free_rows(self) -> None:
        """Demand, without assertions, that what persists in the failure-free run does so in all."""
        expected = {self.encoding.relations.number(r): self.rows_at_end(r) for r in outcomes_of(self.program)}
        self.extend("expected", encode_expected_rows(expected, self.spec.eot))

    # -- what is there -------------------------------------------------------------------------------

    def atoms(self, name: str, arity: int) -> Iterator[tuple[int, tuple[Value, ...]]]:
        """Yield the atoms of the encoding with this name, each with its literal and its arguments."""
        for number, atom in enumerate(self._control.symbolic_atoms.by_signature(name, arity)):
            if number % 10_000 == 9_999:  # rarely enough to cost nothing, often enough for a time limit
                self._deadline.check()
            literal = atom.literal
            if literal:  # otherwise it is only asked for under negation, and underivable: it never holds
                yield literal, symbol_values(atom.symbol, name)

    def possible_rows(self, relation: str, time: int) -> Iterator[Row]:
        """Yield the rows of a relation that some execution might have at a time."""
        yield from (row for _, row in self._rows_at(relation, time))

    def _rows_at(self, relation: str, time: int) -> Iterator[tuple[int, Row]]:
        """Yield the rows of a relation at a time, each with its literal.

        Not from ``row_atoms``: reading all rows of all times takes much longer than looking at the ends of their
        texts.
        """
        number, arity = self.encoding.relations.number(relation), self.encoding.relations.arity(relation)
        then = f",{time})"
        for atom in self._control.symbolic_atoms.by_signature(f"r{number}", arity + 1):
            literal = atom.literal
            if literal and str(atom.symbol).endswith(then):
                yield literal, symbol_values(atom.symbol, f"r{number}")[:-1]

    @cached_property
    def row_atoms(self) -> tuple[RowAtom, ...]:
        """Return every row that some execution might have."""
        return tuple(
            RowAtom(literal, name, values[:-1], _time(values))
            for number, (name, arity) in enumerate(self.encoding.relations.arities)
            for literal, values in self.atoms(f"r{number}", arity + 1)
        )

    @cached_property
    def sent_atoms(self) -> tuple[SentAtom, ...]:
        """Return every message that some execution might send."""
        return tuple(
            SentAtom(literal, name, values[1:-1], as_place(values[0]), _time(values))
            for number, (name, arity) in enumerate(self.encoding.relations.arities)
            for literal, values in self.atoms(f"m{number}", arity + 2)
        )

    @cached_property
    def violation_atoms(self) -> dict[Violation, int]:
        """Return every violation that some execution might show, in an order that does not depend on clingo's."""
        found: dict[Violation, int] = {}
        for number, (name, arity) in enumerate(self.encoding.relations.arities):
            if is_never(name):
                for literal, values in self.atoms(f"bad{number}", arity + 1):
                    found[Violation(name, values[:-1], _time(values))] = literal
            else:
                found |= {Violation(name, row): literal for literal, row in self.atoms(f"bad{number}", arity)}
        return dict(sorted(found.items(), key=lambda item: violation_key(item[0])))

    @cached_property
    def _links(self) -> frozenset[SentMessage]:
        """Return (from, to, time) of every message that some execution might send."""
        return frozenset((as_place(v[0]), as_place(v[1]), _time(v)) for _, v in self.atoms("sends", 3))

    @property
    def rules(self) -> Sequence[GroundRule]:
        """Return every ground rule: the rule/goal graph of all executions."""
        if self._recorder is None:
            raise ValueError("ground with record_rules=True to see the ground rules")
        return self._recorder.rules

    @property
    def symbols(self) -> Mapping[int, Symbol]:
        """Return what each atom that is not certain is called, where rules are recorded to be explained."""
        if not isinstance(self._recorder, NamingRecorder):
            raise ValueError("ground with record_rules=True and either traceable=True or only=... to see names")
        return self._recorder.symbols

    def relation(self, number: int) -> str:
        """Return the relation to which the names of atoms refer by this number."""
        return self.encoding.relations.arities[number][0]

    @property
    def notices(self) -> tuple[Notice, ...]:
        """Return what the author should know and only grounding could tell."""
        return (
            *self._arithmetic.notices,
            *notice_unknown_nodes(self.program, self.spec, self.message_locations()),
        )

    def message_locations(self) -> set[NodeName]:
        """Return every place that a message could come from or go to."""
        return {place for source, target, _ in self._links for place in (source, target)}

    def given_locations(self) -> set[NodeName]:
        """Return every place at which an input can be given, or something chosen."""
        return {as_place(fault.row[0]) for fault in self.fault_atoms if isinstance(fault, GivenRow)}

    def relevant_faults(self) -> tuple[Fault, ...]:
        """Return the faults that can make a difference: not those of messages that no execution sends."""
        given = sorted((f for f in self.fault_atoms if not f.kind.is_failure), key=fault_key)
        possible = (f for f in self.spec.possible_faults() if f.message is None or f.message in self._links)
        return (*possible, *given)

    # -- executions ------------------------------------------------------------------------------------

    @contextmanager
    def _model(self, faults: FaultSet) -> Iterator[Model]:
        """Find the one model in which exactly these faults happen; faults without any effect are dropped.

        There is exactly one: with all choices fixed, a program that is stratified within each time step is
        evaluated.
        """
        if self._meter:
            self._meter.count_execution()
        present = set(faults)  # a fault that was not grounded hits no message, so it changes nothing
        assumptions = [atom if fault in present else -atom for fault, atom in self.fault_atoms.items()]
        with self._control.solve(assumptions=assumptions, yield_=True) as handle:
            model = handle.model()
            if model is None:
                raise ValueError(f"not admissible within {self.spec}: {faults}")
            yield model

    def run(self, faults: FaultSet) -> Execution:
        """Execute with these faults, and return all there is to know of it."""
        with self._model(faults) as model:
            rows = [atom for atom in self.row_atoms if model.is_true(atom.literal)]
            messages = self._messages(model, faults)
            violations = keep_earliest(v for v, atom in self.violation_atoms.items() if model.is_true(atom))
        tables: dict[str, list[list[Row]]] = {
            name: [[] for _ in range(self.spec.eot)] for name, _ in self.encoding.relations.arities
        }
        for atom in rows:
            tables[atom.relation][atom.time - 1].append(atom.row)
        # clingo's order depends on its version; everything that is shown has an order of its own.
        sorted_tables = {
            relation: tuple(tuple(sorted(rows_then, key=row_key)) for rows_then in tables[relation])
            for relation in sorted(tables)
        }
        return Execution(self.spec, faults, sorted_tables, messages, violations, program=self.program)

    def messages(self, faults: FaultSet) -> tuple[Message, ...]:
        """Return the messages of the execution with these faults: much faster than with its rows."""
        with self._model(faults) as model:
            return self._messages(model, faults)

    def _messages(self, model: Model, faults: FaultSet) -> tuple[Message, ...]:
        arrive = Arrivals(self.spec, faults)
        found = []
        for sent in self.sent_atoms:
            if model.is_true(sent.literal):
                target = as_place(sent.row[0])
                link = sent.source, target, sent.time
                times = arrive.time_of(*link), arrive.second_time_of(*link)
                found.append(Message(sent.relation, sent.row, *link, *times))
        return tuple(sorted(found, key=lambda m: (m.sent, m.relation, row_key((m.source,)), row_key(m.row))))

    def violations(self, faults: FaultSet) -> tuple[Violation, ...]:
        """Return only what goes wrong with these faults: much faster than the whole execution."""
        return keep_earliest(self.all_violations(faults))

    def all_violations(self, faults: FaultSet) -> tuple[Violation, ...]:
        """Return the same, and of what must never hold every time at which it does."""
        with self._model(faults) as model:
            return tuple(v for v, atom in self.violation_atoms.items() if model.is_true(atom))

    def rows_at_end(self, relation: str) -> tuple[Row, ...]:
        """Return the rows of one relation at the end of the failure-free run."""
        possible = list(self._rows_at(relation, self.spec.eot))
        with self._model(FaultSet()) as model:
            rows = [row for literal, row in possible if model.is_true(literal)]
        return tuple(sorted(rows, key=row_key))

    def can_hold_at_end(self, relation: str) -> bool:
        """Tell whether some inputs and choices, without any failure, end with a row of a relation."""
        quiet = [-atom for fault, atom in self.fault_atoms.items() if fault.kind.is_failure]
        possible = [literal for literal, _ in self._rows_at(relation, self.spec.eot)]
        # One by one: a disjunction would have to be grounded, and the first is nearly always the answer.
        return any(next(self.solutions([row, *quiet], "ignore", "auto", most=1), None) for row in possible)

    def times_of_rows(self) -> dict[str, int]:
        """Return a time at which each relation has a row in the failure-free run: one before the end, if possible.

        Relations without rows are left out.
        """
        found: dict[str, int] = {}
        with self._model(FaultSet()) as model:
            for number, (relation, arity) in enumerate(self.encoding.relations.arities):
                for atom in self._control.symbolic_atoms.by_signature(f"r{number}", arity + 1):
                    literal = atom.literal
                    if literal and model.is_true(literal):
                        found[relation] = atom.symbol.arguments[-1].number
                        if found[relation] < self.spec.eot:  # at the end, no @next or @async rule fires any more
                            break
        return found

    def truth(self, faults: FaultSet, atoms: Sequence[int]) -> frozenset[int]:
        """Return those of these atoms that hold in the execution with these faults."""
        with self._model(faults) as model:
            return frozenset(atom for atom in atoms if model.is_true(atom))

    # -- search ----------------------------------------------------------------------------------------

    def _prefer_absent_faults(self) -> None:
        """Let the domain heuristic decide faults first, for absence: the first solution is then subset-minimal."""
        if self._prefers_absent_faults:
            return
        self._prefers_absent_faults = True  # statements of the backend stay; a second time would add them again
        with self._control.backend() as backend:
            for atom in self.fault_atoms.values():
                backend.add_heuristic(atom, HeuristicType.Level, 1, 1, [])
                backend.add_heuristic(atom, HeuristicType.Sign, -1, 1, [])

    @property
    def _solve_options(self):  # type: ignore[no-untyped-def]  # clingo types its configuration as a union
        return self._control.configuration.solve

    def find_goal(self, name: str) -> int | None:
        """Return the atom without arguments that holds in executions that show it; None if none can."""
        return next((literal for literal, _ in self.atoms(name, 0)), None)

    @property
    def violated(self) -> int | None:
        """Return the atom that holds in executions that show a violation; None if none can."""
        return self.find_goal(VIOLATED)

    def goal_of(self, promise: str | None) -> str:
        """Return the goal that holds in executions that break one of several promises, or any."""
        return VIOLATED if promise is None else f"broken{self.encoding.relations.number(promise)}"

    def solutions(
        self,
        assumptions: Sequence[int],
        opt_mode: str,
        enum_mode: str,
        *,
        by_cores: bool = False,
        conflicts: int | None = None,
        most: int = 0,
    ) -> Generator[Model, None, bool]:
        """Yield the models under some assumptions, and return whether these were all.

        ``by_cores``: minimize by raising the lower bound core after core instead of lowering the upper one;
        ``conflicts``: give up after so many; ``most``: stop after so many models (0: never).
        """
        options, solver = self._solve_options, self._control.configuration.solver
        if enum_mode == "domRec":
            self._prefer_absent_faults()  # before the mode is set: the update of the program would undo that
        options.opt_mode, options.enum_mode, options.models = opt_mode, enum_mode, most
        solver.heuristic = "Domain" if enum_mode == "domRec" else "auto"  # type: ignore[union-attr]
        # Start from few faults: from many, minimisation would take one away at a time.
        solver.sign_def = "neg"  # type: ignore[union-attr]
        solver.opt_heuristic = "sign"  # type: ignore[union-attr]
        solver.opt_strategy = "usc,pmres" if by_cores else "bb,lin"  # type: ignore[union-attr]
        # Options outlive the question, and the next one may be an execution: all of them are put back at the end.
        limit = options.solve_limit
        if conflicts is not None:
            options.solve_limit = str(conflicts)
        try:
            return (yield from models(self._control, self._deadline, assumptions))
        finally:
            self.figures = self._cost()
            options.opt_mode, options.enum_mode, options.models = "ignore", "auto", 1
            options.solve_limit = limit
            solver.heuristic = "auto"  # type: ignore[union-attr]

    def _cost(self) -> SolverFigures:
        """Return the size of the program, and what the questions put to it so far have cost."""
        statistics = self._control.statistics
        size, solver = statistics["problem"]["lp"], statistics["solving"]["solvers"]
        # clingo's statistics are of the latest question only, so they are added up here.
        before = self.figures or SolverFigures(0, 0, 0, 0)
        return SolverFigures(
            int(size["atoms"]),
            int(size["rules"]),
            before.choices + int(solver["choices"]),
            before.conflicts + int(solver["conflicts"]),
        )

    def faults_of(self, model: Model) -> FaultSet:
        """Return the faults that happen in an execution."""
        return FaultSet.of(f for f, atom in self.fault_atoms.items() if model.is_true(atom))


def _strip_marks(rule: GroundRule, marks: Container[int], sources: Mapping[int, Value]) -> GroundRule:
    if rule.bound is not None:
        return rule  # clingo makes these of aggregates; marks are no elements of them
    source = None
    body = []
    for literal in rule.body:
        if literal in sources:
            source = sources[literal]
        elif literal not in marks:
            body.append(literal)
    return GroundRule(rule.head, tuple(body), (), None, source if isinstance(source, int) else None)


def _part(value: Value) -> Part:
    return value if isinstance(value, tuple) else as_place(value)


def _time(values: tuple[Value, ...]) -> int:
    time = values[-1]
    assert isinstance(time, int)
    return time
