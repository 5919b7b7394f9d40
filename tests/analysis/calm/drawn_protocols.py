"""Protocols that an analysis may know: questions and answers, repetition, rounds in which all must answer."""

from __future__ import annotations

from collections.abc import Callable

from analysis.calm.drawn_rules import Draft

_KV = '.rename("k", "v")'


def _again_until_answered(draft: Draft) -> None:
    """A buffer that is sent at every tick, until an answer is there."""
    chance = draft.chance
    given = draft.read(draft.source())
    buffer, data, answer, clock = draft.new("t"), draft.new_request(), draft.new("c"), draft.new("z")
    done = draft.new("s")
    sent = draft.message(data, "r", '"b"')
    back = '"a"' if "src" not in draft.columns(data) else "r.src"
    on = chance.choice(('k="k", v="v"', 'k="k", v="v"', 'k="k"'))
    draft.add(
        f"self.{buffer} <= {given}",
        f"self.{data} <~ {given}(lambda r: {sent})",
        f"self.{data} <~ (self.{buffer} * self.{clock}).lefts()(lambda r: {sent})",
        f"self.{answer} <~ self.{data}(lambda r: {draft.message(answer, 'r', back)})",
        f"self.{done} <= (self.{buffer} * self.{answer}).lefts({on})",
        f"self.{buffer} <- self.{done}",
    )
    draft.readable += [data, done, chance.choice((data, buffer, answer))]


def _owed(draft: Draft) -> None:
    """What is sent as long as no answer is stored."""
    wanted = draft.pick("tf") if draft.chance.random() < 0.2 else draft.new("t")
    if draft.chance.random() < 0.8:
        draft.write(wanted, "<=", draft.read(draft.source()))
    acked, owed, data, answer = draft.new("t"), draft.new("s"), draft.new_request(), draft.new("c")
    back = '"a"' if "src" not in draft.columns(data) else "r.src"
    on = draft.chance.choice(("", "", "", ', k="k"'))
    draft.add(
        f"self.{owed} <= self.{wanted}.notin(self.{acked}{on})",
        f"self.{data} <~ self.{owed}(lambda r: {draft.message(data, 'r', chr(34) + 'b' + chr(34))})",
        f"self.{answer} <~ self.{data}(lambda r: {draft.message(answer, 'r', back)})",
        f"self.{acked} <= {draft.read(answer)}",
    )
    draft.readable += [data, draft.chance.choice((acked, owed, data))]


def _owed_to_members(draft: Draft) -> None:
    """Everyone repeats what it has to those who have not acknowledged it."""
    chance = draft.chance
    log, members = draft.new("t"), draft.pick("p")
    data, answer = (draft.new("e", columns=("dst", "src", "k", "v")) for _ in range(2))
    acked, owed = (draft.new(kind, columns=("peer", "k", "v")) for kind in "rx")
    who = chance.choice(("r.dst", "r.dst", "self.ip_port", "self.ip_port", "r.src"))
    on = chance.choice(("", "", "", ', peer="peer", k="k"', ', k="k", v="v"'))
    rows = f"(self.{owed} * self.{draft.pick('z')}).lefts()" if chance.random() < 0.5 else f"self.{owed}"
    draft.add(
        f"self.{log} <= {draft.read(draft.source())}",
        f"self.{owed} <= (self.{log} * self.{members}).pairs(lambda h, m: (m.peer, h.k, h.v))"
        f".notin(self.{acked}{on})",
        f"self.{data} <~ {rows}(lambda r: (r.peer, self.ip_port, r.k, r.v))",
        f"self.{answer} <~ self.{data}(lambda r: (r.src, {who}, r.k, r.v))",
        f"self.{acked} <= self.{answer}(lambda r: (r.src, r.k, r.v))",
    )
    got = draft.new(chance.choice("tto"))
    draft.add(f"self.{got} <= self.{data}(lambda r: (r.k, r.v))")
    match chance.randrange(12):
        case 0:
            draft.add(f"self.{acked} <= {draft.read(draft.source())}(lambda r: (\"b\", r.k, r.v))")
        case 1:
            draft.add(f"self.{draft.new('o')} <= self.{owed}(lambda r: (r.k, r.v))")
        case 2:
            draft.add(f"self.{answer} <~ {draft.read(draft.source())}(lambda r: (\"a\", \"b\", r.k, r.v))")
        case 3:
            draft.add(f"self.{log} <= {draft.read(got) if got[0] == 't' else draft.read(draft.source())}")
        case 4:
            draft.add(f"self.{acked} <- self.{acked}.filter(lambda r: r.v > 1)")
    if got[0] == "t":
        draft.readable += [got, log]


