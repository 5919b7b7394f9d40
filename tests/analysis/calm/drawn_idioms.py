"""Idioms within a node that an analysis may know: what keeps rows, what waits for others, what counts."""

from __future__ import annotations

from collections.abc import Callable

from analysis.calm.drawn_rules import Draft

_KV = '.rename("k", "v")'


def _first_time(draft: Draft) -> None:
    known, fresh = draft.new("t"), draft.new("s")
    on = draft.chance.choice(("", "", "", ', k="k"', ', k="k", v="v"'))
    draft.add(f"self.{fresh} <= {draft.heard()}.notin(self.{known}{on})", f"self.{known} <+ self.{fresh}")
    draft.readable += [fresh, fresh, known]


def _quorum(draft: Draft) -> None:
    """Votes are counted up to a bound."""
    chance = draft.chance
    votes = draft.heard()
    shown = chance.choice((f"rows([(1, 1)]){_KV}", draft.read(draft.source())))
    if chance.random() < 0.5:
        held = draft.new(chance.choice("llmuh"))
        of = {"l": ".size()", "m": "", "u": ".sum()", "h": ".size()"}[held[0]]
        draft.write(held, "<=", votes)
        won = draft.new(chance.choice("tso"))
        test = chance.choice(("gt_eq", "gt_eq", "gt", "lt"))
        draft.add(f"self.{won} <= self.{held}{of}.{test}({chance.choice((1, 2, 2, 3))}).when_true({shown})")
    else:
        held, counted, won = draft.new(chance.choice("tts")), draft.new("s"), draft.new(chance.choice("tso"))
        draft.write(held, "<=", votes)
        op, bound = chance.choice((">=", ">", ">=", "==")), chance.choice((1, 2, 2, 3))
        aggregate = chance.choice(("count()", "count()", 'max("v")', 'sum("v")', 'min("v")'))
        draft.add(
            f'self.{counted} <= self.{held}.group(["k"], n=agg.{aggregate}){_KV}',
            f"self.{won} <= self.{counted}(lambda r: (r.k, r.k) if r.v {op} {bound} else None)",
        )
    if won[0] != "o":
        draft.readable.append(won)


def _closure(draft: Draft) -> None:
    """Paths over links, in a channel, a table or a message by message."""
    chance = draft.chance
    link = draft.pick(chance.choice(("c", "c", "i", "t")))
    path = draft.new(chance.choice("tttsl" if chance.random() < 0.2 else "ttts"))
    if path[0] == "l":
        path = draft.new("t")
    step = chance.choice(("<=", "<=", "<=", "<+"))
    left = chance.choice((f"self.{link}", f"self.{path}"))
    draft.add(
        f"self.{path} <= {draft.read(link)}",
        f'self.{path} {step} ({left} * self.{path}).pairs(lambda x, y: (x.k, y.v), v="k")',
    )
    if chance.random() < 0.3:
        other = draft.new("c")
        draft.add(f"self.{other} <~ self.{path}(lambda r: {draft.message(other, 'r', chr(34) + 'b' + chr(34))})")
        draft.add(f"self.{path} <= {draft.read(other)}")
    draft.readable += [path, path]


def _scratch_storage(draft: Draft) -> None:
    """A scratch that hands its rows on to the next step: all of them, or some."""
    kept = draft.new("s")
    draft.add(f"self.{kept} {draft.chance.choice(('<=', '<=', '<+'))} {draft.heard()}")
    again = f"self.{kept}"
    match draft.chance.randrange(8):
        case 0:
            again = draft.changed(again)
        case 1:
            again += f".notin({draft.heard()})"
        case 2:
            again = f'({again} * {draft.heard()}).lefts(k="k")'
    draft.add(f"self.{kept} <+ {again}")
    draft.readable += [kept, kept]


def _same_message(draft: Draft) -> None:
    """Two things are made of the same messages, and meet again."""
    chance = draft.chance
    source = draft.source() if chance.random() < 0.3 else draft.pick("c")
    one, other = draft.new(chance.choice("ssst")), draft.new(chance.choice("ssstc"))
    draft.write(one, chance.choice(("<=", "<=", "<=", "<+")), draft.changed(draft.read(source)))
    draft.write(other, chance.choice(("<=", "<=", "<=", "<+")), draft.changed(draft.read(source)))
    found = draft.new(chance.choice("sto"))
    draft.add(f"self.{found} <= {draft.join_of(*chance.choice(((one, other), (one, source), (source, other))))}")
    if found[0] != "o":
        draft.readable += [found]


