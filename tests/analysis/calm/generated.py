"""Small random Bloom programs, as text, with rows that are given to them.

All collections have the columns ``k`` and ``v``, all of them keys, so that no two rows are ever in conflict;
channels have an address in front.  A rule that takes effect at once reads only what was declared before its
target, so that there are no cycles within a step; the other operators read anything.

Two things that the analysis takes for granted are kept up (``docs/calm.md``).  In a *settled* program everything
local is over before the first message arrives; in the others no table is filled from an input without a channel.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from clew.analysis.calm.trying.workloads import Input

NODES = ("a", "b")
#: The steps in which rows are given; local rules of a settled program need some more.
LAST_STEP = 3
_HEAD = (
    "from clew.bloom import Bloom, agg, bloom, channel, interface, lmax, lset, periodic, rows, scratch, table",
    "",
    "",
    "class Generated(Bloom):",
)
_DECLARED = {
    "i": 'interface.input("k", "v")',
    "c": 'channel("@dst", "k", "v")',
    "t": 'table("k", "v")',
    "s": 'scratch("k", "v")',
    "o": 'interface.output("k", "v")',
    "l": "lset()",
    "m": "lmax()",
    "f": 'table("k", "v")',
    "p": 'table("peer")',
    "z": "periodic(1)",
}


@dataclass(frozen=True)
class Generated:
    """``declared`` are names: the first letter says what it is (see ``_DECLARED``)."""

    declared: tuple[str, ...]
    rules: tuple[str, ...]
    inputs: tuple[Input, ...]
    settled: bool

    @property
    def text(self) -> str:
        lines = [f"    {name} = {_DECLARED[name[0]]}" for name in self.declared]
        rules = [f"        {rule}" for rule in self.rules or ("pass",)]
        return "\n".join((*_HEAD, *lines, "", "    @bloom", "    def rules(self) -> None:", *rules, ""))


def generated(seed: int) -> Generated:
    return _Generator(random.Random(seed)).program()


class _Generator:
    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._settled = chance.random() < 0.5
        self._declared: list[str] = ["p0", "f0", "i0", "i1", "c0", "c1"]
        self._rules: list[str] = []
        self._clock = self._new("z") if chance.random() < 0.2 else None
        #: What a rule may read that takes effect at once, in a program that is not settled: no inputs.
        self._readable = ["f0", "c0", "c1", *(["i0", "i1"] if self._settled else [])]

    def program(self) -> Generated:
        for name in ("c0", "c1"):
            if self._chance.random() < 0.8:
                self._send(name, ["i0", "i1"])
        for _ in range(self._chance.randint(1, 5)):
            self._one_of((self._collection, 8), (self._first_time, 1), (self._buffer, 1), (self._counting, 1))
        for _ in range(self._chance.choice((0, 0, 1, 2))):
            self._one_of((self._more, 3), (self._later, 2), (self._deletion, 1), (self._relay, 2))
        for _ in range(self._chance.randint(1, 2)):
            self._derive("o")
        return Generated(tuple(self._declared), tuple(self._rules), tuple(self._inputs()), self._settled)

    def _one_of(self, *choices: tuple[Callable[[], None], int]) -> None:
        (chosen,) = self._chance.choices([c for c, _ in choices], [weight for _, weight in choices])
        chosen()

    def _new(self, letter: str) -> str:
        name = f"{letter}{sum(n[0] == letter for n in self._declared)}"
        self._declared.append(name)
        return name

    def _inputs(self) -> list[Input]:
        sent_to = [n for n in self._declared if n[0] == "c" and not any(f"self.{n} <~" in r for r in self._rules)]
        found = [Input(node, "p0", (peer,)) for node in NODES for peer in NODES]
        rows = [(k, v) for k in (1, 2) for v in (1, 2, 3)]
        found += [Input(node, "f0", row) for row in self._chance.sample(rows, 2) for node in NODES]
        for _ in range(self._chance.randint(3, 6)):
            node, row = self._chance.choice(NODES), self._chance.choice(rows)
            into = self._chance.choice(["i0", "i1", *sent_to])
            step = self._chance.randint(1, LAST_STEP)
            found.append(Input(node, into, (node, *row) if into[0] == "c" else row, step))
        return found

    # -- rules ---------------------------------------------------------------------------------------------------

    def _collection(self) -> None:
        self._derive(self._chance.choice("tttsssclm"))

    def _derive(self, letter: str) -> None:
        """A new collection, and a rule or two for it."""
        expressions = [self._expression(self._readable) for _ in range(self._chance.choice((1, 1, 1, 2)))]
        name = self._new(letter)
        for expression in expressions:
            self._rule(name, "<=", expression)
        if letter != "o":
            self._readable.append(name)

    def _rule(self, target: str, op: str, expression: str) -> None:
        match target[0]:
            case "c":
                to = self._chance.choice(('"a"', '"b"', "self.ip_port"))
                self._rules.append(f"self.{target} <~ {expression}(lambda r: ({to}, r.k, r.v))")
            case "l" | "m":
                self._rules.append(f'self.{target} {op} {expression}.project("v")')
            case _:
                self._rules.append(f"self.{target} {op} {expression}")

    def _send(self, channel: str, sources: Sequence[str]) -> None:
        source = self._read(self._chance.choice(sources))
        if self._chance.random() < 0.4:
            self._rules.append(
                f"self.{channel} <~ ({source} * self.p0).pairs(lambda x, p: (p.peer, x.k, x.v))"
            )
        else:
            self._rule(channel, "<~", source)

    def _stored(self, letters: str) -> list[str]:
        return [n for n in self._declared if n[0] in letters and n in self._readable]

    def _more(self) -> None:
        """One more rule for something; it reads what comes before."""
        names = self._stored("tslm")
        if names:
            target = self._chance.choice(names)
            self._rule(target, "<=", self._expression(self._readable[: self._readable.index(target)]))

    def _later(self) -> None:
        names = self._stored("ts")
        if names:
            self._rule(self._chance.choice(names), "<+", self._expression(self._readable))

    def _deletion(self) -> None:
        names = self._stored("t")
        if names:
            by = self._chance.choice((self._expression(self._readable), "rows([(1, 1), (1, 2)])"))
            self._rule(self._chance.choice(names), "<-", by)

    def _relay(self) -> None:
        self._send(self._chance.choice(("c0", "c1")), self._stored("cts") or ["c0"])

    # -- idioms --------------------------------------------------------------------------------------------------

    def _first_time(self) -> None:
        heard = self._expression(self._readable)
        known, fresh = self._new("t"), self._new("s")
        on = self._chance.choice(("", "", ', k="k"'))
        self._rules.append(f"self.{fresh} <= {heard}.notin(self.{known}{on})")
        self._rules.append(f"self.{known} <+ self.{fresh}")
        if self._chance.random() < 0.2:
            self._rules.append(f"self.{known} <+ {self._expression(self._readable)}")
        self._readable += [fresh] if self._chance.random() < 0.7 else [known, fresh]

    def _buffer(self) -> None:
        """Something is sent again until it is answered."""
        given = self._chance.choice(["i0", "i1", *self._stored("sc")])
        buffer, data, answer, timer = self._new("t"), self._new("c"), self._new("c"), self._new("z")
        done = self._new("s")
        again = f"(self.{buffer} * self.{timer}).lefts()"
        rules = [
            f"self.{buffer} <= {self._read(given)}",
            f'self.{data} <~ {self._read(given)}(lambda r: ("b", r.k, r.v))',
            f'self.{data} <~ {again}(lambda r: ("b", r.k, r.v))',
            f'self.{answer} <~ self.{data}(lambda r: ("a", r.k, r.v))',
            f"self.{done} <= (self.{buffer} * self.{answer}).lefts({self._equal()})",
            f"self.{buffer} <- self.{done}",
        ]
        left_out = self._chance.choice((None, None, 1, 2, 3))
        self._rules += [rule for k, rule in enumerate(rules) if k != left_out]
        self._readable += [data, done, *([buffer] if self._chance.random() < 0.3 else [])]

    def _counting(self) -> None:
        """Counts of stored rows in a scratch, to be compared with something."""
        kept, counted = self._new("t"), self._new("s")
        self._rules.append(f"self.{kept} <= {self._expression(self._readable)}")
        self._rules.append(f"self.{counted} <= self.{kept}.group({self._keys_and_aggregate()})")
        self._rules.append(self._compared(self._new("s"), counted))
        self._readable += [kept, self._declared[-1]]

    def _compared(self, target: str, counted: str) -> str:
        op = self._chance.choice((">", ">=", ">=", "<", "<=", "=="))
        if self._chance.random() < 0.5:
            test = f"r.v {op} {self._chance.choice(('2', 'r.k', '1'))}"
            return f"self.{target} <= self.{counted}(lambda r: (r.k, r.k) if {test} else None)"
        other = self._read(self._chance.choice(self._readable))
        return (
            f"self.{target} <= (self.{counted} * {other}).pairs("
            f"lambda x, y: (x.k, y.k) if x.v {op} y.v else None)"
        )

    # -- expressions ---------------------------------------------------------------------------------------------

    def _read(self, name: str) -> str:
        """The rows of a collection with the columns k and v."""
        match name[0]:
            case "c":
                return f"self.{name}.payloads()"
            case "l" | "m":
                return f'self.{name}.elements("v")(lambda r: (r.v, r.v)).rename("k", "v")'
        return f"self.{name}"

    def _equal(self) -> str:
        return self._chance.choice(('k="k"', 'v="v"', 'v="k"', 'k="k", v="v"', 'k="k", v="v"'))

    def _keys_and_aggregate(self) -> str:
        function = self._chance.choice(("count()",) * 4 + ('max("v")', 'min("v")', 'sum("v")', 'count("v")'))
        return f'["k"], v=agg.{function}'

    def _expression(self, names: Sequence[str]) -> str:
        first, second = (self._read(self._chance.choice(names)) for _ in range(2))
        recent = self._read(self._chance.choice(names[-2:]))
        makers = (self._simple, self._joined, self._joined, self._grouped, self._absent, self._lattice)
        made = self._chance.choice(makers)(recent if self._chance.random() < 0.6 else first, second)
        return made if self._chance.random() < 0.8 else self._simple(made, second)

    def _simple(self, one: str, _: str) -> str:
        if self._clock and self._chance.random() < 0.4:
            return f"({one} * self.{self._clock}).lefts()"
        return self._chance.choice(
            (
                one,
                one,
                f"{one}.filter(lambda r: r.k > 1)",
                f'{one}(lambda r: (r.v, r.k)).rename("k", "v")',
                f'{one}(lambda r: (r.k, r.k) if r.v >= 2 else None).rename("k", "v")',
                f'{one}.flat_map(lambda r: [(r.k, r.v), (r.v, r.k)]).rename("k", "v")',
            )
        )

    def _joined(self, one: str, other: str) -> str:
        on = self._equal()
        return self._chance.choice(
            (
                f"({one} * {other}).lefts({on})",
                f"({one} * {other}).rights({on})",
                f'({one} * {other}).pairs(lambda x, y: (x.k, y.v), {on}).rename("k", "v")',
                f'({one} * {other}).pairs(lambda x, y: (x.k, y.v)).rename("k", "v")',
                f'({one} * {other}).outer(lambda x, y: (x.k, y.v), {on}).rename("k", "v")',
            )
        )

    def _absent(self, one: str, other: str) -> str:
        return self._chance.choice((f"{one}.notin({other})", f'{one}.notin({other}, k="k")'))

    def _grouped(self, one: str, _: str) -> str:
        grouped = f"{one}.group({self._keys_and_aggregate()})"
        op = self._chance.choice((">", ">=", ">=", "<", "<=", "=="))
        bound = self._chance.choice(("1", "2", "2", "3", "r.k"))
        return self._chance.choice(
            (
                grouped,
                f'{one}.{self._chance.choice(("argmax", "argmin"))}(["k"], "v")',
                f'{grouped}.project("k", "k").rename("k", "v")',
                f'{grouped}(lambda r: (r.k, r.k) if r.v {op} {bound} else None).rename("k", "v")',
                f'{grouped}(lambda r: (r.k, r.k) if r.v {op} {bound} else None).rename("k", "v")',
                f'{one}.group(["k"], n=agg.max("v"), m=agg.min("v"))'
                f'(lambda r: (r.k, r.k) if r.n {op} {bound} and r.m < 2 else None).rename("k", "v")',
                f'{one}(lambda r: (r.k, r.v > 1)).rename("k", "v").group(["k"], v=agg.bool_or("v"))'
                f'(lambda r: (r.k, r.k) if r.v == True else None).rename("k", "v")',
            )
        )

    def _lattice(self, one: str, other: str) -> str:
        sets, numbers = self._stored("l"), self._stored("m")
        if sets and self._chance.random() < 0.5:
            size = f"self.{self._chance.choice(sets)}.size().gt({self._chance.choice((0, 1, 2))})"
            rows = self._chance.choice((one, 'rows([(1, 1)]).rename("k", "v")'))
            return f"{size}.when_true({rows})"
        if numbers:
            op = self._chance.choice((">", ">=", "<"))
            number = f'self.{self._chance.choice(numbers)}.elements("v")'
            return f'{number}(lambda r: (1, 1) if r.v {op} 2 else None).rename("k", "v")'
        return self._simple(one, other)
