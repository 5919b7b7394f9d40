"""Verify a proof's file: the CNF is that of the ground program, and the proof refutes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from clew.verify.archive import Parts
from clew.verify.clauses import Definitions, compare
from clew.verify.drat import check_proof
from clew.verify.ground import read_ground
from clew.verify.numbers import read_cnf, read_proof

#: Called now and then with what is being done; may raise to end the work.
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Verified:
    """The sizes of what was verified; ``choices``: the atoms that rules leave open, that is, the faults."""

    rules: int
    atoms: int
    choices: int
    variables: int
    clauses: int
    loops: int
    steps: int


def verify(parts: Parts, tell: Progress = lambda doing: None) -> Verified:
    """Verify what a file says; raise ``RefusedError`` if it is not so."""

    def tick() -> None:
        tell("reading")

    ground = read_ground(parts.ground, tick)
    cnf = read_cnf(parts.cnf, tick)
    steps = read_proof(parts.proof, tick)
    definitions = Definitions(parts.definitions, ground.atoms, tick)
    compare(cnf, ground, definitions, lambda: tell("comparing the clauses with the ground program"))
    done = check_proof(cnf, steps, lambda number: tell(f"checking step {number} of {len(steps)}"))
    return Verified(
        len(ground.rules),
        ground.atoms,
        len({atom for rule in ground.rules if rule.choice for atom in rule.head}),
        cnf.variables,
        len(cnf.clauses),
        len(definitions.loops),
        done,
    )
