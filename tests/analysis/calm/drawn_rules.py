"""Random rules over collections with the columns k and v, as text."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from analysis.calm.drawn_programs import Declared

_NUMBERS = ("k", "v")
_KV = '.rename("k", "v")'
#: How a lattice compares, and what it needs for that.
_BOUNDS = {
    "l": (".size()", ("gt", "gt_eq", "gt_eq", "lt", "lt_eq")),
    "h": (".size()", ("gt", "gt_eq", "lt")),
    "u": (".sum()", ("gt", "gt_eq", "lt")),
    "m": ("", ("gt", "gt_eq", "lt", "lt_eq")),
    "n": ("", ("lt", "lt_eq", "gt")),
    "g": (".at(1)", ("gt", "gt_eq", "lt")),
}


class Draft:
    """A program that is being written: collections and rules, and a source of chance."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.declared: list[Declared] = []
        self.rules: list[str] = []
        #: What later rules like to read.
        self.readable: list[str] = []
        #: Messages go where the rows are given, so that they meet.
        self._at_one_place = chance.random() < 0.6

    # -- collections ---------------------------------------------------------------------------------------------

    def new(self, kind: str, *, columns: tuple[str, ...] | None = None, values: int = 0) -> str:
        name = f"{kind}{sum(d.kind == kind for d in self.declared)}"
        if columns is None:
            columns = self._channel_columns(0.25) if kind == "c" else ("peer",) if kind == "p" else ("k", "v")
        if not values and kind in "tc" and columns[-1:] != ("dst",) and self.chance.random() < 0.12:
            values = 1
        self.declared.append(Declared(name, columns, values))
        return name

    def new_request(self) -> str:
        """Return a channel, mostly one that says who sent it."""
        return self.new("c", columns=self._channel_columns(0.8))

    def _channel_columns(self, with_sender: float) -> tuple[str, ...]:
        columns = ["k", "v"]
        if self.chance.random() < with_sender:
            columns.append("src")
        columns.insert(self.chance.choice((0, 0, 0, 1, 2)), "dst")
        return tuple(columns)

    def columns(self, name: str) -> tuple[str, ...]:
        return next(d.columns for d in self.declared if d.name == name)

    def of_kinds(self, kinds: str) -> list[str]:
        return [d.name for d in self.declared if d.kind in kinds]

    def pick(self, kinds: str) -> str:
        """Return a collection of these kinds: one that is there, or else a new one."""
        found = self.of_kinds(kinds)
        return self.chance.choice(found) if found else self.new(kinds[0])

    # -- reading -------------------------------------------------------------------------------------------------

    def read(self, name: str) -> str:
        """Return the rows of a collection with the columns k and v."""
        match name[0]:
            case "c":
                columns = [c for c in self.columns(name) if c != "dst"]
                return f"self.{name}.payloads()" if columns == ["k", "v"] else f'self.{name}.project("k", "v")'
            case "l" | "m" | "n" | "u":
                return f'self.{name}.elements("v")(lambda r: (r.v, r.v)){_KV}'
            case "g" | "h":
                return f'self.{name}.elements("k", "v")'
            case "b":
                return f"self.{name}.when_true(rows([(1, 1)]){_KV})"
            case "z":
                return f"self.{name}(lambda r: (1, 1)){_KV}"
            case "p":
                return f"self.{name}(lambda r: (1, 1)){_KV}"
        return f"self.{name}"

    def side(self, name: str) -> tuple[str, tuple[str, ...]]:
        """Return a side of a join and its columns: as it is, or with k and v."""
        if name[0] in "citsofq" and self.chance.random() < 0.7:
            return f"self.{name}", self.columns(name)
        return self.read(name), _NUMBERS

    def source(self) -> str:
        names = self.readable
        return self.chance.choice(names[-3:] if self.chance.random() < 0.7 else names)

    # -- writing -------------------------------------------------------------------------------------------------

    def write(self, target: str, op: str, expression: str) -> None:
        """Add a rule for ``target`` from an expression with k and v."""
        match target[0]:
            case "c":
                self.rules.append(self._sending(target, expression))
            case "l" | "m" | "n" | "u":
                column = self.chance.choice(("v", "v", "k"))
                self.rules.append(f'self.{target} {op} {expression}.project("{column}")')
            case "b":
                self.rules.append(f"self.{target} {op} {expression}(lambda r: (r.v > 1,))")
            case "q":
                self.rules.append(f"self.{target} <~ {expression}")
            case _:
                self.rules.append(f"self.{target} {op} {expression}")

    def add(self, *rules: str) -> None:
        self.rules += rules

    def _sending(self, channel: str, expression: str) -> str:
        if self.chance.random() < 0.25:
            peers = self.pick("p")
            made = self.message(channel, "r", "p.peer")
            return f"self.{channel} <~ ({expression} * self.{peers}).pairs(lambda r, p: {made})"
        to = self.chance.choice(('"a"', "self.ip_port") if self._at_one_place else ('"a"', '"b"', "self.ip_port"))
        return f"self.{channel} <~ {expression}(lambda r: {self.message(channel, 'r', to)})"

    def message(self, channel: str, row: str, to: str) -> str:
        spelled = {"k": f"{row}.k", "v": f"{row}.v", "dst": to, "src": "self.ip_port"}
        return f"({', '.join(spelled[c] for c in self.columns(channel))})"

    def derive(self, kind: str) -> str:
        """Add a collection with a rule or two."""
        expressions = [self.expression() for _ in range(self.chance.choice((1, 1, 1, 2)))]
        name = self.new(kind)
        for expression in expressions:
            self.write(name, self.chance.choice(("<=",) * 6 + ("<+",)), expression)
        if kind not in "o":
            self.readable.append(name)
        return name

    # -- expressions ---------------------------------------------------------------------------------------------

    def expression(self) -> str:
        makers: tuple[tuple[Callable[[], str], int], ...] = (
            (self.simple, 4),
            (self.joined, 5),
            (self.three_joined, 1),
            (self.absent, 3),
            (self.grouped, 4),
            (self.lattice, 3),
            (self.constant, 1),
            (self.at_a_tick, 2),
            (self.looked_up, 1),
        )
        (maker,) = self.chance.choices([m for m, _ in makers], [w for _, w in makers])
        made = maker()
        return made if self.chance.random() < 0.85 else self.changed(made)

    def simple(self) -> str:
        return self.changed(self.read(self.source()))

    def changed(self, one: str) -> str:
        if self.chance.random() < 0.06:
            return one + self.chance.choice(_IMPURE)
        return one + self.chance.choice(
            (
                *[""] * 8,
                ".filter(lambda r: r.k > 1)",
                ".filter(lambda r: r.k <= r.v)",
                f"(lambda r: (r.v, r.k)){_KV}",
                f"(lambda r: (r.k, 1)){_KV}",
                f"(lambda r: (r.k, r.k) if r.v >= 2 else None){_KV}",
                f"(lambda r: (r.k, r.v + 1) if r.v < 3 else None){_KV}",
                f".flat_map(lambda r: [(r.k, r.v), (r.v, r.k)]){_KV}",
                f"(larger){_KV}",
                '.filter(lambda r: self.ip_port == "a")',
                f'.project("k", "k"){_KV}',
            )
        )

    def heard(self) -> str:
        """Return what may come from elsewhere, or anything."""
        return self.chance.choice((self.read(self.source()), self.read(self.pick("c")), self.expression()))

    def equal(self, left: Sequence[str], right: Sequence[str]) -> list[tuple[str, str]]:
        """Return columns to compare: the same, others, addresses only, or none."""
        addresses = [(x, y) for x in left for y in right if {x, y} <= {"dst", "src"}]
        kinds: list[list[tuple[str, str]]] = [
            [("k", "k")],
            [("k", "k")],
            [("v", "v")],
            [("v", "k")],
            [("k", "v")],
            [("k", "k"), ("v", "v")],
            [("k", "k"), ("v", "v")],
            [],
        ]
        kinds += [[pair] for pair in addresses] * 2
        if addresses:
            kinds.append([addresses[0], ("k", "k")])
        return self.chance.choice(kinds)

    @staticmethod
    def spelled(equal: Sequence[tuple[str, str]]) -> str:
        return ", ".join(f'{x}="{y}"' for x, y in equal)

    def joined(self) -> str:
        left, right = self.source(), self.source()
        if self.chance.random() < 0.15:
            right = left
        return self.join_of(left, right)

    def join_of(self, left: str, right: str) -> str:
        (one, its), (other, others) = self.side(left), self.side(right)
        on = self.spelled(self.equal(its, others))
        both = f"({one} * {other})"
        shapes = ["pairs"] * 4 + ["outer"]
        if its == _NUMBERS:
            shapes += ["lefts"] * 2
        if others == _NUMBERS:
            shapes += ["rights"] * 2
        shape = self.chance.choice(shapes)
        if shape in ("lefts", "rights"):
            return f"{both}.{shape}({on})"
        made = self.chance.choice(
            ("(x.k, y.v)", "(x.k, y.v)", "(x.k, y.k)", "(x.v, y.v)", "(x.k, x.v)", "(y.k, y.v)")
        )
        return f"{both}.{shape}(lambda x, y: {made}{', ' + on if on else ''}){_KV}"

    def three_joined(self) -> str:
        names = [n for n in dict.fromkeys(self.readable) if n[0] in "citsf"]
        if len(names) < 3:
            return self.joined()
        x, y, z = self.chance.sample(names, 3)
        first = self.chance.choice((f"self.{x}.k == self.{y}.k", f"self.{x}.v == self.{y}.k"))
        second = self.chance.choice(
            (f"self.{y}.k == self.{z}.k", f"self.{y}.v == self.{z}.k", f"self.{x}.k == self.{z}.v")
        )
        return f"(self.{x} * self.{y} * self.{z}).pairs({first}, {second})(lambda x, y, z: (x.k, z.v)){_KV}"

    def absent(self) -> str:
        left = self.source()
        right = self.chance.choice([name for name in self.readable if name != left] or [left])
        on = self.chance.choice(("", "", "", 'k="k"', 'v="v"', 'v="k"'))
        return f"{self.read(left)}.notin({self.read(right)}{', ' + on if on else ''})"

    def aggregate(self) -> str:
        return self.chance.choice(
            ("count()",) * 5 + ('max("v")',) * 2 + ('min("v")',) * 2 + ('sum("v")', 'count("v")', 'choose("v")')
        )

    def grouped(self) -> str:
        one = self.read(self.source())
        keys = self.chance.choice(('["k"]', '["k"]', "[]"))
        key = "r.k" if keys != "[]" else "1"
        counted = f"{one}.group({keys}, n=agg.{self.aggregate()})"
        op = self.chance.choice((">", ">=", ">=", "<", "<=", "=="))
        bound = self.chance.choice(("1", "2", "2", "3") + (("r.k",) if keys != "[]" else ()))
        shown = self.chance.choice((key, key, key, "r.n"))
        return self.chance.choice(
            (
                f"{counted}(lambda r: ({key}, {shown}) if r.n {op} {bound} else None){_KV}",
                f"{counted}(lambda r: ({key}, {shown}) if r.n {op} {bound} else None){_KV}",
                f"{counted}(lambda r: ({key}, {shown}) if r.n {op} {bound} else None){_KV}",
                f"{counted}(lambda r: ({key}, r.n)){_KV}",
                f"{counted}(lambda r: ({key}, {key})){_KV}",
                f'{one}.{self.chance.choice(("argmax", "argmin"))}({keys}, "v")',
                f"{one}(lambda r: (r.k, r.v > 1)){_KV}"
                f'.group(["k"], n=agg.bool_{self.chance.choice(("or", "and"))}("v"))'
                f"(lambda r: (r.k, r.k) if r.n == {self.chance.choice(('True', 'False'))} else None){_KV}",
                f'{one}.group(["k"], n=agg.accum("v"))(lambda r: (r.k, len(r.n))){_KV}',
                f"{one}.reduce([(1, 0)], lambda memo, r: [(1, memo[0][1] + r.v)], ['k', 'v'])",
                f'{one}.group(["k"], n=agg.max("v"), m=agg.min("v"))'
                f"(lambda r: (r.k, r.k) if r.n {op} 2 and r.m < 2 else None){_KV}",
            )
        )

    def lattice(self) -> str:
        names = self.of_kinds("lmnbguh")
        if not names:
            return self.grouped()
        name = self.chance.choice(names)
        rows = self.chance.choice((self.read(self.source()), f"rows([(1, 1)]){_KV}"))
        if name[0] == "b":
            function = self.chance.choice(("", "", "", ".negated()"))
            return f"self.{name}{function}.when_true({rows})"
        if self.chance.random() < 0.25:
            return self.read(name)
        if name[0] in "lu" and self.chance.random() < 0.3:
            return f"self.{name}.contains({self.chance.choice((1, 2))}).when_true({rows})"
        of, tests = _BOUNDS[name[0]]
        return f"self.{name}{of}.{self.chance.choice(tests)}({self.chance.choice((1, 2, 2, 3))}).when_true({rows})"

    def constant(self) -> str:
        return f"rows([{', '.join(self.chance.sample(['(1, 1)', '(2, 1)', '(2, 3)'], 2))}]){_KV}"

    def at_a_tick(self) -> str:
        clock = self.pick("z")
        one, its = self.side(self.source())
        if its == _NUMBERS and self.chance.random() < 0.7:
            return f"({one} * self.{clock}).lefts()"
        made = self.chance.choice(("(x.k, x.v)", "(x.k, x.v)", "(x.k, z.key)", "(x.k, z.val)"))
        return f"({one} * self.{clock}).pairs(lambda x, z: {made}){_KV}"

    def looked_up(self) -> str:
        names = self.of_kinds("tsi")
        if not names:
            return self.simple()
        name, one = self.chance.choice(names), self.read(self.source())
        test = self.chance.choice(
            (f"(r.k, r.v) in self.{name}", f"(r.k, r.v) not in self.{name}", f"len(self.{name}) > 1")
        )
        return f"{one}(lambda r: (r.k, r.v) if {test} else None){_KV}"


_IMPURE = (
    f"(lambda r: (r.k, random.random())){_KV}",
    f"(lambda r: (r.k, random.randint(1, 9))){_KV}",
    ".filter(lambda r: random.random() < 0.5)",
    f"(lambda r: (r.k, time.time())){_KV}",
    f"(lambda r: (r.k, next(ticket))){_KV}",
    f"(numbered){_KV}",
    f"(through){_KV}",
    f"(summed){_KV}",
    f"(counter){_KV}",
    f"(counter.method){_KV}",
    f"(functools.partial(Counter.method, counter)){_KV}",
    f"(lambda r: (r.k, dice.random())){_KV}",
    f"(lambda r: (r.k, next(letters))){_KV}",
    f"(lambda r: (r.k, datetime.datetime.now().microsecond)){_KV}",
    f"(lambda r, kept=[]: (r.k, len(kept), kept.append(1))[:2]){_KV}",
    ".filter(lambda r: dice.random() < 0.5)",
    f".flat_map(lambda r: [(r.k, n) for n in range(random.randint(1, 3))]){_KV}",
    f"(remembered){_KV}",
    f"(lambda r: (r.k, str(uuid.uuid4()))){_KV}",
    f"(lambda r: (r.k, os.urandom(2))){_KV}",
)