def _delivery(draft: Draft) -> None:
    """A buffer of messages with keys, that are repeated until each is confirmed, and given out once."""
    chance = draft.chance
    columns = ("dst", "src", "k", "v")
    buffer = draft.new("r", columns=columns, values=chance.choice((0, 1)))
    data = draft.new("e", columns=columns, values=chance.choice((0, 1)))
    answer, known = draft.new("e", columns=("src", "dst", "k")), draft.new("r", columns=("src", "k"))
    given, out = draft.read(draft.source()), draft.new(chance.choice("ot"))
    done, fresh = draft.new("x", columns=columns), draft.new("x", columns=columns)
    on = chance.choice(('dst="src", src="dst", k="k"', 'dst="src", src="dst", k="k"', 'k="k"', 'src="dst", k="k"'))
    once = chance.choice(('src="src", k="k"', 'src="src", k="k"', 'k="k"'))
    rules = [
        f"self.{buffer} <= {given}(lambda r: (\"b\", self.ip_port, r.k, r.v))",
        f"self.{data} <~ {given}(lambda r: (\"b\", self.ip_port, r.k, r.v))",
        f"self.{data} <~ (self.{buffer} * self.{draft.pick('z')}).lefts()",
        f"self.{answer} <~ self.{data}(lambda r: (r.dst, r.src, r.k))",
        f"self.{done} <= (self.{buffer} * self.{answer}).lefts({on})",
        f"self.{buffer} <- self.{done}",
        f"self.{fresh} <= self.{data}.notin(self.{known}, {once})",
        f"self.{known} <+ self.{fresh}(lambda r: (r.src, r.k))",
        f"self.{out} <= self.{chance.choice((fresh, fresh, data, done))}(lambda r: (r.k, r.v))",
    ]
    draft.add(*rules)
    if out[0] == "t":
        draft.readable += [out, out]


def _all_of_them(draft: Draft) -> None:
    """Two counts are compared, of what was asked for and of what was answered."""
    chance = draft.chance
    asked, got = draft.new("t"), draft.new("t")
    data, answer = draft.new("c"), draft.new("c")
    expected, counted, complete = draft.new("s"), draft.new("s"), draft.new("s")
    by = chance.choice(('["k"]', '["k"]', "[]"))
    shown = "(r.k, r.n)" if by != "[]" else "(1, r.n)"
    op = chance.choice(("==", "==", "==", ">=", "<="))
    match = chance.choice(('k="k"', 'k="k"', 'k="k", v="v"'))
    back = '"a"' if "src" not in draft.columns(data) else "r.src"
    draft.add(
        f"self.{asked} <= {draft.read(draft.pick(chance.choice(('i', 'f', 'c'))))}",
        f"self.{data} <~ self.{asked}(lambda r: {draft.message(data, 'r', chr(34) + 'b' + chr(34))})",
        f"self.{answer} <~ self.{data}(lambda r: {draft.message(answer, 'r', back)})",
        f"self.{got} <= {draft.read(answer)}",
        f"self.{expected} <= self.{asked}.group({by}, n=agg.count())(lambda r: {shown})",
        f"self.{counted} <= self.{got}.group({by}, n=agg.count())(lambda r: {shown})",
        f"self.{complete} <= (self.{counted} * self.{expected}).pairs("
        f"lambda x, y: (x.k, 1) if x.v {op} y.v else None, {match})",
    )
    if chance.random() < 0.5:
        total = draft.new("o")
        aggregate = chance.choice(('sum("v")', 'max("v")', "count()"))
        draft.add(
            f'self.{total} <= (self.{got} * self.{complete}).lefts(k="k").group(["k"], v=agg.{aggregate})',
        )
    draft.readable += [complete, complete, got]


