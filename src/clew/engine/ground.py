"""The ground program of one failure spec, and the questions that can be put to it.

Grounded once; every execution and the exact search are then queries on the same clingo ``Control``:
an execution fixes all faults by assumptions, the search leaves them free and asks for a violation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from clingo import Control, HeuristicType, MessageCode, Model, Observer, SolveHandle, Symbol, SymbolType

from clew.engine.arithmetic import LARGEST, Arithmetic
from clew.engine.encode import encode, encode_expected_rows
from clew.engine.execution import Execution, Message, Row, Violation, row_key
from clew.engine.interrupt import Deadline, call
from clew.errors import Notice, ProgramError
from clew.faults import Crash, Delay, FailureSpec, Fault, FaultSet, Loss, Node
from clew.program.ir import Program, Value
from clew.program.outcomes import has_assertions, persistent_relations

_POLL_SECONDS = 0.05


@dataclass(frozen=True)
class GroundRule:
    """``head :- body`` over atom numbers, negated literals negative; ``bound`` makes it a weight rule.

    A weight rule fires when the weights of its true literals add up to the bound.
    """

    head: int
    body: tuple[int, ...]
    weights: tuple[int, ...] = ()
    bound: int | None = None


@dataclass(frozen=True)
class _Stored:
    """What a ground atom stands for: a row of a relation at a time."""

    literal: int
    relation: str
    row: Row
    time: int


@dataclass(frozen=True)
class _Sent:
    """A ground message atom."""

    literal: int
    relation: str
    row: Row
    source: Node
    time: int


class GroundProgram:
    """All admissible executions of a program within a failure spec."""

    def __init__(
        self,
        program: Program,
        spec: FailureSpec,
        *,
        record_rules: bool = False,
        expect_outcomes: bool = True,
        deadline: Deadline | None = None,
    ) -> None:
        self.program = program
        self.spec = spec
        self._deadline = deadline or Deadline(None)
        self._arithmetic = Arithmetic(program.rules)
        self._control = Control(["--warn=none"], logger=self._ignore)
        self._recorder = _Recorder() if record_rules else None
        if self._recorder:
            self._control.register_observer(self._recorder)
        self._encoding = encode(program, spec)
        self._ground("base", self._encoding.text)
        self._control.configuration.solve.opt_mode = "ignore"  # type: ignore[union-attr]
        self.violation_atoms: dict[Violation, int] = {}
        self._index_atoms()
        self._refuse_overflowing_sums()
        if expect_outcomes and not has_assertions(program):
            self._expect_failure_free_rows()
        self.violation_atoms = self._find_violation_atoms()

    # -- grounding ---------------------------------------------------------------------------------

    @staticmethod
    def _ignore(code: MessageCode, message: str) -> None:
        """clingo's remarks on the generated text; what concerns the user is found by our own checks."""

    def _ground(self, part: str, text: str) -> None:
        self._control.add(part, [], text)
        try:
            call(lambda: self._control.ground([(part, [])], context=self._arithmetic), self._deadline)
        except RuntimeError as error:
            cause = error.args[0] if error.args and isinstance(error.args[0], BaseException) else error
            raise cause from None

    def _index_atoms(self) -> None:
        names = self._encoding.relations.names
        self.fault_atoms: dict[Fault, int] = {}
        self._stored: list[_Stored] = []
        self._sent: list[_Sent] = []
        for atom in self._control.symbolic_atoms:
            symbol, literal = atom.symbol, atom.literal
            kind, number = symbol.name[:1], symbol.name[1:]
            if number.isdigit() and kind in "rm":
                values = tuple(map(_value, symbol.arguments))
                relation, time = names[int(number)], _number(symbol.arguments[-1])
                if kind == "r":
                    self._stored.append(_Stored(literal, relation, values[:-1], time))
                else:
                    self._sent.append(_Sent(literal, relation, values[1:-1], values[0], time))
            elif symbol.name in _FAULTS:
                self.fault_atoms[_FAULTS[symbol.name](*map(_value, symbol.arguments))] = literal

    def _refuse_overflowing_sums(self) -> None:
        """clingo adds with 32 bits: refuse what could wrap around instead of answering wrongly."""
        for index, rule in enumerate(self.program.rules):
            if not any(a.function in ("sum", "avg") for a in rule.aggregates):
                continue
            total = 0
            for atom in self._control.symbolic_atoms:
                if atom.symbol.name == f"g{index}":
                    numbers = [a.number for a in atom.symbol.arguments if a.type is SymbolType.Number]
                    total += max(map(abs, numbers))
            if total > LARGEST:
                raise ProgramError(
                    f"a sum in the rule for '{rule.relation}' can become too large",
                    position=rule.position,
                    remedy=f"keep sums below {LARGEST}",
                )

    def _expect_failure_free_rows(self) -> None:
        """Without ``pre`` and ``post``, what persists in the failure-free run must persist in all."""
        persistent = persistent_relations(self.program)
        if not persistent:
            raise ProgramError(
                "the program says nothing about what must hold",
                remedy="define 'pre' and 'post', or make a relation persistent: p(X)@next :- p(X);",
            )
        run = self.run(FaultSet())
        expected = {self._encoding.relations.number(r): run.rows(r) for r in persistent}
        self._ground("expected", encode_expected_rows(expected, self.spec.eot))

    # -- what is there -------------------------------------------------------------------------------

    @property
    def notices(self) -> tuple[Notice, ...]:
        return (*self._arithmetic.notices, *self._unknown_places())

    def _unknown_places(self) -> Iterator[Notice]:
        known = set(self.spec.nodes)
        positions = {c.relation: c.position for c in reversed(self.program.clauses)}
        told: set[tuple[str, Node]] = set()
        for sent in self._sent:
            for place in (sent.source, sent.row[0]):
                if place not in known and (sent.relation, place) not in told:
                    told.add((sent.relation, place))
                    yield Notice(
                        f"'{sent.relation}' messages from or to '{place}' get lost: it is no known node",
                        positions.get(sent.relation),
                        "add it to --nodes",
                    )

    def message_locations(self) -> set[Node]:
        """Every place that a message could come from or go to."""
        return {place for sent in self._sent for place in (sent.source, sent.row[0])}

    def relevant_faults(self) -> tuple[Fault, ...]:
        """The faults that can make a difference: those of messages that some execution sends, and crashes."""
        links = {(sent.source, sent.row[0], sent.time) for sent in self._sent}
        return tuple(
            f for f in self.spec.possible_faults() if isinstance(f, Crash) or (f.source, f.target, f.time) in links
        )

    def _find_violation_atoms(self) -> dict[Violation, int]:
        """Every violation that some execution might show, with its atom."""
        names = self._encoding.relations.names
        found = {}
        for atom in self._control.symbolic_atoms:
            name = atom.symbol.name
            if name.startswith("bad"):
                row = tuple(map(_value, atom.symbol.arguments))
                found[Violation(names[int(name[3:])], row)] = atom.literal
        return dict(sorted(found.items(), key=lambda item: (item[0].relation, row_key(item[0].row))))

    @property
    def rules(self) -> Sequence[GroundRule]:
        if self._recorder is None:
            raise ValueError("ground with record_rules=True to see the ground rules")
        return self._recorder.rules

    def stored_atoms(self) -> Iterator[tuple[int, str, int]]:
        """(atom, relation, time) of every possible row."""
        return ((s.literal, s.relation, s.time) for s in self._stored)

    def message_atoms(self) -> Iterator[int]:
        return (s.literal for s in self._sent)

    # -- executions ------------------------------------------------------------------------------------

    @contextmanager
    def _model(self, faults: FaultSet) -> Iterator[Model]:
        """The one model in which exactly these faults happen; faults without any effect are dropped."""
        present = set(faults)
        assumptions = [atom if fault in present else -atom for fault, atom in self.fault_atoms.items()]
        with self._control.solve(assumptions=assumptions, yield_=True) as handle:
            model = handle.model()
            if model is None:
                raise ValueError(f"not admissible within {self.spec}: {faults}")
            yield model

    def run(self, faults: FaultSet) -> Execution:
        """The execution with these faults, in full."""
        with self._model(faults) as model:
            true = {literal for literal in self._readable_literals() if model.is_true(literal)}
        tables: dict[str, list[list[Row]]] = {}
        for stored in self._stored:
            if stored.literal in true:
                by_time = tables.setdefault(stored.relation, [[] for _ in range(self.spec.eot)])
                by_time[stored.time - 1].append(stored.row)
        sorted_tables = {
            relation: tuple(tuple(sorted(rows, key=row_key)) for rows in tables[relation])
            for relation in sorted(tables)
        }
        messages = [self._message(sent, faults) for sent in self._sent if sent.literal in true]
        messages.sort(key=lambda m: (m.sent, m.relation, row_key((m.source,)), row_key(m.row)))
        violations = tuple(v for v, atom in self.violation_atoms.items() if atom in true)
        return Execution(self.spec, faults, sorted_tables, tuple(messages), violations)

    def _readable_literals(self) -> Iterator[int]:
        yield from (s.literal for s in self._stored)
        yield from (s.literal for s in self._sent)
        yield from self.violation_atoms.values()

    def _message(self, sent: _Sent, faults: FaultSet) -> Message:
        target = sent.row[0]
        return Message(sent.relation, sent.row, sent.source, target, sent.time, self._arrival(sent, faults))

    def _arrival(self, sent: _Sent, faults: FaultSet) -> int | None:
        source, target = sent.source, sent.row[0]
        if source == target:
            return sent.time + 1
        lost = (
            source not in self.spec.nodes
            or target not in self.spec.nodes
            or Loss(source, target, sent.time) in faults
            or any(c.node == source and c.time <= sent.time for c in faults.crashes)
        )
        if lost:
            return None
        lag = next(
            (d.lag for d in faults.delays if (d.source, d.target, d.time) == (source, target, sent.time)), 0
        )
        arrival = sent.time + 1 + lag
        return arrival if arrival <= self.spec.eot else None

    def violations(self, faults: FaultSet) -> tuple[Violation, ...]:
        """Only what goes wrong with these faults: much faster than the whole execution."""
        with self._model(faults) as model:
            return tuple(v for v, atom in self.violation_atoms.items() if model.is_true(atom))

    def truth(self, faults: FaultSet, atoms: Sequence[int]) -> frozenset[int]:
        """Which of these atoms hold in the execution with these faults."""
        with self._model(faults) as model:
            return frozenset(atom for atom in atoms if model.is_true(atom))

    # -- search ----------------------------------------------------------------------------------------

    def fewest_faults(self) -> FaultSet | None:
        """A violating fault set with the fewest faults, or None when no execution shows a violation."""
        best = None
        for model in self._violating_models("opt", "auto"):
            best = self._faults_of(model)
        return best

    def minimal_faults(self) -> Iterator[FaultSet]:
        """Every subset-minimal violating fault set: solutions are tried with as few faults as possible
        first, and each is excluded together with its supersets."""
        for fault in self.fault_atoms.values():
            self._prefer_absent(fault)
        yield from (self._faults_of(m) for m in self._violating_models("ignore", "domRec"))

    def _prefer_absent(self, atom: int) -> None:
        with self._control.backend() as backend:
            backend.add_heuristic(atom, HeuristicType.Level, 1, 1, [])
            backend.add_heuristic(atom, HeuristicType.Sign, -1, 1, [])

    def _violating_models(self, opt_mode: str, enum_mode: str) -> Iterator[Model]:
        violated = [a.literal for a in self._control.symbolic_atoms if a.symbol.name == "violated"]
        if not violated:
            return
        solve = self._control.configuration.solve
        solve.opt_mode, solve.enum_mode = opt_mode, enum_mode  # type: ignore[union-attr]
        solve.models = 0  # type: ignore[union-attr]
        if enum_mode == "domRec":
            self._control.configuration.solver.heuristic = "Domain"  # type: ignore[union-attr]
        try:
            with self._control.solve(assumptions=violated, yield_=True, async_=True) as handle:
                while (model := self._next_model(handle)) is not None:
                    yield model
                    handle.resume()
        finally:
            self._control.configuration.solver.heuristic = "auto"  # type: ignore[union-attr]
            solve.opt_mode, solve.enum_mode, solve.models = "ignore", "auto", 1  # type: ignore[union-attr]

    def _next_model(self, handle: SolveHandle) -> Model | None:
        try:
            while not handle.wait(_POLL_SECONDS):
                self._deadline.check()
        except BaseException:
            handle.cancel()
            raise
        return handle.model()

    def _faults_of(self, model: Model) -> FaultSet:
        return FaultSet.of(f for f, atom in self.fault_atoms.items() if model.is_true(atom))


_FAULTS = {"loss": Loss, "crash": Crash, "delay": Delay}


class _Recorder(Observer):
    """Keeps the ground rules that clingo hands over; choices and constraints are not derivations."""

    def __init__(self) -> None:
        self.rules: list[GroundRule] = []

    def rule(self, choice: bool, head: Sequence[int], body: Sequence[int]) -> None:
        if head and not choice:
            self.rules.append(GroundRule(head[0], tuple(body)))

    def weight_rule(
        self, choice: bool, head: Sequence[int], lower_bound: int, body: Sequence[tuple[int, int]]
    ) -> None:
        if head and not choice:
            literals, weights = zip(*body, strict=True) if body else ((), ())
            self.rules.append(GroundRule(head[0], literals, weights, lower_bound))


def _value(symbol: Symbol) -> Value:
    return symbol.number if symbol.type is SymbolType.Number else symbol.string


def _number(symbol: Symbol) -> int:
    return symbol.number