def _own_row(draft: Draft) -> None:
    """What arrives is looked for in what was stored of it."""
    chance = draft.chance
    source, kept = draft.pick(chance.choice(("c", "c", "i"))), draft.new("t")
    draft.add(f"self.{kept} {chance.choice(('<=', '<+'))} {draft.read(source)}")
    on = chance.choice(('k="k", v="v"', 'k="k", v="v"', 'k="k"', 'v="v"'))
    made = chance.choice((f".lefts({on})", f".rights({on})", f".pairs(lambda x, y: (x.k, y.v), {on}){_KV}"))
    found = draft.new(chance.choice("sto"))
    rows = draft.read(source)
    if chance.random() < 0.3:
        draft.add(f"self.{found} <= {rows}.notin(self.{kept})")
    else:
        draft.add(f"self.{found} <= ({rows} * self.{kept}){made}")
    if found[0] != "o":
        draft.readable += [found]


def _repeated(draft: Draft) -> None:
    """What is stored is sent at every tick, or in every step."""
    chance = draft.chance
    kept, data = draft.new("t"), draft.new("c")
    draft.add(f"self.{kept} <= {draft.heard()}")
    rows = f"(self.{kept} * self.{draft.pick('z')}).lefts()" if chance.random() < 0.6 else f"self.{kept}"
    draft.write(data, "<~", rows)
    draft.readable += [data, data]


def _relay(draft: Draft) -> None:
    """The same goes two ways, and meets again."""
    chance = draft.chance
    source = draft.read(draft.pick(chance.choice("ci")))
    one, other = draft.new("c"), draft.new("c")
    draft.write(one, "<~", source)
    draft.write(other, "<~", draft.read(one) if chance.random() < 0.5 else source)
    found = draft.new(chance.choice("sto"))
    draft.add(f"self.{found} <= {draft.join_of(one, other)}")
    if found[0] != "o":
        draft.readable += [found]


def _causal(draft: Draft) -> None:
    """A message is sent because of a row, and looks for that row where it arrives."""
    chance = draft.chance
    source = draft.read(draft.pick(chance.choice("cci")))
    kept, data, found = draft.new(chance.choice("ttts")), draft.new("c"), draft.new(chance.choice("sto"))
    draft.add(f"self.{kept} {chance.choice(('<=', '<=', '<+'))} {source}")
    draft.write(data, "<~", chance.choice((source, f"self.{kept}")))
    on = chance.choice(('k="k", v="v"', 'k="k", v="v"', 'k="k"'))
    rows = draft.read(data)
    draft.add(
        chance.choice(
            (
                f"self.{found} <= ({rows} * self.{kept}).lefts({on})",
                f"self.{found} <= ({rows} * self.{kept}).rights({on})",
                f"self.{found} <= {rows}.notin(self.{kept})",
                f"self.{found} <= self.{kept}.notin({rows})",
                f"self.{found} <= ({rows} * self.{kept}).outer(lambda x, y: (x.k, y.v), {on}){_KV}",
            )
        ),
    )
    if found[0] != "o":
        draft.readable += [found]


def _majority(draft: Draft) -> None:
    """A count is compared with another one in a direction."""
    chance = draft.chance
    votes, members, won = draft.new("t"), draft.pick("ft"), draft.new(chance.choice("st"))
    draft.add(f"self.{votes} <= {draft.heard()}")
    one, other = draft.new("s"), draft.new("s")
    aggregate = chance.choice(("count()", "count()", "count()", 'sum("v")', 'max("v")'))
    op = chance.choice((">", ">=", "<", "=="))
    factor = chance.choice(("", " * 2"))
    draft.add(
        f'self.{one} <= self.{votes}.group(["k"], n=agg.{aggregate}){_KV}',
        f"self.{other} <= self.{members}.group([], n=agg.count())(lambda r: (1, r.n)){_KV}",
        f"self.{won} <= (self.{one} * self.{other}).pairs("
        f"lambda x, y: (x.k, 1) if x.v{factor} {op} y.v else None)",
    )
    draft.readable += [won]


def _known_before(draft: Draft) -> None:
    """Something is remembered for the next step, and joined with what arrives."""
    message = draft.pick("c")
    known = draft.new(draft.chance.choice("tts"))
    found = draft.new("s")
    op = draft.chance.choice(("<+", "<+", "<="))
    source = draft.read(draft.chance.choice((message, draft.source())))
    draft.add(f"self.{known} {op} {source}", f"self.{found} <= {draft.join_of(message, known)}")
    draft.readable += [found, known]


