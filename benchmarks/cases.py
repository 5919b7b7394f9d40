"""The programs that are measured: the examples as they are, and some of them with other bounds or nodes."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from itertools import permutations
from pathlib import Path

from clew.checker.bounds import complete
from clew.dedalus.loader import load, parse_program
from clew.dedalus.printer import print_program
from clew.faults import FailureSpec
from clew.program.assertions import POST, PRE
from clew.program.checks import check_program
from clew.program.ir import Fact, Program, Rule

EXAMPLES = Path(__file__).parent.parent / "examples"


@dataclass(frozen=True)
class Case:
    """A checked program and its bounds.  ``rules``: the protocol's own, without those of its assertions."""

    name: str
    program: Program
    spec: FailureSpec
    rules: int
    loading: float


def example(name: str) -> Case:
    """An example within the bounds of its first line."""
    started = time.perf_counter()
    loaded = load([EXAMPLES / f"{name}.ded"])
    program = check_program(loaded.program).program
    spec = complete(program, loaded.defaults)
    loading = time.perf_counter() - started
    return Case(name, program, spec, sum(map(_is_of_protocol, loaded.program.rules)), loading)


def within(case: Case, eot: int) -> Case:
    """The same with failures for as long as the paper's Figure 11 has them: EFF = EOT - 1."""
    return replace(case, spec=replace(case.spec, eot=eot, eff=eot - 1))


def broadcast_text(name: str, nodes: tuple[str, ...]) -> str:
    """A broadcast protocol of the examples with a fact set for these nodes; the first one sends."""
    rules = load([EXAMPLES / f"{name}.ded"]).program.rules
    links = [Fact("node", pair) for pair in permutations(nodes, 2)]
    return print_program(Program((*links, Fact("bcast", (nodes[0], "data")), *rules)))


def from_text(name: str, text: str, spec: FailureSpec) -> Case:
    """A program that is not in a file."""
    started = time.perf_counter()
    program = check_program(parse_program(text)).program
    return Case(name, program, spec, len(program.rules), time.perf_counter() - started)


def _is_of_protocol(rule: Rule) -> bool:
    asserted = rule.position is not None and Path(rule.position.file).parent.name == "assertions"
    return not asserted and rule.relation not in (PRE, POST)
