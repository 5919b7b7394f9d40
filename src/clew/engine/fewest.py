"""The fewest faults that violate something, or the proof that none do.

Two ways to minimize, each bad at what the other is good at.  *Lowering the upper bound* finds some violating
fault set and asks for a smaller one until there is none: it proves certificates fastest and answers most questions
at once.  Where it does not, *cores* are faster by orders of magnitude (Kafka at EOT 100: 0.04 s instead of 5.1 s),
but they bring nothing before the optimum, and with them alone the certificate of Paxos takes five times as long.
Of clasp's algorithms for them, pmres was the fastest and the least erratic (redun-deliv with 4 nodes at EOT 20,
EFF 19, delays 4: 4.3 s; oll: 67 s).

So the first is given a limited attempt.  If that ends undecided, any violating fault set is looked for, without a
limit; only if there is one, it is made subset-minimal, which is the answer if time runs out, and cores decide.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing

from clingo import Model

from clew.engine.encode import VIOLATED
from clew.engine.ground import GroundProgram
from clew.engine.solving import every
from clew.faults import FaultSet

#: Conflicts for the first attempt: some hundredths of a second.  In conflicts, so that it is the same on every
#: machine, and with it which of several smallest counterexamples is reported.
FIRST_ATTEMPT = 1_000


def ever_fewer_faults(ground: GroundProgram, goal: str = VIOLATED) -> Iterator[FaultSet]:
    """Yield violating fault sets, each with fewer faults than the one before; the last has the fewest.

    Nothing at all means that no execution shows a violation, or whatever else the ``goal`` is.
    """
    wanted = ground.find_goal(goal)
    if wanted is not None:
        yield from _Minimization(ground, wanted).improve()


def minimal_faults(ground: GroundProgram, goal: str = VIOLATED) -> Iterator[FaultSet]:
    """Yield every subset-minimal fault set with which the goal, an atom without arguments, holds.

    ``domRec`` with a heuristic that prefers absent faults: each solution is subset-minimal, and is excluded
    together with its supersets, so that no pair of solutions needs to be compared.
    """
    wanted = ground.find_goal(goal)
    if wanted is not None:
        yield from map(ground.faults_of, every(ground.solutions([wanted], "ignore", "domRec")))


class _Minimization:
    """One search; ``_fewest`` is the best that it has found."""

    def __init__(self, ground: GroundProgram, wanted: int) -> None:
        self._ground = ground
        self._wanted = wanted
        self._fewest: FaultSet | None = None

    def improve(self) -> Iterator[FaultSet]:
        attempt = self._ground.solutions([self._wanted], "opt", "auto", conflicts=FIRST_ATTEMPT)
        if (yield from self._fewer(attempt)):
            return
        if self._fewest is None:
            yield from self._first(every(self._ground.solutions([self._wanted], "opt", "auto")))
        # The second attempt may have proven that there is none; otherwise shrink what is there before the cores.
        if self._fewest is not None:
            yield from self._first(every(self._ground.solutions(self._part_of(self._fewest), "ignore", "domRec")))
            cores = self._ground.solutions([self._wanted], "opt", "auto", by_cores=True)
            yield from self._fewer(every(cores))

    def _part_of(self, faults: FaultSet) -> list[int]:
        """Return the assumptions that the goal is met, and no fault happens but some of these."""
        kept = set(faults)
        return [self._wanted, *(-atom for f, atom in self._ground.fault_atoms.items() if f not in kept)]

    def _first(self, models: Generator[Model, None, bool]) -> Iterator[FaultSet]:
        """Yield the first model if it is an improvement; without any, ``models`` must be known to be all."""
        with closing(models):
            for model in models:
                yield from self._improvement(model)
                return

    def _fewer(self, models: Generator[Model, None, bool]) -> Generator[FaultSet, None, bool]:
        """Yield the improvements among these models, and return whether they were all."""
        with closing(models):
            while True:
                try:
                    model = next(models)
                except StopIteration as end:
                    return bool(end.value)
                yield from self._improvement(model)

    def _improvement(self, model: Model) -> Iterator[FaultSet]:
        faults = self._ground.faults_of(model)
        if self._fewest is None or faults.weight < self._fewest.weight:
            self._fewest = faults
            yield faults
