"""Random programs that look coordinated: idioms and protocols with rules around them, and mistakes in some."""

from __future__ import annotations

import random

from analysis.calm.drawn_idioms import IDIOMS
from analysis.calm.drawn_mistakes import MISTAKES
from analysis.calm.drawn_programs import Drawn, without_unused
from analysis.calm.drawn_protocols import PROTOCOLS
from analysis.calm.drawn_rules import Draft

_KNOWN = IDIOMS + PROTOCOLS


def drawn(seed: int) -> Drawn:
    """Return the program of a number; not all of them can be read."""
    chance = random.Random(seed)
    draft = Draft(chance)
    _sources(draft)
    for _ in range(chance.choice((0, 0, 0, 1))):
        _rule(draft)
    if chance.random() < 0.85:
        chance.choice(_KNOWN)(draft)
    for _ in range(chance.choice((0, 0, 1))):
        _rule(draft)
    if chance.random() < 0.1:
        chance.choice(_KNOWN)(draft)
    for _ in range(chance.choice((0, 1, 1, 1))):
        draft.derive("o")
    for _ in range(chance.choice((0, 0, 0, 1, 1, 2, 3))):
        chance.choice(MISTAKES)(draft)
    return without_unused(Drawn(tuple(draft.declared), tuple(draft.rules), ()))


def _sources(draft: Draft) -> None:
    """Inputs, channels from outside and from an input, a table that is given."""
    chance = draft.chance
    for _ in range(chance.choice((1, 1, 2))):
        draft.readable.append(draft.new("i"))
    for _ in range(chance.choice((1, 1, 2))):
        channel = draft.new("c")
        sent = chance.random()
        if sent < 0.5:
            draft.write(channel, "<~", draft.read(draft.pick("i")))
        elif sent < 0.6:
            draft.write(channel, "<~", chance.choice((draft.constant(), draft.read(draft.pick("f")))))
        draft.readable.append(channel)
    if chance.random() < 0.3:
        draft.readable.append(draft.new("f"))


def _rule(draft: Draft) -> None:
    chance = draft.chance
    kept = [n for n in draft.readable if n[0] in "tslmnbgq"]
    choice = chance.random()
    if choice < 0.6 or not kept:
        draft.derive(chance.choice("tttttsssscclmnbguhq"))
    elif choice < 0.75:
        draft.write(chance.choice(kept), "<=", draft.expression())
    elif choice < 0.9:
        draft.write(chance.choice(kept), "<+", draft.expression())
    else:
        tables = [n for n in kept if n[0] == "t"]
        if tables:
            draft.rules.append(f"self.{chance.choice(tables)} <- {draft.expression()}")
