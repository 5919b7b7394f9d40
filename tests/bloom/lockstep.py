"""The oracle of checked programs: machines that step together, and what they send arrives with the next step."""

from __future__ import annotations

from typing import Any

import clew
from clew.bloom.ir.schema import Kind
from clew.bloom.language.module import Module, program_of
from clew.bloom.runtime.machine import Machine
from clew.program.ir import as_value

NODES = ["a", "b"]
EOT = 4

#: By node and time: collections with rows.
Inserted = dict[tuple[str, int], list[tuple[str, list[Any]]]]


def made_module(body: dict[str, Any]) -> type[Module]:
    made = type("Generated", (Module,), body)
    for name, value in body.items():
        if hasattr(value, "__set_name__"):
            value.__set_name__(made, name)
    return made


def assert_same_rows(program: type[Module], inserted: Inserted, eot: int = EOT) -> None:
    """The failure-free run of a program has the rows of the runtime, at all nodes and times."""
    run = clew.run(program)
    for (node, time, name), rows in lockstep(program, inserted, eot).items():
        found = [row for row in run.tables.get(name, ((),) * eot)[time - 1] if row[0] == node]
        assert set(found) == {(node, *row) for row in rows}, (node, time, name)


def lockstep(
    program: type[Module], inserted: Inserted, eot: int = EOT
) -> dict[tuple[str, int, str], set[tuple[Any, ...]]]:
    """By node, time and collection the rows of the runtime, with the values that checked programs have."""
    bloom_program = program_of(program)
    machines = {node: Machine(bloom_program, node) for node in NODES}
    kinds = {collection.name: collection.kind for collection in bloom_program.collections}
    found: dict[tuple[str, int, str], set[tuple[Any, ...]]] = {}
    flying: list[tuple[str, tuple[Any, ...]]] = []
    for time in range(1, eot + 1):
        for name, row in flying:
            if row[0] in machines:
                machines[row[0]].deliver(name, row)
        flying = []
        for node, machine in machines.items():
            if "timer" in kinds:
                machine.deliver("timer", (time, time))
            for name, given_rows in inserted.get((node, time), []):
                machine.insert(name, given_rows)
            flying += machine.step().sent
            for name, kind in kinds.items():
                held: Any = machine.rows(name)
                rows = held.value.elements() if kind is Kind.LATTICE else held
                rows_now = {as_value(tuple(row)) for row in rows}
                if kind is Kind.CHANNEL:
                    rows_now = {row[1:] for row in rows_now}  # type: ignore[index]
                found[node, time, name] = rows_now  # type: ignore[assignment]
    return found
