"""The modules that a class imports, and which rules of its program are theirs.

The program of a class holds the rules of all modules that it imports, with the name of the import in front of
their collections.  Extraction and the recognition of coordinated classes take it apart by the same test.
"""

from __future__ import annotations

from clew.bloom.ir.expressions import collections_in
from clew.bloom.ir.program import BloomProgram, Rule
from clew.bloom.language.module import Module
from clew.bloom.language.scope import Imported


def find_imports(module: type[Module]) -> dict[str, type[Module]]:
    """Return the modules that a class imports by their names, in the order of the text."""
    # From the base to the class: what a subclass imports under the same name replaces what its base imports.
    owners = reversed(module.__mro__)
    return {n: v.module for owner in owners for n, v in vars(owner).items() if isinstance(v, Imported)}


def select_rules(program: BloomProgram, module: type[Module], name: str) -> list[Rule]:
    """Return the rules of the program of a class that are those of the module imported under a name."""
    own = frozenset(owner.__name__ for owner in module.__mro__)
    return [rule for rule in program.rules if _belongs(rule, f"{name}.", own)]


def _belongs(rule: Rule, prefix: str, own: frozenset[str]) -> bool:
    read = collections_in(rule.expr)
    if not all(name.startswith(prefix) for name in (rule.target, *read)):
        return False
    # The class may write constants into an import (``self.kv.put <= rows(...)``).  Only the class that contains
    # such a rule tells it from one of the import itself, since no collection that it reads does.
    return bool(read) or rule.block.partition(".")[0] not in own