def _round(draft: Draft) -> None:
    """Every member is asked and answers; when all have, the answers are added up."""
    chance = draft.chance
    begin = draft.read(draft.pick(chance.choice("iiic")))
    members = draft.pick("p")
    asked, vote = draft.new("e", columns=("dst", "src", "k")), draft.new("e", columns=("dst", "src", "k", "v"))
    votes, present = draft.new("r", columns=("k", "src", "v")), draft.new("r", columns=("k", "src"))
    all_, some, full = draft.new("x", columns=("n",)), draft.new("x", columns=("k", "n")), draft.new("s")
    who = chance.choice(("self.ip_port", "self.ip_port", "r.dst", "r.src"))
    answer = chance.choice(("1", "1", "r.k", "2"))
    counted = chance.choice((present, present, present, votes))
    equal, reached = '.lefts(n="n")(lambda r: (r.k, 1))', ".pairs(lambda x, y: (x.k, 1) if x.n >= y.n else None)"
    test = chance.choice((equal, equal, reached))
    draft.add(
        f"self.{asked} <~ ({begin} * self.{members}).pairs(lambda b, m: (m.peer, self.ip_port, b.k))",
        f"self.{vote} <~ self.{asked}(lambda r: (r.src, {who}, r.k, {answer}))",
        f"self.{votes} <= self.{vote}(lambda r: (r.k, r.src, r.v))",
        f"self.{present} <= self.{chance.choice((votes, votes, vote))}(lambda r: (r.k, r.src))",
        f"self.{all_} <= self.{members}.group([], n=agg.count())",
        f'self.{some} <= self.{counted}.group(["k"], n=agg.count())',
        f"self.{full} <= (self.{some} * self.{all_}){test}",
    )
    if chance.random() < 0.6:
        aggregate = chance.choice(('sum("v")', "count()", 'max("v")'))
        shown = draft.new("o")
        draft.add(f'self.{shown} <= (self.{votes} * self.{full}).lefts(k="k").group(["k"], v=agg.{aggregate})')
    match chance.randrange(14):
        case 0:
            draft.add(f"self.{members} <- {draft.read(draft.pick('i'))}(lambda r: (\"a\",))")
        case 1:
            draft.add(f"self.{members} <= {draft.read(draft.source())}(lambda r: (\"b\",))")
        case 2:
            draft.add(f"self.{votes} <= {draft.read(draft.source())}(lambda r: (r.k, \"b\", r.v))")
        case 3:
            draft.add(f"self.{vote} <~ {draft.read(draft.source())}(lambda r: (\"a\", self.ip_port, r.k, r.v))")
        case 4:
            draft.add(f"self.{votes} <- self.{votes}.filter(lambda r: r.v > 1)")
        case 5:
            draft.add(f"self.{asked} <~ self.{asked}(lambda r: (\"a\", r.src, r.k))")
    draft.readable += [full, full]


def _questions(draft: Draft) -> None:
    """Questions are kept until there is an answer for them."""
    chance = draft.chance
    question, known = draft.new(draft.chance.choice("tts")), draft.new("t")
    reply = draft.new("c")
    spelled = {"k": "x.k", "v": "y.v", "dst": '"b"', "src": "self.ip_port"}
    made = ", ".join(spelled[c] for c in draft.columns(reply))
    column = chance.choice(("k", "k", "v"))
    draft.add(
        f"self.{question} <= {draft.heard()}",
        f"self.{known} <= {draft.heard()}",
        f"self.{reply} <~ (self.{question} * self.{known}).pairs("
        f'lambda x, y: ({made}), {column}="k")',
    )
    draft.readable += [reply]


def _ping_pong(draft: Draft) -> None:
    """Each message is the cause of the next one."""
    ball = draft.new("c")
    start = draft.read(draft.source())
    following = {"k": "r.k", "v": "r.v + 1", "dst": '"b"', "src": "self.ip_port"}
    made = ", ".join(following[c] for c in draft.columns(ball))
    draft.add(
        f"self.{ball} <~ {start}(lambda r: {draft.message(ball, 'r', chr(34) + 'b' + chr(34))})",
        f"self.{ball} <~ self.{ball}(lambda r: ({made}) if r.v < 4 else None)",
    )
    draft.readable += [ball, ball]


def _sealed(draft: Draft) -> None:
    """A count that arrives says how many rows there are; what is counted is shown when they are."""
    chance = draft.chance
    kept, seals, counted, complete = draft.new("t"), draft.new("t"), draft.new("s"), draft.new("s")
    on = chance.choice(('k="k", v="v"', 'k="k"'))
    draft.add(
        f"self.{kept} <= {draft.read(draft.pick('c'))}",
        f"self.{seals} <= {draft.read(draft.new('c'))}",
        f'self.{counted} <= self.{kept}.group(["k"], v=agg.count())',
        f"self.{complete} <= (self.{counted} * self.{seals}).lefts({on})",
    )
    draft.readable += [complete, complete]


#: Some come more often: those in which more can go wrong.
PROTOCOLS: tuple[Callable[[Draft], None], ...] = (
    _again_until_answered,
    _again_until_answered,
    _owed,
    _owed_to_members,
    _owed_to_members,
    _delivery,
    _delivery,
    _all_of_them,
    _round,
    _round,
    _ping_pong,
    _questions,
    _sealed,
)
