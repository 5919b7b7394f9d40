"""Names that look like numbers, like lists or like nothing at all: they are read as they are meant, or refused.

All strategies get their nodes from the same place, so that they cannot notice if these are the wrong ones: they
agree on a verdict about another program.  The oracle here does not go that way.  The generator draws the nodes,
writes them down by the rules of the documentation, and hands the text to the command; what must come out is
computed by the naive interpreter (``tests/reference.py``), by brute force, for the nodes that were drawn.

Each counterexample is then reproduced with the line that was printed for it, as a shell reads it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import event, given, note
from hypothesis import strategies as st

import reference
from clew.dedalus.printer import print_program
from clew.faults import Crash, Delay, FailureSpec, Fault, FaultSet, Loss, NodeName
from clew.program.ir import (
    Aggregate,
    BinOp,
    Comparison,
    Const,
    Expr,
    Fact,
    HeadArg,
    Nested,
    Premise,
    Program,
    Rule,
    Term,
    Value,
    Var,
    rule_constants,
)
from cli.in_process import Done, run_clew, shell_arguments
from generators import programs, tiny_specs

#: Brute force tries all sets of so many faults with the naive interpreter.
FEW_FAULTS = 6

#: What people call nodes, and what else they do; many of these look like one another.
NAMES: tuple[NodeName, ...] = (
    1, "1", 2, "2", -1, "-1", "01", "+1", "1.0", 0, "a", "A", "a b", "a,b", "b", " a", "a ", "", "é", "e\u0301",
    "É", "_", "?", "'a'", "None", "null", "crash", "$HOME", "`id`", "a;b", "*", "//", "\\", "\\n", "--nodes", "ß",
    "X", "#1", "(1)", "1,2", "->", "~", "true", "日本", "9" * 12,
)  # fmt: skip


# -- programs with such names -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Named:
    """A program, the bounds with the nodes that were drawn, and how these are written."""

    program: Program
    spec: FailureSpec
    written: tuple[str, ...]
    in_program: bool
    strategy: str


@st.composite
def named_programs(draw: st.DrawFn) -> Named:
    """A generated program in which everything is called otherwise: nodes and data come from the same names."""
    program = draw(programs())
    spec = draw(tiny_specs(program).filter(lambda spec: len(list(spec.possible_faults())) <= FEW_FAULTS))
    strings = sorted({v for v in _constants(program) if isinstance(v, str)} | {"a", "b", "c"})
    others = draw(st.lists(st.sampled_from(NAMES), min_size=len(strings), max_size=len(strings), unique=True))
    renaming: dict[Value, Value] = dict(zip(strings, others, strict=True))
    renamed = Program(tuple(_renamed(clause, renaming) for clause in program.clauses))
    nodes: tuple[NodeName, ...] = tuple(_name(renaming[node]) for node in spec.nodes)
    written = tuple(draw(st.sampled_from(_ways_to_write(node))) for node in nodes)
    strategy = draw(st.sampled_from(("exact", "lineage", "exhaustive")))
    return Named(renamed, replace(spec, nodes=nodes), written, draw(st.booleans()), strategy)


def _constants(program: Program) -> set[Value]:
    return {*(value for fact in program.facts for value in fact.args), *rule_constants(program)}


def _name(value: Value) -> NodeName:
    assert isinstance(value, str | int)
    return value


def _renamed(clause: Fact | Rule, renaming: dict[Value, Value]) -> Fact | Rule:
    def term(arg: HeadArg) -> HeadArg:
        return Const(renaming.get(arg.value, arg.value)) if isinstance(arg, Const) else arg

    def expr(arg: Expr) -> Expr:
        renamed = term(arg)
        assert isinstance(renamed, Const | Var | BinOp | Nested)
        return renamed

    def premise_term(arg: Term) -> Term:
        renamed = term(arg)
        assert isinstance(renamed, Term)
        return renamed

    if isinstance(clause, Fact):
        return replace(clause, args=tuple(renaming.get(value, value) for value in clause.args))
    body: list[Premise | Comparison] = []
    for element in clause.body:
        if isinstance(element, Comparison):
            body.append(replace(element, left=expr(element.left), right=expr(element.right)))
        elif isinstance(element, Premise):
            body.append(replace(element, args=tuple(map(premise_term, element.args))))
    return replace(clause, args=tuple(map(term, clause.args)), body=tuple(body))


def _ways_to_write(node: NodeName) -> list[str]:
    """The ways that the documentation names: bare, where that is no list and no other name, and explicit."""
    if isinstance(node, int):
        return [str(node), f"+{node}"]
    quoted = '"' + node.replace('"', '""') + '"'
    is_bare = node and not set(node) & set("\"', ") and not (node[0] == "+" and _is_digits(node[1:]))
    return [node, quoted] if is_bare else [quoted]


def _is_digits(text: str) -> bool:
    return text.removeprefix("-").isdecimal()


# -- what must come out -------------------------------------------------------------------------------------------


def _fewest_faults(program: Program, spec: FailureSpec) -> int | None:
    """Brute force: the size of the smallest set of faults that breaks the program."""
    possible = list(spec.possible_faults())
    for size in range(len(possible) + 1):
        for chosen in combinations(possible, size):
            faults = FaultSet.of(chosen)
            if spec.admits(faults) and reference.violations(program, spec, faults):
                return size
    return None


def _may_be_refused(named: Named) -> bool:
    """Whether a node is written bare and the program contains, or may compute, another reading of the text."""
    values = _constants(named.program)
    computes = any(_computes(rule) for rule in named.program.rules)
    for text in named.written:
        if _is_digits(text) and not text.startswith("+"):
            readings: tuple[Value, Value] = (int(text), text)
            if all(r in values or (computes and isinstance(r, int)) for r in readings):
                return True
    return False


def _computes(rule: Rule) -> bool:
    timed = any(isinstance(p.at, Var) or p.relation == "crash" for p in rule.premises)
    return timed or any(isinstance(arg, BinOp | Aggregate) for arg in rule.args)


def _faults(found: dict[str, list[list[NodeName]]]) -> FaultSet:
    faults: list[Fault] = [Loss(a, b, int(t)) for a, b, t in found["losses"]]
    faults += [Crash(node, int(t)) for node, t in found["crashes"]]
    faults += [Delay(a, b, int(t), int(lag)) for a, b, t, lag in found["delays"]]
    return FaultSet.of(faults)


def _expected_rows(program: Program, spec: FailureSpec, faults: FaultSet) -> set[tuple[Value, ...]]:
    asserted = any(clause.relation in ("pre", "post") for clause in program.clauses)
    rows = reference.violations(program, spec, faults)
    return {("pre", *row) for row in rows} if asserted else set(rows)


def check_named(folder: Path, named: Named, file: str = "p.ded") -> Done:
    """Write the program, with its nodes in it or on the command line, and let the command check it."""
    spec = named.spec
    nodes = ",".join(named.written)
    bounds = {"eot": spec.eot, "eff": min(spec.eff, spec.eot), "crashes": spec.crashes, "delays": spec.delays}
    stated = "".join(f" {key}={number}" for key, number in bounds.items())
    head = f"//! nodes={nodes}{stated}\n" if named.in_program else f"//!{stated}\n"
    (folder / file).write_text(head + print_program(named.program), encoding="utf-8")
    flags = [] if named.in_program else ["--nodes", nodes]
    path = f"./{file}" if file.startswith("-") else file
    # Where nothing is promised, the search still has an answer, and that is what is compared.
    wanted = ["--strategy", named.strategy, "--allow-hollow", "--json", "verdict.json"]
    return run_clew(folder, ["check", path, *flags, *wanted])


def reproduce(folder: Path, line: str) -> Done:
    """Execute a printed line: the shell takes it apart, the command runs here."""
    word, *arguments = ["clew", *shell_arguments(line)]
    assert word == "clew"
    return run_clew(folder, arguments)


# -- the properties -----------------------------------------------------------------------------------------------


@given(named_programs())
def test_verdicts_are_about_the_nodes_that_were_drawn(named: Named) -> None:
    note(f"{named.spec} written {named.written}\n{print_program(named.program)}")
    with TemporaryDirectory() as name:
        folder = Path(name)
        done = check_named(folder, named)
        if done.code == 2:
            event("refused")
            assert "can mean two nodes" in done.err
            assert _may_be_refused(named)
            return
        document = json.loads((folder / "verdict.json").read_text(encoding="utf-8"))
        assert document["spec"]["nodes"] == list(named.spec.nodes)
        fewest = _fewest_faults(named.program, named.spec)
        event("certified" if fewest is None else "counterexample")
        assert done.code == (0 if fewest is None else 1), done.out
        if fewest is None:
            return
        (found,) = document["counterexamples"]
        faults = _faults(found)
        assert len(faults) == fewest or (named.strategy == "lineage" and len(faults) > fewest)
        expected = _expected_rows(named.program, named.spec, faults)
        assert {(v["relation"], *v["row"]) for v in found["violated"]} == expected
        again = reproduce(folder, done.replay)
        assert again.code == 1, again.err
        assert len(again.lines("VIOLATED: ")) == len(expected)
        told = done.lines("  violates ") or done.lines("  loses ")
        if not any(line.startswith("  ... and ") for line in done.out.splitlines()):
            assert len(told) == len(expected)
        for line, row in zip(told, again.lines("VIOLATED: "), strict=False):
            assert line.startswith(row)


@given(named_programs())
def test_a_saved_verdict_is_replayed_on_the_same_nodes(named: Named) -> None:
    note(f"{named.spec} written {named.written}\n{print_program(named.program)}")
    with TemporaryDirectory() as name:
        folder = Path(name)
        done = check_named(folder, named)
        if done.code != 1:
            return
        replayed = run_clew(folder, ["replay", "verdict.json"])
        assert replayed.code == 1, replayed.err
        assert "still fails" in replayed.out and "(before:" not in replayed.out
        (see,) = replayed.lines("  see: ")
        assert see == done.replay


# -- what was found -----------------------------------------------------------------------------------------------

#: Node 1 stores the string "1"; losing what either says to the other makes them disagree.
STORED = """\
p(1, "1")@1; d(1, 2)@1; d(2, 1)@1;
p(X, V)@next :- p(X, V);
m(Y, X)@async :- d(X, Y);
m(Y, X)@next :- m(Y, X);
some(X) :- p(X, _), m(_, _);
pre(X) :- some(X);
post(X) :- p(X, _), m(1, 2), m(2, 1);
"""


@pytest.mark.parametrize(
    ("stated", "flags"),
    [
        ("//! nodes=1,2 eot=4 eff=3\n", []),
        ("//! nodes=+1,2 eot=4 eff=3\n", []),
        ("//! eot=4 eff=3\n", ["--nodes", "1,2"]),
        ("//! eot=4 eff=3\n", []),
    ],
)
@pytest.mark.parametrize("strategy", ["exact", "lineage", "exhaustive"])
def test_data_does_not_turn_a_node_into_a_string(
    stated: str, flags: list[str], strategy: str, tmp_path: Path
) -> None:
    """Node 1 was taken for "1", which nobody is: no message went anywhere, and this was certified."""
    (tmp_path / "p.ded").write_text(stated + STORED, encoding="utf-8")
    done = run_clew(tmp_path, ["check", "p.ded", *flags, "--strategy", strategy])
    assert (done.code, done.err) == (1, "")
    assert done.out.startswith("COUNTEREXAMPLE: 1 fault, within EOT 4, EFF 3, 0 crashes, nodes 1, 2.\n")
    assert reproduce(tmp_path, done.replay).code == 1


def test_a_location_that_only_flows_there_decides(tmp_path: Path) -> None:
    """No fact is at 1; a message goes there.  The string is only data."""
    text = (
        'peer("a", 1); peer(X, Y)@next :- peer(X, Y); tag("a", "1"); tag(X, V)@next :- tag(X, V); '
        "m(Y)@async :- peer(X, Y); m(X)@next :- m(X);"
    )
    (tmp_path / "p.ded").write_text(text, encoding="utf-8")
    done = run_clew(tmp_path, ["check", "p.ded", "--nodes", "a,1", "--eot", "3", "--eff", "3"])
    assert (done.code, done.err) == (1, "")
    assert done.replay == "clew run p.ded --nodes a,1 --eot 3 --lose a,1,1 --lose a,1,2"


def test_two_nodes_that_look_the_same_are_told_apart_in_what_is_said(tmp_path: Path) -> None:
    text = 'n(1, "1"); n(X, Y)@next :- n(X, Y); m(Y, X)@async :- n(X, Y), notin m(X, Y); m(X, Y)@next :- m(X, Y);'
    (tmp_path / "p.ded").write_text(text, encoding="utf-8")
    done = run_clew(tmp_path, ["check", "p.ded", "--eot", "3", "--eff", "3"])
    assert (
        done.out
        == """\
COUNTEREXAMPLE: 2 faults, within EOT 3, EFF 3, 0 crashes, nodes 1, "1".
  the message from 1 to "1" at time 1 is lost
  the message from 1 to "1" at time 2 is lost
  together: nothing sent from 1 to "1" at times 1 and 2 arrives
  loses m("1", 1), which the failure-free run has at the end
  recovers at time 4: EOT 3 is too short (--eot 4, or --lasting)
  replay: clew run p.ded --nodes '+1,"1"' --eot 3 --lose '+1,"1",1' --lose '+1,"1",2'

    1      "1"
1   │       │
    ●╌╌ m ╌╌✗   LOST O(1,"1",1)
2   │       │
    ●╌╌ m ╌╌✗   LOST O(1,"1",2)
3   │       │

Why m("1", 1): m("1", 1) had 2 supports without faults; each is cut:
  O(1,"1",1) cuts ✗ m 1→"1"@1
  O(1,"1",2) cuts ✗ m 1→"1"@2
  without O(1,"1",1): m 1→"1"@1 arrives: m("1", 1) is there at the end
  without O(1,"1",2): m 1→"1"@2 arrives: m("1", 1) is there at the end

  exact search, 1 execution; at most 64 failure combinations
"""
    )
