"""The promises that a program states by name: pairs of ``pre`` and ``post``, and what must ``never`` happen.

Each pair ``pre_NAME``/``post_NAME`` is a promise of its own beside ``pre``/``post``, with columns of its own: a
row of the first that is not in the second at the end of time violates it.  A row of ``never`` or ``never_NAME``
violates at whatever time it holds.

A name alone tells half of a pair only where both halves are there: protocols have relations like ``pre_commit``.
``clew.program.assertion_checks`` refuses a half that is no such relation.
"""

from __future__ import annotations

from typing import NamedTuple

from clew.program.ir import Program

PRE, POST, NEVER = "pre", "post", "never"


class Assertion(NamedTuple):
    """One promise: rows of ``relation`` must be in ``post`` at the end; without ``post``, there must be none."""

    relation: str
    post: str | None

    @property
    def title(self) -> str:
        """Return what the promise says, in the words of every report."""
        return f"{self.relation} stays empty" if self.post is None else f"{self.relation} implies {self.post}"


def is_pre(relation: str) -> bool:
    """Tell whether a violation of this relation is a row that its ``post`` lacks."""
    return stem_of(relation) == PRE


def is_never(relation: str) -> bool:
    return stem_of(relation) == NEVER


def post_of(pre: str) -> str:
    """Return the relation in which a row of ``pre``, or of a named one, has to be."""
    return POST + pre.removeprefix(PRE)


def other_half(relation: str) -> str:
    """Return the other relation of a pair."""
    return post_of(relation) if is_pre(relation) else PRE + relation.removeprefix(POST)


def stem_of(relation: str) -> str | None:
    """Return which of the three a name that can state a promise begins with; None for all other names."""
    stem, _, name = relation.partition("_")
    # "pre_" alone names nothing, and is refused.
    return stem if stem in (PRE, POST, NEVER) and (relation == stem or name) else None


def find_assertions(program: Program) -> tuple[Assertion, ...]:
    """Return what the program promises by name, in the order of its text."""
    defined = dict.fromkeys(c.relation for c in program.clauses if stem_of(c.relation) is not None)
    found: dict[Assertion, None] = {}
    for relation in defined:
        if is_never(relation):
            found[Assertion(relation, None)] = None
        elif other_half(relation) in defined:
            pre = relation if is_pre(relation) else other_half(relation)
            found[Assertion(pre, post_of(pre))] = None
    return tuple(found)


def assertion_names(program: Program) -> frozenset[str]:
    """Return every relation by which the program states a promise; ``pre`` and ``post`` in any case."""
    named = (name for a in find_assertions(program) for name in (a.relation, a.post) if name is not None)
    return frozenset((PRE, POST, *named))


def states_more_than_one(program: Program) -> bool:
    """Tell whether what must hold is more, or other, than the one promise of ``pre`` and ``post``."""
    return any(assertion != (PRE, POST) for assertion in find_assertions(program))


def told_apart(program: Program) -> tuple[str, ...]:
    """Return the relations of the promises if there are several, each of which has an answer of its own."""
    found = find_assertions(program)
    return tuple(assertion.relation for assertion in found) if len(found) > 1 else ()
