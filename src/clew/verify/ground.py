"""The ground program: rules and names of atoms, read from aspif."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from clew.verify.numbers import Reader, Tick
from clew.verify.refusals import RefusedError, UnreadableError

_WHAT = "the ground program"


class Rule(NamedTuple):
    """A rule with the weights of its body; without a ``bound``, all literals of the body have to be true."""

    choice: bool
    head: tuple[int, ...]
    bound: int | None
    body: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Ground:
    """Rules over atoms from 1 on, and what the named ones are called."""

    rules: list[Rule]
    atoms: int
    names: dict[int, str]


def read_ground(text: bytes, tick: Tick = lambda: None) -> Ground:
    """Read a ground program that has rules and names of atoms, and nothing else."""
    lines = text.split(b"\n")
    if lines[0] != b"asp 1 0 0" or lines[-2:] != [b"0", b""]:
        raise RefusedError(f"{_WHAT} is not in aspif")
    rules: list[Rule] = []
    names: dict[int, str] = {}
    reader = Reader(_WHAT, tick)
    for line in lines[1:-2]:
        kind = line[:2]
        if kind == b"1 ":
            rules.append(_rule(reader.numbers(line[2:])))
        elif kind == b"4 ":
            _read_name(line[2:], names, reader)
        else:
            raise RefusedError(f"{_WHAT} has a statement that is neither a rule nor a name")
    used = (abs(n) for rule in rules for n in (*rule.head, *(literal for literal, _ in rule.body)))
    atoms = max(used, default=0)
    if atoms > reader.read:  # a grounder leaves no gaps to speak of, and lists are made for all
        raise UnreadableError(f"{_WHAT} has atoms with numbers that are far too large")
    return Ground(rules, atoms, names)


def _rule(numbers: list[int]) -> Rule:
    waiting = iter(numbers)
    try:
        choice = next(waiting)
        head_size = next(waiting)
        head = tuple(next(waiting) for _ in range(head_size))
        kind = next(waiting)
        bound = next(waiting) if kind else None
        body_size = next(waiting)
        body = tuple((next(waiting), next(waiting) if kind else 1) for _ in range(body_size))
    except (StopIteration, RuntimeError):  # the latter within a generator
        raise RefusedError(f"{_WHAT} has a rule that ends too early") from None
    # aspif has no negative weights: a grounder moves them to the bound.
    proper = (
        choice in (0, 1)
        and kind in (0, 1)
        and min(head_size, body_size) >= 0
        and all(atom > 0 for atom in head)
        and all(literal != 0 and weight >= 0 for literal, weight in body)
        and next(waiting, None) is None
    )
    if not proper:
        raise RefusedError(f"{_WHAT} has a malformed rule")
    return Rule(bool(choice), head, bound, body)


def _read_name(line: bytes, names: dict[int, str], reader: Reader) -> None:
    """Read a name with its length before it and the literals that it stands for behind."""
    length, _, rest = line.partition(b" ")
    if not length.isdigit() or len(length) > 9:
        raise RefusedError(f"{_WHAT} has a name without a length")
    name, condition = rest[: int(length)], reader.numbers(rest[int(length) :])
    if len(condition) == 2 and condition[0] == 1:
        names.setdefault(condition[1], name.decode("utf-8", "replace"))
    elif condition != [0]:  # shown always: certain, and no atom of a rule
        raise RefusedError(f"{_WHAT} has a name that stands for no single literal")
