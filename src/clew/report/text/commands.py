"""Commands that reports print: a shell that is given such a line does what the report says.

Each is one line, whatever the names of files and nodes are.
"""

from __future__ import annotations

from collections.abc import Sequence

from clew.checker.named_nodes import find_ambiguous_nodes
from clew.faults import FailureSpec, Fault, FaultSet
from clew.node_lists import write_nodes
from clew.program.ir import Program
from clew.report.text.shell import file_words, shell_words


def replay_command(faults: FaultSet, spec: FailureSpec, files: Sequence[str], program: Program | None) -> str:
    """Return the command that shows this execution of the program, which the files contain."""
    ambiguous = find_ambiguous_nodes(program, spec.nodes)

    def fault_words(fault: Fault) -> str:
        numbers = ",".join(map(str, fault.numbers))
        return f"{write_nodes(fault.nodes, ambiguous)}{':' if fault.kind.group else ','}{numbers}"

    words = ["--nodes", write_nodes(spec.nodes, ambiguous), "--eot", str(spec.eot)]
    # The flag of each kind is in the table of kinds: a new kind of fault needs no line here.
    for fault in faults:
        words += [fault.kind.flag, fault_words(fault)]
    return f"clew run {file_words(files)} {shell_words(words)}"


def check_command(spec: FailureSpec, files: Sequence[str], program: Program | None) -> str:
    """Return the command that searches within these bounds."""
    nodes = write_nodes(spec.nodes, find_ambiguous_nodes(program, spec.nodes))
    # A sweep may allow delays that are longer than the execution it ends at; they mean no more than its length.
    bounds = {**spec.numbers, "delays": min(spec.delays, spec.eot)}
    flags = [word for name, number in bounds.items() for word in (f"--{name}", str(number))]
    return f"clew check {file_words(files)} {shell_words(['--nodes', nodes, *flags])}"
