"""What a rule is called: by its place, so that a class and those that derive from it speak of the same rules."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from clew.bloom.ir.program import BloomProgram, Rule
from clew.errors import UsageError


class RuleName(NamedTuple):
    """A place in a file.  ``occurrence`` counts rules of one place from 0: in a loop, a place has several.

    The target is no part of it: a class that declares an interface again gives that of its base another name.
    """

    file: str
    line: int
    column: int
    block: str
    occurrence: int

    @property
    def place(self) -> str:
        """Return the name for people: ``Store.server, line 12``."""
        return f"{self.block}, line {self.line}" if self.line else self.block


def name_rules(program: BloomProgram) -> tuple[RuleName, ...]:
    """Return the names of the rules of a program, in order."""
    seen: Counter[tuple[str, int, int, str]] = Counter()
    found = []
    for rule in program.rules:
        at = rule.position
        place = (
            (resolve_file(at.file), at.line, at.column, rule.block) if at is not None else ("", 0, 0, rule.block)
        )
        found.append(RuleName(*place, seen[place]))
        seen[place] += 1
    return tuple(found)


@lru_cache(maxsize=64)  # programs have hundreds of rules in a few files
def resolve_file(file: str) -> str:
    """Return a file without links: processes come to one by several ways."""
    return os.path.realpath(file)


def select_rules(program: BloomProgram, wanted: Sequence[str]) -> frozenset[int]:
    """Return the numbers of the rules that words name; all of them, if there are no words.

    A word is a block (``Store.server``, or ``server``), what a rule derives (``kvstate``), or a line (``12``,
    ``store.py:12``).
    """
    found: set[int] = set()
    for word in wanted:
        numbers = [number for number, rule in enumerate(program.rules) if word in _words_for(rule)]
        # A word that selects nothing is a slip: an empty trace would look like a rule that never fires.
        if not numbers:
            blocks = ", ".join(dict.fromkeys(rule.block for rule in program.rules))
            raise UsageError(
                f"'{word}' names no rule of {program.name}",
                remedy=f"give a collection that it derives, a line, or a block: {blocks}",
            )
        found.update(numbers)
    return frozenset(found if wanted else range(len(program.rules)))


def _words_for(rule: Rule) -> tuple[str, ...]:
    # Whatever people may call a rule that they see in a file or in a table of coverage.
    words = (rule.target, rule.block, rule.block.rpartition(".")[2])
    if rule.position is None:
        return words
    line = rule.position.line
    return (*words, str(line), f"{Path(rule.position.file).name}:{line}", f"{rule.position.file}:{line}")
