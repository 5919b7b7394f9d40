"""Checking Bloom programs: the examples with every strategy, settings and outcomes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import clew
from clew.bloom.language.declarations import bloom, channel, outcome, scratch, table
from clew.bloom.language.module import Module, program_of
from clew.bloom.language.setting import EVERY, checked
from command import ROOT
from command import clew as command

BROADCAST = "examples/bloom/broadcast.py"

#: The class, the Dedalus program that it mirrors, the answer and the number of faults.
MIRRORED = [
    ("Simple", "simple-deliv", "counterexample", 1),
    ("Retry", "retry-deliv", "counterexample", 2),
    ("Redundant", "redun-deliv", "certified", 0),
    ("Acknowledged", "ack-deliv", "certified", 0),
]


def answer(source: Any, **options: Any) -> tuple[str, int]:
    verdict = clew.check(source, **options)
    faults = len(verdict.counterexamples[0].faults) if verdict.counterexamples else 0
    return verdict.answer.value, faults


def program(**body: Any) -> type[Module]:
    """A class made of these declarations and functions."""
    made = type("Made", (Module,), body)
    for name, value in body.items():
        if hasattr(value, "__set_name__"):
            value.__set_name__(made, name)
    return made


# -- the examples ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "dedalus", "expected", "faults"), MIRRORED)
@pytest.mark.parametrize("strategy", ["exact", "lineage"])
def test_the_verdict_is_that_of_the_dedalus_program(
    name: str, dedalus: str, expected: str, faults: int, strategy: str
) -> None:
    assert answer(ROOT / f"{BROADCAST}:{name}", strategy=strategy) == (expected, faults)
    assert answer(ROOT / f"examples/{dedalus}.ded", strategy=strategy) == (expected, faults)


@pytest.mark.parametrize(("name", "dedalus", "expected", "faults"), MIRRORED)
def test_trying_all_faults_gives_the_same(name: str, dedalus: str, expected: str, faults: int) -> None:
    bounds: dict[str, Any] = {"eot": 4, "eff": 2, "strategy": "exhaustive"}
    assert answer(ROOT / f"{BROADCAST}:{name}", **bounds) == (expected, faults)
    assert answer(ROOT / f"examples/{dedalus}.ded", **bounds) == (expected, faults)


@pytest.mark.parametrize(("name", "faults"), [("Simple", 1), ("Retry", 2)])
def test_random_faults_find_it(name: str, faults: int) -> None:
    assert answer(ROOT / f"{BROADCAST}:{name}", strategy="random", max_runs=200, seed=1) == (
        "counterexample",
        faults,
    )


@pytest.mark.parametrize(
    ("name", "expected", "faults"),
    [
        ("BestEffort", "counterexample", 1),
        ("Reliable", "certified", 0),
        ("ReliableOnce", "counterexample", 0),
        ("Once", "certified", 0),
    ],
)
@pytest.mark.parametrize("strategy", ["exact", "lineage"])
def test_the_promises_of_delivery(name: str, expected: str, faults: int, strategy: str) -> None:
    where = f"{ROOT}/examples/bloom/checked_delivery.py:{name}"
    assert answer(where, strategy=strategy) == (expected, faults)


@pytest.mark.parametrize("strategy", ["exact", "lineage"])
def test_a_restart_breaks_a_store_in_memory(strategy: str) -> None:
    found = clew.check(f"{ROOT}/examples/bloom/restarting_store.py:InMemory", strategy=strategy, find_all=True)
    listed = [str(c.faults) for c in found.counterexamples]
    assert (listed, found.notices) == (["R(s,4,5)", "R(s,4,6)", "R(s,5,6)"], ())


@pytest.mark.parametrize("strategy", ["exact", "lineage"])
def test_no_two_restarts_break_a_store_on_disk(strategy: str) -> None:
    found = clew.check(f"{ROOT}/examples/bloom/restarting_store.py:OnDisk", strategy=strategy, strict=True)
    assert (found.answer.value, found.reason, found.notices) == ("certified", None, ())


def test_the_printed_command_restarts_the_store() -> None:
    where = "examples/bloom/restarting_store.py:InMemory"
    found = command("run", where, "--nodes", "c,s", "--eot", "8", "--restart", "s,5,6")
    lasts = "lasts: from time 7 on nothing that it depends on changes"
    assert (found.returncode, found.stdout.splitlines()[-2:]) == (1, ["VIOLATED: pre(x, 1)", lasts])


def test_notices_name_the_file_as_it_was_named() -> None:
    found = command("check", "examples/bloom/checked_delivery.py:BestEffort")
    assert found.stderr.splitlines()[0].startswith("examples/bloom/delivery.py:")


def test_a_broken_broadcast_on_the_command_line(tmp_path: Path) -> None:
    document, page = tmp_path / "verdict.json", tmp_path / "page.html"
    found = command("check", f"{BROADCAST}:Simple", "--json", str(document), "--report", str(page))
    assert (found.returncode, found.stderr.splitlines()) == (1, [f"the report is in {page}"])
    first = found.stdout.splitlines()[0]
    assert first == "COUNTEREXAMPLE: 1 fault, within EOT 4, EFF 2, 0 crashes, nodes a, b, c."
    assert json.loads(document.read_text())["files"] == [f"{BROADCAST}:Simple"]
    text = page.read_text()
    assert "Simple.send: self.data_chan &lt;~ (self.bcast * self.members).pairs(lambda b, m:" in text
    assert "Delivery.log: rows of a table stay" in text

    again = command("replay", str(document))
    assert (again.returncode, again.stdout.splitlines()[-1]) == (1, "STILL FAILS: the counterexample")
    fixed = command("replay", str(document), f"{BROADCAST}:Redundant")
    assert (fixed.returncode, fixed.stdout.splitlines()[-4]) == (
        0,
        "  fixed: pre(b, data) is in 'post', too",
    )


def test_tuples_and_none_survive_the_document(tmp_path: Path) -> None:
    file, document = tmp_path / "tuples.py", tmp_path / "verdict.json"
    file.write_text(
        "from clew.bloom import Bloom, bloom, channel, checked, outcome, scratch, table\n"
        "class P(Bloom):\n"
        "    first, pre, post = scratch('x'), scratch('x'), scratch('x')\n"
        "    chan, got = channel('@to', 'x'), table('x')\n"
        "    setting = checked(nodes=['a', 'b'], eot=3, eff=2, given={'a': {'first': [((1, (None, 'x')),)]}})\n"
        "    @bloom\n"
        "    def rules(self):\n"
        "        self.chan <~ self.first.map(lambda f: ('b', f.x))\n"
        "        self.got <= self.chan.payloads()\n"
        "    @outcome\n"
        "    def arrives(self):\n"
        "        self.pre <= [((1, (None, 'x')),)]\n"
        "        self.post <= self.everywhere.got.project('x')\n"
    )
    assert command("check", str(file), "--json", str(document)).returncode == 1
    assert json.loads(document.read_text())["counterexamples"][0]["violated"] == [
        {"relation": "pre", "row": [[1, [None, "x"]]]}
    ]
    again = command("replay", str(document), cwd=tmp_path)
    assert again.stdout.splitlines()[2] == "  still fails: pre((1, (None, 'x')))"


def test_options_override_the_setting() -> None:
    assert answer(ROOT / f"{BROADCAST}:Retry", crashes=0) == ("certified", 0)
    assert clew.check(ROOT / f"{BROADCAST}:Retry", eot=5).spec.eot == 5


def test_the_rows_of_helpers_are_not_shown() -> None:
    shown = command("run", f"{BROADCAST}:Acknowledged", "--eot", "2")
    assert shown.returncode == 0
    relations = {line.split("(")[0].strip() for line in shown.stdout.splitlines() if line.startswith("  ")}
    assert relations == {
        "bcast", "data_chan", "log", "members", "missing", "owed", "post", "pre", "timer"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("where", "message"),
    [
        (BROADCAST, f"{BROADCAST}: defines 4 Bloom classes with a setting"),
        (f"{BROADCAST}:Nothing", f"{BROADCAST}: defines no Bloom class 'Nothing'"),
        (f"{BROADCAST}:Delivery", "Delivery does not say how it is checked"),
        ("nowhere.py", "nowhere.py: no such file"),
        ("tests/command.py", "tests/command.py: defines no Bloom class with a setting"),
    ],
)
def test_files_that_name_no_program(where: str, message: str) -> None:
    refused = command("check", where)
    assert (refused.returncode, refused.stderr.splitlines()[0]) == (2, f"error: {message}")


def test_a_mistake_in_the_file_is_shown_where_it_is(tmp_path: Path) -> None:
    file = tmp_path / "broken.py"
    file.write_text(
        "from clew.bloom import Bloom, bloom, checked, table\n"
        "class P(Bloom):\n"
        "    t = table('x')\n"
        "    setting = checked(nodes=['a'], eot=3)\n"
        "    @bloom\n"
        "    def rules(self):\n"
        "        self.t <+ self.t.reduce([], lambda memo, row: memo)\n"
    )
    refused = command("check", "broken.py", cwd=tmp_path)
    assert refused.returncode == 2
    assert refused.stderr.splitlines() == [
        "broken.py:7:19: error: P.rules: 'reduce' cannot be checked",
        "            self.t <+ self.t.reduce([], lambda memo, row: memo)",
        "                      ^",
        "  remedy: use group with an aggregate",
    ]


# -- outcomes ----------------------------------------------------------------------------------------------------


class Gossip(Module):
    """Node a tells b a number; it must arrive."""

    first = scratch("number")
    chan = channel("@to", "number")
    heard = table("number")
    pre = scratch("number")
    post = scratch("number")
    setting = checked(nodes=["a", "b"], eot=3, eff=2, given={"a": {"first": [(3,)]}})

    @bloom
    def talk(self) -> None:
        self.chan <~ self.first.map(lambda s: ("b", s.number))
        self.heard <= self.chan.payloads()

    @outcome
    def heard_of(self) -> None:
        self.temp.said <= [(3,)]
        self.pre <= self.temp.said
        self.post <= self.everywhere.heard.map(lambda h: (h.number,))


def test_outcomes_are_no_rules_of_the_program() -> None:
    found = program_of(Gossip)
    assert [rule.block for rule in found.rules] == ["Gossip.talk", "Gossip.talk"]
    assert [(rule.target, rule.block) for rule in found.outcomes] == [
        ("said", "Gossip.heard_of"),
        ("pre", "Gossip.heard_of"),
        ("post", "Gossip.heard_of"),
    ]


def test_outcomes_belong_to_no_node() -> None:
    run = clew.run(Gossip)
    assert run.rows("pre") == ((3,),)
    assert run.rows("post") == ((3,),)
    assert run.rows("heard") == (("b", 3),)
    assert answer(Gossip) == ("counterexample", 1)


def test_an_outcome_says_of_which_node() -> None:
    class Unclear(Gossip):
        @outcome
        def heard_of(self) -> None:
            self.pre <= self.heard

    with pytest.raises(clew.ProgramError) as refused:
        clew.check(Unclear)
    assert refused.value.message == (
        "Unclear.heard_of: an outcome reads 'heard', and it is not said of which node"
    )
    assert refused.value.position is not None


def test_nodes_do_not_look_everywhere() -> None:
    class Nosy(Gossip):
        @bloom
        def look(self) -> None:
            self.heard <= self.everywhere.heard

    with pytest.raises(clew.ProgramError) as refused:
        clew.check(Nosy)
    assert refused.value.message == "Nosy.look: a node knows only its own rows, and not what is everywhere"


def test_crashes_are_seen_from_outside() -> None:
    class Watched(Gossip):
        setting = checked(nodes=["a", "b"], eot=3, crashes=1, given={"a": {"first": [(3,)]}})
        gone = scratch("node", "time")

        @outcome
        def crashed(self) -> None:
            self.gone <= self.everywhere.crash

    run = clew.run(Watched, [clew.Crash("a", 2)])
    assert run.rows("gone", 1) == (("a", 2),)


# -- settings ----------------------------------------------------------------------------------------------------


def test_rows_are_given_at_times() -> None:
    late = program(
        seen=scratch("x"), setting=checked(nodes=["a", "b"], eot=3, given={EVERY: {2: {"seen": [("late",)]}}})
    )
    run = clew.run(late)
    assert run.tables["seen"] == ((), (("a", "late"), ("b", "late")), ())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"z": {"seen": [(1,)]}}, "checked(...): rows are given to the unknown node 'z'"),
        ({"a": {0: {"seen": [(1,)]}}}, "checked(...): 0 is neither a collection nor a time"),
        ({"a": {"seen": "x"}}, "checked(...): what is given to 'seen' is not a list of rows"),
        (
            {"a": {"seen": [(1.5,)]}},
            "checked(...): a float (1.5) is given to 'seen', and cannot be checked",
        ),
        ({"a": {"lost": [(1,)]}}, "rows are given to 'lost', which is none of the program"),
        ({"a": {"seen": [(1, 2)]}}, "the row (1, 2) is given to 'seen', which has 1 columns"),
        ({"a": {"chan": [("b",)]}}, "the row ('b',) is given to 'chan' at 'a', where it would not arrive"),
    ],
)
def test_what_cannot_be_given(given: dict[Any, Any], message: str) -> None:
    with pytest.raises(clew.ProgramError) as refused:
        setting = checked(nodes=["a", "b"], eot=2, given=given)
        clew.run(program(seen=scratch("x"), chan=channel("@x"), setting=setting))
    assert refused.value.message == message
    assert refused.value.position is not None
    assert refused.value.remedy is not None


def test_text_that_the_solver_would_cut_off_is_refused() -> None:
    with pytest.raises(clew.ProgramError) as refused:
        checked(nodes=["a"], given={"a": {"seen": [("x\0y",)]}})
    assert refused.value.message == "checked(...): the text 'x\\x00y' is given to 'seen', and cannot be checked"


@pytest.mark.parametrize("node", [True, 1.0, None, ("a",)])
def test_what_is_no_name_for_a_node(node: Any) -> None:
    with pytest.raises(clew.ProgramError) as refused:
        checked(nodes=["a", node])
    assert refused.value.message == f"checked(...): 'nodes' contains {node!r}, which is not a name for a node"
    assert refused.value.position is not None


def test_rows_are_given_to_the_node_as_it_is_named() -> None:
    """True is equal to 1, and a key of the same value."""
    setting = checked(nodes=[1, "1"], eot=2, given={True: {"seen": [("x",)]}, "1": {"seen": [("y",)]}})
    assert [(type(given.node), given.node) for given in setting.given] == [(int, 1), (str, "1")]
    assert clew.run(program(seen=scratch("x"), setting=setting)).rows("seen", 1) == ((1, "x"), ("1", "y"))


def test_pre_that_no_rule_derives_is_noticed() -> None:
    setting = checked(nodes=["a"], eot=2, given={"a": {"kept": [("x",)]}})
    undecided = program(pre=scratch("x"), kept=table("x"), setting=setting)
    told = [n.message for n in clew.check(undecided).notices]
    assert told == ["no rule derives 'pre': it is checked that what persists does not get lost"]


def test_what_nothing_can_read_is_told_with_the_name_that_was_meant() -> None:
    """Temps are not declared, so a misspelt one is another; tables and scratches may be read from outside."""

    class Misspelt(Module):
        given = table("x")
        kept = table("x")
        seen = scratch("x")
        doubt = scratch("x")
        pre = scratch("x")
        post = scratch("x")
        setting = checked(nodes=["a"], eot=2, given={"a": {"given": [(1,)]}})

        @bloom
        def rules(self) -> None:
            self.kept <= self.given
            self.seen <= self.given
            self.temp.halfway <= self.given(lambda g: (g.x,))

        @outcome
        def promise(self) -> None:
            given = self.everywhere.given(lambda g: (g.x,))
            self.temp.missing <= given.notin(self.everywhere.kept, x="x")
            self.temp.missin <= given
            self.doubt <= given
            self.pre <= given
            self.post <= given.notin(self.temp.missing, x="x")

    notices = clew.check(Misspelt).notices
    told = [(n.message, n.remedy) for n in notices if n.message.startswith("nothing reads")]
    changes_nothing = "what is concluded there changes nothing"
    read_it = "read it in a rule, in 'pre' or in 'post', or leave it out"
    assert told == [
        (f"nothing reads 'doubt': {changes_nothing}", read_it),
        (f"nothing reads 'halfway': {changes_nothing}", read_it),
        (f"nothing reads 'missin': {changes_nothing}", "did you mean 'missing'?"),
    ]