def _flag(draft: Draft) -> None:
    """Constants that are there from the first step, or from the second."""
    flag = draft.new(draft.chance.choice("tttslm"))
    op = draft.chance.choice(("<=", "<+", "<+"))
    if flag[0] in "lm":
        test = ".size().gt_eq(1)" if flag[0] == "l" else ".gt_eq(1)"
        draft.add(f"self.{flag} {op} rows([(1,)])")
        found = draft.new("s")
        draft.add(f"self.{found} <= self.{flag}{test}.when_true({draft.read(draft.source())})")
        draft.readable.append(found)
        return
    draft.add(f"self.{flag} {op} rows([(1, 1), (2, 2)])")
    found = draft.new("s")
    draft.add(f"self.{found} <= {draft.join_of(draft.source(), flag)}")
    draft.readable += [found]


def _in_place(draft: Draft) -> None:
    """A store that is overwritten."""
    put, store = draft.source(), draft.new("t", values=1)
    draft.add(
        f"self.{store} <+ {draft.read(put)}",
        f'self.{store} <- (self.{store} * {draft.read(put)}).lefts(k="k")',
    )
    draft.readable += [store]


def _two_stored(draft: Draft) -> None:
    """What two channels bring is kept, and joined."""
    chance = draft.chance
    one, other = draft.new(draft.chance.choice("ttts")), draft.new("t")
    draft.add(
        f"self.{one} {chance.choice(('<=', '<=', '<+'))} {draft.heard()}",
        f"self.{other} {chance.choice(('<=', '<=', '<+'))} {draft.heard()}",
    )
    found = draft.new(draft.chance.choice("sto"))
    draft.add(f"self.{found} <= {draft.join_of(one, other)}")
    if found[0] != "o":
        draft.readable += [found]


def _queue(draft: Draft) -> None:
    """A queue through a loopback, or a step later."""
    queue, kept = draft.new(draft.chance.choice("qs")), draft.new("t")
    op = "<~" if queue[0] == "q" else "<+"
    draft.add(f"self.{queue} {op} {draft.heard()}", f"self.{kept} <= self.{queue}")
    if draft.chance.random() < 0.5:
        draft.add(f"self.{queue} {op} self.{queue}(lambda r: (r.k, r.v + 1) if r.v < 3 else None)")
    draft.readable += [queue, kept]


def _lattices(draft: Draft) -> None:
    """One lattice from another."""
    chance = draft.chance
    held = draft.new(chance.choice("llguhmn"))
    draft.write(held, "<=", draft.heard())
    derived: dict[str, tuple[str, ...]] = {
        "l": ("m: self.{0}.size()", "b: self.{0}.size().gt_eq(2)", "b: self.{0}.contains(1)", "l: self.{0}"),
        "g": ("m: self.{0}.at(1)", "l: self.{0}.key_set()", "m: self.{0}.size()", "b: self.{0}.at(1).gt(1)"),
        "u": ("m: self.{0}.sum()", "m: self.{0}.size()", "b: self.{0}.sum().gt_eq(3)"),
        "h": ("m: self.{0}.size()", "l: self.{0}.element_set()", "m: self.{0}.multiplicity(1)"),
        "m": ("b: self.{0}.gt_eq(2)", "m: self.{0}.plus(1)", "b: self.{0}.lt(2)"),
        "n": ("b: self.{0}.lt_eq(1)", "b: self.{0}.gt(1)", "n: self.{0}.minus(1)"),
    }
    kind, _, text = chance.choice(derived[held[0]]).partition(": ")
    other = draft.new(kind)
    draft.add(f"self.{other} {chance.choice(('<=', '<=', '<+'))} {text.format(held)}")
    if chance.random() < 0.2 and held[0] == "l":
        sets = draft.of_kinds("l")
        draft.add(f"self.{draft.new('l')} <= self.{chance.choice(sets)}.without(self.{chance.choice(sets)})")
    found = draft.new("s")
    draft.add(f"self.{found} <= {draft.lattice()}")
    draft.readable += [found, held, other]


def _smallest(draft: Draft) -> None:
    """The first in some order, of what is stored, perhaps when all of it is there."""
    kept, best = draft.new("t"), draft.new("s")
    keys = draft.chance.choice(('["k"]', "[]"))
    draft.add(
        f"self.{kept} <= {draft.heard()}",
        f'self.{best} <= self.{kept}.{draft.chance.choice(("argmin", "argmax"))}({keys}, "v")',
    )
    if draft.chance.random() < 0.4:
        draft.add(f"self.{kept} <- self.{best}")
    draft.readable += [best, best]


#: Some come more often: those in which more can go wrong.
IDIOMS: tuple[Callable[[Draft], None], ...] = (
    _first_time,
    _first_time,
    _quorum,
    _quorum,
    _closure,
    _scratch_storage,
    _scratch_storage,
    _same_message,
    _same_message,
    _own_row,
    _own_row,
    _repeated,
    _relay,
    _causal,
    _causal,
    _majority,
    _known_before,
    _known_before,
    _flag,
    _in_place,
    _two_stored,
    _queue,
    _lattices,
    _smallest,
)
