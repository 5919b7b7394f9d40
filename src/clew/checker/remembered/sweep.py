"""A sweep that is started again goes through the settings that are done without examining them.

The sweep itself decides as it did before: what it asks its program (to examine a setting, to follow a run) is
answered from memory, with the effort that it took, for as long as there is something to remember.  Within a
setting nothing is saved: the effort of a solver depends on all that it did before, and the end of the sweep on it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from clew.budgets.effort import Effort
from clew.checker.remembered.values import (
    LARGEST_TIME,
    faults_json,
    read_faults,
    read_violation,
    violation_json,
)
from clew.checker.sweeping import ProgramSweep
from clew.duration import State
from clew.engine.ground import SolverFigures
from clew.errors import Notice, Position
from clew.faults import FailureSpec, FaultSet, NodeName
from clew.files.checkpoints import Checkpoint, ForeignCheckpointError
from clew.files.json_document import Item
from clew.search.protocol import Run
from clew.search.sweep import Course
from clew.search.verdict import MOST_REMEMBERED, Answer, Counterexample, Findings, Ledger
from clew.violation import Violation

#: Any count is read that fits 64 bits; a larger one can only be a defect of the file.
_LARGEST_COUNT = 2**63 - 1


@dataclass(frozen=True)
class _Cost:
    """Effort that was spent, and the largest program that was ground until then."""

    spent: int
    largest: int


@dataclass(frozen=True)
class _Examined:
    """A setting, what it came to, and what there was to tell about the program."""

    spec: FailureSpec
    findings: Findings
    vacuous: bool
    notices: tuple[Notice, ...]
    figures: SolverFigures | None
    cost: _Cost


@dataclass(frozen=True)
class _Followed:
    """A run that was followed, and its course."""

    faults: FaultSet
    until: int
    course: Course
    cost: _Cost


class RememberedSweep:
    """A program as the sweep sees it, with what is known of it already."""

    def __init__(self, system: ProgramSweep, checkpoint: Checkpoint) -> None:
        self._system = system
        self._checkpoint = checkpoint
        self._log: list[_Examined | _Followed] = []
        self._next = 0
        if checkpoint.saved is not None:
            self._log = _Reading(system.base).log(checkpoint.saved)
            settings = sum(isinstance(entry, _Examined) for entry in self._log)
            checkpoint.tell_continued(settings, "setting")
        checkpoint.state = self.to_json

    def follow(self, faults: FaultSet, until: int) -> Course:
        known = self._next_entry()
        if known is not None:
            if not isinstance(known, _Followed) or (known.faults, known.until) != (faults, until):
                raise ForeignCheckpointError(f"a run up to time {until}")
            self._charge(known.cost)
            return known.course
        before = self._spent
        course = self._system.follow(faults, until)
        self._add(_Followed(faults, until, course, self._cost(before)))
        return course

    def examine(self, spec: FailureSpec, ledger: Ledger) -> tuple[Findings, bool]:
        known = self._next_entry()
        if known is not None:
            return self._recall(known, spec, ledger)
        before, told = self._spent, set(self._system.notices)
        findings, vacuous = self._system.examine(spec, ledger)
        # What a limit ended, the clock may have ended; it is examined again.
        if findings.answer is not Answer.INCOMPLETE and findings.reason is None:
            new = tuple(notice for notice in self._system.notices if notice not in told)
            cost, figures = self._cost(before), self._system.solver(spec)
            self._add(_Examined(spec, findings, vacuous, new, figures, cost))
        return findings, vacuous

    def _next_entry(self) -> _Examined | _Followed | None:
        if self._next == len(self._log):
            return None
        self._next += 1
        return self._log[self._next - 1]

    def _recall(self, known: _Examined | _Followed, spec: FailureSpec, ledger: Ledger) -> tuple[Findings, bool]:
        if not isinstance(known, _Examined) or known.spec != spec:
            raise ForeignCheckpointError(f"the setting EOT {spec.eot}, EFF {spec.eff}")
        self._charge(known.cost)
        self._system.note(spec, known.notices, known.figures)
        findings = self._system.note_kept(known.findings)
        # As the search would have left the ledger: the sweep reads its results there.
        ledger.runs = known.findings.runs
        ledger.executions.extend(known.findings.executions)
        ledger.counterexamples.extend(known.findings.counterexamples)
        return findings, known.vacuous

    def _add(self, entry: _Examined | _Followed) -> None:
        self._log.append(entry)
        self._next += 1
        self._checkpoint.offer()

    # -- effort --------------------------------------------------------------------------------------------------

    @property
    def _effort(self) -> Effort | None:
        return self._system.deadline.effort

    @property
    def _spent(self) -> int:
        return self._effort.spent if self._effort else 0

    def _cost(self, before: int) -> _Cost:
        return _Cost(self._spent - before, self._effort.largest_program if self._effort else 0)

    def _charge(self, cost: _Cost) -> None:
        if self._effort:
            self._effort.count_again(cost.spent, cost.largest)

    # -- writing -------------------------------------------------------------------------------------------------

    def to_json(self) -> dict[str, object]:
        examined = [entry for entry in self._log if isinstance(entry, _Examined)]
        certified = [entry for entry in examined if entry.findings.answer is Answer.CERTIFIED]
        # What was executed is only asked for where the sweep ends: at the last setting, or the last that it
        # certified, of which a vacuous one counts only if all are.
        ends = [*examined[-1:], *certified[-1:], *[entry for entry in certified if not entry.vacuous][-1:]]
        return {
            "log": [
                _write_course(entry)
                if isinstance(entry, _Followed)
                else _write_setting(entry, executions=any(entry is end for end in ends))
                for entry in self._log
            ]
        }


#: A course has a letter for each time: it may be hundreds of times long.
_STATES = {State.VACUOUS: "v", State.BAD: "b", State.GOOD: "g"}


def _write_course(entry: _Followed) -> dict[str, object]:
    course = entry.course
    return {
        "followed": faults_json(entry.faults),
        "until": entry.until,
        "states": "".join(_STATES[state] for state in course.states),
        "settled": course.settled,
        "period": course.period,
        "effort": [entry.cost.spent, entry.cost.largest],
    }


def _write_setting(entry: _Examined, *, executions: bool) -> dict[str, object]:
    findings = entry.findings
    return {
        "examined": [entry.spec.eot, entry.spec.eff],
        "answer": findings.answer.value,
        "counterexamples": [_run_json(c.faults, c.violations) for c in findings.counterexamples],
        "runs": findings.runs,
        "executions": [_run_json(r.faults, r.violations) for r in findings.executions] if executions else [],
        "vacuous": entry.vacuous,
        "notices": [_notice_json(notice) for notice in entry.notices],
        "solver": None if entry.figures is None else list(entry.figures),
        "effort": [entry.cost.spent, entry.cost.largest],
    }


def _run_json(faults: FaultSet, violations: tuple[Violation, ...]) -> list[object]:
    return [faults_json(faults), [violation_json(violation) for violation in violations]]


def _notice_json(notice: Notice) -> list[object]:
    place = notice.position
    return [notice.message, None if place is None else [place.file, place.line, place.column], notice.remedy]


# -- reading -----------------------------------------------------------------------------------------------------


class _Reading:
    """Reads the log of a sweep of programs within ``base``, but for EOT and EFF."""

    def __init__(self, base: FailureSpec) -> None:
        self._base = base
        self._nodes: tuple[NodeName, ...] = base.nodes

    def log(self, saved: Item) -> list[_Examined | _Followed]:
        (log,) = saved.members("log")
        return [
            self._read_course(item) if "followed" in item.mapping() else self._read_setting(item)
            for item in log.items()
        ]

    def _read_course(self, item: Item) -> _Followed:
        fields = ("followed", "until", "states", "settled", "period", "effort")
        faults, until, states, settled, period, effort = item.members(*fields)
        end = until.number(1, LARGEST_TIME)
        letters = states.text()
        named = {letter: state for state, letter in _STATES.items()}
        if len(letters) != end or not set(letters) <= set(named):
            states.refuse(f"{end} of the letters {', '.join(named)}")
        course = Course(
            tuple(named[letter] for letter in letters),
            None if settled.value is None else settled.number(1, end),
            period.number(1, end),
        )
        return _Followed(read_faults(faults, self._nodes), end, course, _read_cost(effort))

    def _read_setting(self, item: Item) -> _Examined:
        fields = ("examined", "answer", "counterexamples", "runs", "executions", "vacuous", "notices", "solver")
        setting, answer, found, runs, executed, vacuous, notices, solver, effort = item.members(*fields, "effort")
        eot, eff = (bound.number(0, LARGEST_TIME) for bound in setting.parts("EOT", "EFF"))
        given = Answer(answer.one_of([Answer.CERTIFIED.value, Answer.COUNTEREXAMPLE.value]))
        counterexamples = tuple(Counterexample(r.faults, r.violations) for r in map(self._read_run, found.items()))
        if (given is Answer.COUNTEREXAMPLE) != bool(counterexamples) or not all(
            c.violations for c in counterexamples
        ):
            found.refuse("what is violated, exactly if there is a counterexample")
        executions = tuple(map(self._read_run, executed.items()))
        if len(executions) > MOST_REMEMBERED:
            executed.refuse(f"at most {MOST_REMEMBERED} executions")
        if not isinstance(vacuous.value, bool):
            vacuous.refuse("true or false")
        findings = Findings(given, counterexamples, runs.number(0, _LARGEST_COUNT), None, executions)
        return _Examined(
            replace(self._base, eot=eot, eff=eff),
            findings,
            vacuous.value,
            tuple(map(_read_notice, notices.items())),
            None if solver.value is None else _read_figures(solver),
            _read_cost(effort),
        )

    def _read_run(self, item: Item) -> Run:
        faults, violations = item.parts("faults", "violations")
        return Run(read_faults(faults, self._nodes), tuple(map(read_violation, violations.items())))


def _read_cost(item: Item) -> _Cost:
    spent, largest = item.parts("spent", "largest program")
    return _Cost(spent.number(0, _LARGEST_COUNT), largest.number(0, _LARGEST_COUNT))


def _read_figures(item: Item) -> SolverFigures:
    return SolverFigures(*(part.number(0, _LARGEST_COUNT) for part in item.parts(*SolverFigures._fields)))


def _read_notice(item: Item) -> Notice:
    message, place, remedy = item.parts("message", "position", "remedy")
    position = None
    if place.value is not None:
        file, line, column = place.parts("file", "line", "column")
        position = Position(file.text(), line.number(1, LARGEST_TIME), column.number(1, LARGEST_TIME))
    return Notice(message.text(), position, None if remedy.value is None else remedy.text())
