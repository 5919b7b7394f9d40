"""What makes two runs differ, as a reader follows it: rows, messages, nodes that stay up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from clew.engine.atoms import ArrivalAtom, HaltAtom, LinkAtom, RowAtom, SentAtom, SightingAtom
from clew.engine.execution import Row, row_key
from clew.engine.runs import NamedAtom, Runs
from clew.explain.difference import Link, Reason
from clew.faults import Fault, FaultSet, NodeName
from clew.program.ir import as_place


class RowStep(NamedTuple):
    """A row at a time.  ``there``: the run without the fault has it; otherwise only the failing run has it.

    ``passing``: it only matters for another row of the same time, which is told as well.
    """

    relation: str
    row: Row
    time: int
    there: bool
    passing: bool = False


class MessageStep(NamedTuple):
    """A message, sent at ``time``, that ``arrives``; ``hit``: the fault itself makes the difference.

    ``one_of_several``: only its row tells it from others, which may well be sent in both runs.
    """

    relation: str
    row: Row
    source: NodeName
    time: int
    arrives: int
    there: bool
    hit: bool
    one_of_several: bool = False

    @property
    def target(self) -> NodeName:
        return self.row[0]  # type: ignore[return-value]  # a message goes to a node


class NodeStep(NamedTuple):
    """A node that stays up in the run without the fault, where somebody looks whether it is down."""

    node: NodeName
    time: int
    there: bool = True


#: What tells the run without a fault from the failing one.
Step = RowStep | MessageStep | NodeStep


class PhaseStep(NamedTuple):
    """A fault that lasts for a while ``begins`` or is over."""

    time: int
    words: str
    begins: bool


def steps_of(reason: Reason, fault: Fault, runs: Runs, both: Sequence[FaultSet]) -> tuple[Step, ...]:
    """Return the steps of a reason from a fault to an outcome, in the order of time.

    ``both``: the faults of either run that is compared, first those of the failing one.
    """
    finder = _StepFinder(reason, fault, runs, both)
    steps = [step for link in reason for step in finder.steps(link)]
    steps.sort(key=_moment)  # rows of one time stay in the order of causes and effects
    return tuple(_without_repetitions(steps))


def _moment(step: Step) -> tuple[int, str, object]:
    """Return a sort key: who stays up comes first, messages after the rows that send them."""
    match step:
        case NodeStep():
            return 0, "", ()
        case RowStep():
            return step.time, "", ()
        case MessageStep():
            return step.time, step.relation, row_key((step.source, *step.row))


class _Sending(NamedTuple):
    """By whom and when a message was sent; ``hit``: the fault itself makes the difference."""

    source: NodeName
    time: int
    hit: bool


class _StepFinder:
    """Turns the differences of one reason into steps."""

    def __init__(self, reason: Reason, fault: Fault, runs: Runs, both: Sequence[FaultSet]) -> None:
        self._reason = reason
        self._both = both
        self._fault = fault
        self._runs = runs
        self._effects: dict[Link, list[Link]] = {}
        # A reason says on what each difference rests; here it is read the other way round.
        for effect, causes in reason.items():
            for cause in causes:
                self._effects.setdefault(cause, []).append(effect)

    def steps(self, link: Link) -> Iterator[Step]:
        atom = self._runs.describe(link.atom)
        if isinstance(atom, SightingAtom):
            yield NodeStep(atom.node, self._fault.time)
        elif isinstance(atom, RowAtom):  # links and messages are told with the row that they bring
            sent = self._sending(link)
            # A row from elsewhere is told as its message; a message to oneself, as the row that it becomes.
            if sent is not None and sent.source != atom.row[0]:
                yield MessageStep(
                    atom.relation,
                    atom.row,
                    sent.source,
                    sent.time,
                    atom.time,
                    link.there,
                    sent.hit,
                    self._is_one_of_several(atom, sent),
                )
            elif atom.relation not in self._runs.program.helpers:
                yield RowStep(atom.relation, atom.row, atom.time, link.there, self._is_passing(link, atom.time))

    def _is_one_of_several(self, atom: RowAtom, sent: _Sending) -> bool:
        like_it = atom.relation, sent.source, as_place(atom.row[0]), sent.time
        # Asked of the ground program first: reading the messages of a run takes much longer.
        if not self._runs.may_be_several(*like_it):
            return False
        messages = (m for faults in self._both for m in self._runs.messages(faults))
        return len({m.row for m in messages if (m.relation, m.source, m.target, m.sent) == like_it}) > 1

    def _sending(self, link: Link) -> _Sending | None:
        """Return by whom and when a row was sent, and whether the fault hits it, if it came from a message."""
        found = [sent for cause in self._causes(link) if (sent := self._message_behind(cause, link))]
        # Of several messages that bring the same row, the one that the fault hits is the one to tell of.
        return next((sent for sent in found if sent.hit), found[0] if found else None)

    def _causes(self, link: Link) -> Iterator[Link]:
        """Yield what a row directly rests on, past the times that it waited at a node that was paused."""
        for cause in self._reason[link]:
            yield cause
            if isinstance(self._runs.describe(cause.atom), ArrivalAtom):
                yield from self._causes(cause)

    def _message_behind(self, cause: Link, row: Link) -> _Sending | None:
        atom = self._runs.describe(cause.atom)
        if isinstance(atom, LinkAtom):
            return _Sending(atom.source, atom.time, True)
        if isinstance(atom, SentAtom):
            return _Sending(atom.source, atom.time, self._does_not_run(atom.source, cause))
        if isinstance(atom, HaltAtom):
            return self._received(row, atom.node)
        # A fault by which a message arrives after all is itself a premise of its arrival.
        message = self._fault.message
        if message and self._fault.lateness and cause.atom == self._runs.fault_atoms[self._fault]:
            source, _, time = message
            return _Sending(source, time, True)
        return None

    def _does_not_run(self, node: NodeName, sent: Link) -> bool:
        """Tell whether a message is not sent because its sender does not run."""
        atoms = (self._runs.describe(cause.atom) for cause in self._reason[sent])
        return any(isinstance(atom, HaltAtom) and atom.node == node for atom in atoms)

    def _received(self, link: Link, node: NodeName) -> _Sending | None:
        """Return the message, sent in both runs, that brings a row only where its receiver runs, or runs again."""
        atom = self._runs.describe(link.atom)
        if not isinstance(atom, RowAtom) or as_place(atom.row[0]) != node:
            return None
        failing, without = self._both
        for m in self._runs.messages(without if link.there else failing):
            if (m.relation, m.row) == (atom.relation, atom.row) and atom.time in (m.arrived, m.again):
                return _Sending(m.source, m.sent, True)
        return None

    def _is_passing(self, link: Link, time: int) -> bool:
        """Tell whether it leads only to rows of the same time, likewise there or not, and not to the outcome."""
        effects = list(self._effects_as_rows(link))
        return bool(effects) and all(
            isinstance(row, RowAtom)
            and row.time == time
            and effect.there == link.there
            and effect in self._effects
            and row.relation not in self._runs.program.helpers
            for effect, row in effects
        )

    def _effects_as_rows(self, link: Link) -> Iterator[tuple[Link, NamedAtom]]:
        """Yield what it leads to, past helpers of the encoding."""
        for effect in self._effects.get(link, ()):
            atom = self._runs.describe(effect.atom)
            if atom is None or isinstance(atom, ArrivalAtom | HaltAtom):
                yield from self._effects_as_rows(effect)
            else:
                yield effect, atom


def _without_repetitions(steps: Iterable[Step]) -> Iterator[Step]:
    """Yield each row when it comes up first, and likewise a message that is not sent again and again."""
    told: set[object] = set()
    for step in steps:
        match step:
            case RowStep():
                topic: object = (step.relation, step.row, step.there)
            case MessageStep(there=False, hit=False):
                topic = (step.relation, step.row, step.there, step.source)
            case _:
                topic = step
        if topic not in told:
            yield step
        told.add(topic)
        # A message that arrives brings its row, which is then not told once more.
        if isinstance(step, MessageStep):
            told.add((step.relation, step.row, step.there))
