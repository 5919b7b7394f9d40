"""Several promises of a Bloom class: the same relations, the same answers, and what is refused or warned about."""

from __future__ import annotations

from typing import Any

import pytest

import clew
from clew.bloom import Bloom, bloom, channel, checked, outcome, scratch, table
from clew.errors import ProgramError


class Locks(Bloom):
    """A server that grants its lock to whoever asks, one at a time as long as nobody asks late."""

    setting = checked(
        nodes=["a", "b", "s"],
        eot=4,
        eff=2,
        crashes=0,
        given={"a": {"want": [("s",)]}, "b": {"want": [("s",)]}},
    )
    want = table("server")
    ask = channel("@server", "client")
    grant = channel("@client", "server")
    holds = table("server")
    never = scratch("one", "other")
    pre_served = scratch("server")
    post_served = scratch("server")

    @bloom
    def protocol(self) -> None:
        self.ask <~ self.want(lambda w: (w.server, self.ip_port))
        self.grant <~ self.ask(lambda a: (a.client, a.server) if a.client == "a" else None)
        self.holds <= self.grant(lambda g: (g.server,))

    @outcome
    def promises(self) -> None:
        holds, want = self.everywhere.holds, self.everywhere.want
        both = (holds * holds).pairs(lambda x, y: (x.node, y.node) if x.node < y.node else None, server="server")
        self.never <= both
        self.pre_served <= want(lambda w: (w.server,))
        self.post_served <= holds(lambda h: (h.server,))


class Careless(Locks):
    """It grants it to everybody."""

    @bloom
    def more(self) -> None:
        self.grant <~ self.ask(lambda a: (a.client, a.server))


@pytest.mark.parametrize("strategy", ["exact", "lineage"])
def test_promises_of_a_class(strategy: str) -> None:
    safe = clew.check(Locks, strategy=strategy)
    assert [(a.assertion.title, a.standing.value) for a in safe.promises] == [
        ("never stays empty", "certified"),
        ("pre_served implies post_served", "certified"),
    ]
    broken = clew.check(Careless, strategy=strategy)
    assert str(broken.counterexamples[0].faults) == "no fault"
    assert [str(v) for v in broken.counterexamples[0].violations] == ["never(a, b) at time 3"]


def test_what_is_wrong_must_be_a_scratch() -> None:
    class Kept(Locks):
        never_x = table("one", "other")

    with pytest.raises(ProgramError, match="'never_x' is a table, and keeps or carries rows") as caught:
        clew.check(Kept)
    assert "declare it with scratch()" in (caught.value.remedy or "")


def test_promises_that_no_rule_derives_are_warned_about() -> None:
    class Forgotten(Locks):
        never_x = scratch("one")
        pre_y = scratch("one")
        post_y = scratch("one")

    told = [notice.message for notice in clew.check(Forgotten).notices if "no rule derives" in notice.message]
    names = ("never_x", "pre_y", "post_y")
    assert told == [f"no rule derives '{name}': nothing is promised by it" for name in names]


def test_half_of_a_pair_is_refused() -> None:
    class Half(Locks):
        pre_half = scratch("server")

        @outcome
        def half(self: Any) -> None:
            self.pre_half <= self.everywhere.want(lambda w: (w.server,))

    with pytest.raises(ProgramError, match="the program defines 'pre_half' but not 'post_half'"):
        clew.check(Half)
