"""Components drawn at random that show what is on one side and absent on the other, as text.

The input ``a`` has the rows that may be shown, ``b`` those that hold them back.  Both have the columns k and v,
and are compared by columns that need not have the same names.  What is plain is ``a`` without what ``b`` names, so
its outcome is known; the others have more steps, more rules, or rows that nobody can hold back.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import clew.bloom
from clew.analysis.blazes.extraction.declared import annotated
from clew.bloom import Bloom

Row = tuple[int, int]
COLUMNS = ("k", "v")


@dataclass(frozen=True)
class Absence:
    """``compared``: the column of each side.  ``plain``: rows of a without a partner are shown, no others."""

    text: str
    compared: tuple[str, str]
    plain: bool
    requests: bool

    def module(self, sealed: Sequence[str]) -> Any:
        """The class, in which some inputs are sealed on the columns that are compared."""
        keys = dict(zip("ab", self.compared, strict=True))
        names: dict[str, Any] = {name: getattr(clew.bloom, name) for name in clew.bloom.__all__}
        names |= {"__name__": __name__, "facts": annotated(seals={name: [keys[name]] for name in sealed})}
        exec(compile(self.text, "<drawn>", "exec"), names)
        made: type[Bloom] = names["Absent"]
        return made

    def expected(self, a: Sequence[Row], b: Sequence[Row]) -> set[Row]:
        left, right = (COLUMNS.index(column) for column in self.compared)
        return {row for row in a if row[left] not in {other[right] for other in b}}


def draw(seed: int) -> Absence:
    chance = random.Random(seed)
    compared = chance.choice((("k", "k"), ("k", "k"), ("k", "v"), ("v", "k")))
    on = f'{compared[0]}="{compared[1]}"'
    plain = chance.random() < 0.5
    declared, rules = [], []
    sides = {}
    for name in "ab":
        sides[name], more, written = _side(chance, name, plain)
        declared += more
        rules += written
    absent = f"self.{sides['b']}"
    if not plain and chance.random() < 0.3:
        by = compared[1]
        counted = f'{absent}.group(["{by}"], n=agg.count())'
        bound = chance.choice((1, 2))
        absent = f'{counted}(lambda r: (r.{by}, r.n) if r.n >= {bound} else None).rename("{by}", "n")'
    shown = f"self.{sides['a']}.notin({absent}, {on})"
    if chance.random() < 0.2 and absent.startswith("self.b") and "(" not in absent:
        shown = f"(self.{sides['a']} * {absent}).outer(lambda x, y: (x.k, x.v) if y.v == None else None, {on})"
    requests = not plain and chance.random() < 0.3
    rules += list(_ending(chance, shown, declared, plain=plain, requests=requests))
    lines = ["class Absent(Bloom):", "    blazes = facts", '    out = interface.output("k", "v")']
    lines += [f'    {name} = interface.input("k", "v")' for name in ("a", "b", *(["q"] if requests else []))]
    lines += [f"    {line}" for line in declared]
    lines += ["    @bloom", "    def rules(self):", *(f"        {rule}" for rule in rules)]
    return Absence("\n".join(lines) + "\n", compared, plain, requests)


def _side(chance: random.Random, name: str, plain: bool) -> tuple[str, list[str], list[str]]:
    """Return the collection in which rows of an input are looked up, with what is declared and written for it."""
    if chance.random() < 0.2 and not (plain and name == "b"):
        return name, [], []
    declared, rules, last = [f'{name}0 = table("k", "v")'], [], name
    if not plain and chance.random() < 0.4:
        declared.append(f'{name}1 = {chance.choice(("scratch", "table"))}("k", "v")')
        rules.append(f"self.{name}1 <+ self.{last}")
        last = f"{name}1"
    later = chance.random() < 0.25 and not (plain and name == "b")  # else a is shown before b is there
    rules.append(f"self.{name}0 {'<+' if later else '<='} self.{last}")
    if not plain:
        match chance.choice(("", "", "", "given", "constant", "other", "deleted")):
            case "given":
                declared.append(f'{name}_given = table("k", "v")')
                rules.append(f"self.{name}0 <= self.{name}_given")
            case "constant":
                rules.append(f'self.{name}0 <= rows([(1, 1)]).rename("k", "v")')
            case "other":
                rules.append(f"self.{name}0 <= self.{'b' if name == 'a' else 'a'}")
            case "deleted":
                rules.append(f"self.{name}0 <- (self.{name}0 * self.{chance.choice('ab')}).lefts(v=\"v\")")
    return f"{name}0", declared, rules


def _ending(
    chance: random.Random, shown: str, declared: list[str], *, plain: bool, requests: bool
) -> list[str]:
    """Return the rules from what is shown to the output."""
    kept = chance.random() < 0.4
    rules = []
    if kept:
        declared.append('kept = table("k", "v")')
        rules.append(f"self.kept {chance.choice(('<=', '<+'))} {shown}")
        shown = "self.kept"
    if requests:
        return [*rules, f'self.out <= (self.q * {shown}).pairs(lambda q, t: (q.v, t.v), k="k")']
    if not plain and chance.random() < 0.3:
        shown = chance.choice((f'{shown}.group(["k"], n=agg.count())', f'{shown}.group(["v"], n=agg.count())'))
    rules.append(f"self.out <= {shown}")
    if not plain and chance.random() < 0.2:
        rules.append("self.out <= self.b")
    return rules
