"""Bloom components drawn at random, as text: pipelines, joins, absence, groups, tables, deletions.

Inputs ``a`` and ``b`` have the columns k and v, requests ``q`` have r (their number) and k or v.  Most rules keep
partitions by k apart, some do not: whoever coordinates such a component has to find out.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import clew.bloom
from clew.analysis.blazes.extraction.declared import annotated
from clew.bloom import Bloom


@dataclass(frozen=True)
class Drawn:
    """``inputs`` with their columns; ``tables`` and ``outputs`` are what there is to look at."""

    text: str
    inputs: dict[str, tuple[str, ...]]
    tables: tuple[str, ...]
    outputs: tuple[str, ...]

    def module(self, **declared: Any) -> Any:
        """The class, with these facts about its dataflow."""
        names: dict[str, Any] = {name: getattr(clew.bloom, name) for name in clew.bloom.__all__}
        names |= {"__name__": __name__, "facts": annotated(**declared)}
        exec(compile(self.text, "<drawn>", "exec"), names)
        made: type[Bloom] = names["Drawn"]
        return made


def draw(seed: int, *, tame: float = 0.9) -> Drawn:
    """``tame``: how often a rule keeps partitions apart."""
    return _Drawing(random.Random(seed), tame).program()


class _Drawing:
    def __init__(self, chance: random.Random, tame: float) -> None:
        self._chance = chance
        self._tame = tame

    def program(self) -> Drawn:
        chance = self._chance
        inputs: dict[str, tuple[str, ...]] = {"a": ("k", "v")}
        if chance.random() < 0.6:
            inputs["b"] = ("k", "v")
        if chance.random() < 0.7:
            inputs["q"] = ("r", "k") if chance.random() < 0.7 else ("r", "v")
        declared, tables, rules = [], [], []
        made: list[str] = []
        sources = ["self.a", *(["self.b"] if "b" in inputs else [])]
        if chance.random() < 0.4:  # the rows of a take several steps until they are there
            steps = [f"s{number}" for number in range(chance.randint(1, 3))]
            declared += [f'{name} = {chance.choice(["scratch", "scratch", "table"])}("k", "v")' for name in steps]
            before = ["a", *steps[:-1]]
            rules += [f"self.{name} <+ self.{last}" for name, last in zip(steps, before, strict=True)]
            sources = [f"self.{steps[-1]}"]
        elif inputs.get("q") == ("r", "k"):
            sources.append('self.q(lambda q: (q.k, q.r)).rename("k", "v")')
        for number in range(chance.randint(1, 5)):
            name = f"c{number}"
            kind = chance.choice(["table", "table", "table", "scratch", "scratch", "keyed"])
            schema = '"k", val=["v"]' if kind == "keyed" else '"k", "v"'
            declared.append(f"{name} = {'scratch' if kind == 'scratch' else 'table'}({schema})")
            if kind != "scratch":
                tables.append(name)
            known = [*(f"self.{other}" for other in (*made[-3:], *made[-1:])), *sources]
            for _ in range(1 if chance.random() < 0.75 else 2):
                op = chance.choice(["<=", "<=", "<+"])
                rules.append(f"self.{name} {op} {self._expression(known)}")
            made.append(name)
            if kind != "scratch" and chance.random() < 0.2:
                driver = chance.choice(known)
                rules.append(f'self.{name} <- (self.{name} * {driver}).lefts(k="k")')
        if len(made) > 1 and chance.random() < 0.15:  # back from the end, a step later
            rules.append(f"self.{made[0]} <+ {self._expression([f'self.{made[-1]}'])}")
        outputs = ["out"]
        rules.append(f"self.out <= {self._output(made, inputs)}")
        if chance.random() < 0.3:
            rules.append(f"self.out <= self.{chance.choice(made)}")
        return Drawn(_text(inputs, declared, rules), inputs, tuple(tables), tuple(outputs))

    def _expression(self, known: Sequence[str]) -> str:
        chance = self._chance
        one, other = chance.choice(known), chance.choice(known)
        on = 'k="k"' if chance.random() < self._tame else chance.choice(['v="v"', 'v="k"', 'k="k", v="v"'])
        by = "k" if chance.random() < self._tame else chance.choice(["v", "k"])
        forms = ["copy", "copy", "map", "join", "lefts", "notin", "notin", "group", "extreme", "outer"]
        match chance.choice(forms):
            case "copy":
                return one
            case "map":
                tame = chance.random() < self._tame
                body = chance.choice(["(r.k, r.v)", "(r.k, 7)", "(r.k, r.v) if r.v > 1 else None"])
                return f"{one}(lambda r: {body if tame else '(r.v, r.k)'})"
            case "join":
                return f"({one} * {other}).pairs(lambda x, y: (x.k, y.v), {on})"
            case "lefts":
                return f"({one} * {other}).lefts({on})"
            case "notin":
                return f"{one}.notin({other}, {on})"
            case "group":
                what = chance.choice(["agg.count()", 'agg.min("v")', 'agg.max("v")', 'agg.sum("v")'])
                return f'{one}.group(["{by}"], n={what})'
            case "extreme":
                return f'{one}.{chance.choice(["argmin", "argmax"])}(["{by}"], "v")'
        return f"({one} * {other}).outer(lambda x, y: (x.k, x.v) if y.v == None else None, {on})"

    def _output(self, made: Sequence[str], inputs: dict[str, tuple[str, ...]]) -> str:
        last = f"self.{made[-1]}"
        if self._chance.random() < 0.3:
            last = f'{last}.group(["k"], v=agg.count())'
        asked = inputs.get("q", (None, None))[1]
        if asked is None or self._chance.random() < 0.25:
            return last
        if self._chance.random() < 0.25:
            return f'self.q.notin({last}, {asked}="{asked}")'
        return f'(self.q * {last}).pairs(lambda q, t: (q.r, (t.k, t.v)), {asked}="{asked}")'


def _text(inputs: dict[str, tuple[str, ...]], declared: Sequence[str], rules: Sequence[str]) -> str:
    lines = ["class Drawn(Bloom):", "    blazes = facts", '    out = interface.output("x", "y")']
    lines += [f'    {name} = interface.input("{x}", "{y}")' for name, (x, y) in inputs.items()]
    lines += [f"    {line}" for line in declared]
    lines += ["    @bloom", "    def rules(self):", *(f"        {rule}" for rule in rules)]
    return "\n".join(lines) + "\n"
