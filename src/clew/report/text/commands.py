"""Commands that reports print: a shell that is given such a line does what the report says.

Each is one line, whatever the names of files and nodes are.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Sequence

from clew.checker.named_nodes import ambiguous_nodes
from clew.faults import FailureSpec, Fault, FaultSet
from clew.node_lists import write_nodes
from clew.program.ir import Program


def replay_command(faults: FaultSet, spec: FailureSpec, files: Sequence[str], program: Program | None) -> str:
    """Return the command that shows this execution of the program, which the files contain."""
    ambiguous = ambiguous_nodes(program, spec.nodes)

    def listed(fault: Fault) -> str:
        numbers = fault.parts[len(fault.nodes) :]
        return f"{write_nodes(fault.nodes, ambiguous)},{','.join(map(str, numbers))}"

    words = ["--nodes", write_nodes(spec.nodes, ambiguous), "--eot", str(spec.eot)]
    for fault in faults:
        words += [fault.kind.flag, listed(fault)]
    return f"clew run {file_words(files)} {_shell_words(words)}"


def check_command(spec: FailureSpec, files: Sequence[str], program: Program | None) -> str:
    """Return the command that searches within these bounds."""
    nodes = write_nodes(spec.nodes, ambiguous_nodes(program, spec.nodes))
    # A sweep may allow delays that are longer than the execution it ends at; they mean no more than its length.
    bounds = {**spec.numbers, "delays": min(spec.delays, spec.eot)}
    flags = [word for name, number in bounds.items() for word in (f"--{name}", str(number))]
    return f"clew check {file_words(files)} {_shell_words(['--nodes', nodes, *flags])}"


def file_words(files: Iterable[str]) -> str:
    """Return the names of files as arguments in a shell, none of which can be taken for a flag."""
    return _shell_words(f"./{file}" if file.startswith("-") else file for file in files)


def _shell_words(words: Iterable[str]) -> str:
    return " ".join(map(_shell_word, words))


def _shell_word(word: str) -> str:
    # A terminal would obey what is not printable, or show a line break as one.  A shell substitutes no line break
    # at the end of a word: such a name stays as it is, on two lines.
    if word.isprintable() or word.endswith("\n") or not _is_encodable(word):
        return shlex.quote(word)
    octal = re.sub(rb"[^A-Za-z0-9_./]", lambda byte: rb"\0%03o" % byte.group()[0], os.fsencode(word))
    return f"\"$(printf %b '{octal.decode()}')\""


def _is_encodable(word: str) -> bool:
    """Return whether this can be the name of a file: half a character that stands for no byte cannot."""
    try:
        os.fsencode(word)
    except UnicodeEncodeError:
        return False
    return True
