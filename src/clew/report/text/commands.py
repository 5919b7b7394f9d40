"""Commands that reports print: a shell that is given such a line does what the report says.

Each is one line, whatever the names of files and nodes are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from clew.checker.named_nodes import find_ambiguous_nodes
from clew.dedalus.printer import print_value
from clew.faults import Cell, FailureSpec, Fault, FaultSet, GivenRow
from clew.node_lists import write_node, write_nodes
from clew.program.ir import Program
from clew.report.text.shell import file_words, shell_words

#: What the language reads as a string without quotes.
_BARE = re.compile(r"[a-z](?:[A-Za-z0-9_?]|\.(?!\.))*")


def replay_command(faults: FaultSet, spec: FailureSpec, files: Sequence[str], program: Program | None) -> str:
    """Return the command that shows this execution of the program, which the files contain."""
    ambiguous = find_ambiguous_nodes(program, spec.nodes)

    def fault_words(fault: Fault) -> str:
        if isinstance(fault, GivenRow):
            return f"{fault.relation}({', '.join(map(_cell, fault.row))})@{fault.time}"
        numbers = ",".join(map(str, fault.numbers))
        return f"{write_nodes(fault.nodes, ambiguous)}{':' if fault.kind.group else ','}{numbers}"

    words = [*set_words(program), "--nodes", write_nodes(spec.nodes, ambiguous), "--eot", str(spec.eot)]
    # The flag of each kind is in the table of kinds: a new kind of fault needs no line here.
    for fault in faults:
        words += [fault.kind.flag, fault_words(fault)]
    return f"clew run {file_words(files)} {shell_words(words)}"


def set_words(program: Program | None) -> list[str]:
    """Return the flags that set the params which were set for this program."""
    params = [param for param in program.params if param.given] if program else []
    return [word for param in params for word in ("--set", setting_word(param.name, param.value))]


def setting_word(name: str, value: str | int) -> str:
    """Write ``NAME=VALUE`` as ``--set`` reads it."""
    return f"{name}={write_node(value, ())}"


def _cell(cell: Cell) -> str:
    """Write a value as a fact has it; in quotes only where that is needed."""
    assert isinstance(cell, str | int), "only programs in Dedalus have inputs and choices"
    return cell if isinstance(cell, str) and _BARE.fullmatch(cell) else print_value(cell)


def check_command(spec: FailureSpec, files: Sequence[str], program: Program | None) -> str:
    """Return the command that searches within these bounds."""
    nodes = write_nodes(spec.nodes, find_ambiguous_nodes(program, spec.nodes))
    # A sweep may allow delays that are longer than the execution it ends at; they mean no more than its length.
    bounds = {**spec.numbers, "delays": min(spec.delays, spec.eot)}
    flags = [word for name, number in bounds.items() for word in (f"--{name}", str(number))]
    return f"clew check {file_words(files)} {shell_words([*set_words(program), '--nodes', nodes, *flags])}"
