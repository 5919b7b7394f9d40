"""The table of bad inputs: what a user can get wrong, and what the command says about it.

Every row runs the real command.  It ends with exit code 2, prints nothing to standard output and, to standard
error, exactly one message with its place (where there is one) and one remedy.
"""

from __future__ import annotations

import random
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

import command
from clew.checker.strategies import STRATEGIES, Options

#: Nothing is wrong with this one: a tells b, and what was told is kept.
GOOD = """\
n("a", "b")@1;
n(X, Y)@next :- n(X, Y);
m(Y, X)@async :- n(X, Y);
m(X, Y)@next :- m(X, Y);
"""

#: Sums of sums: the numbers of one step are too many for the next.
EXPLODING = """\
p("a", 1)@1;
p("a", 2)@1;
p(L, X + Y)@next :- p(L, X), p(L, Y);
"""

#: The number 1 and the string "1" are both nodes.
LOOKALIKES = """\
n(1, 2)@1;
n("1", 2)@1;
n(X, Y)@next :- n(X, Y);
m(Y, X)@async :- n(X, Y);
m(X, Y)@next :- m(X, Y);
"""

#: Something to check.
KEPT = "kept(X, Y)@next :- kept(X, Y);\n"

#: A number that the machine could count to, but no user would wait for.
HUGE = "1000000000"


@dataclass(frozen=True)
class Bad:
    """One way to get it wrong.

    ``text`` is the content of p.ded, ``args`` what follows ``clew``, ``says`` words of the message, ``at`` the
    place it starts with, ``remedy`` words of the remedy, ``seconds`` how long the refusal may take.
    """

    name: str
    says: str
    text: str | bytes = GOOD
    args: str = "check p.ded --eot 3"
    at: str | None = None
    remedy: str = ""
    seconds: float = 60


def in_program(name: str, at: str, says: str, text: str | bytes, remedy: str = "") -> Bad:
    """Something wrong at a place of the text."""
    return Bad(name, says, text, at=f"p.ded:{at}", remedy=remedy)


def in_flags(args: str, says: str, remedy: str = "") -> Bad:
    """Nothing wrong with the program, but with what is asked of it."""
    return Bad(args, says, args=args, remedy=remedy)


FILES = [
    Bad("unknown file", "gone.ded: no such file", args="check gone.ded", remedy="check the path"),
    Bad("one of two files unknown", "gone.ded: no such file", args="check p.ded gone.ded --eot 3"),
    Bad("unknown file to run", "gone.ded: no such file", args="run gone.ded --eot 3"),
    Bad("folder as a file", "folder: is a folder", args="check folder --eot 3", remedy="name the program files"),
    Bad("file below a file", "p.ded/x: cannot be read", args="check p.ded/x", remedy="check the path"),
    Bad("file name too long", "cannot be read", args="check " + "a" * 5000, remedy="check the path"),
    Bad("link to itself", "loop.ded", args="check loop.ded --eot 3", remedy="check the path"),
    in_program(
        "missing include",
        "5:11",
        "'gone.ded' does not exist",
        GOOD + '  include "gone.ded";',
        "looked for gone.ded",
    ),
    in_program("included folder", "1:9", "folder: is a folder", 'include "folder";', "name the program files"),
    in_program("include name too long", "1:9", "", f'include "{"a" * 5000}";'),
    Bad("5 MB of clauses", "p.ded: is larger than 1 MB", b'n("a", "b")@1;\n' * 350_000, remedy="split"),
    Bad("5 MB of garbage", "p.ded: is larger than 1 MB", random.Random(5).randbytes(5_000_000)),
    in_program("included file of 5 MB", "1:9", "large.ded: is larger than 1 MB", 'include "large.ded";', "split"),
    *(
        in_program(
            f"garbage, seed {seed}", at, "not UTF-8 text", random.Random(seed).randbytes(2000), "a text file"
        )
        for seed, at in ((0, "1:1"), (1, "1:1"), (2, "1:2"), (3, "1:1"))
    ),
    in_program("garbage of 7 bits", "1:1", "unprintable character U+0003", bytes(range(3, 128)), "a text file"),
    in_program("Latin 1", "2:4", "not UTF-8 text", b'n("a")@1;\nm("\xe9")@1;', "a text file"),
    in_program("NUL", "2:5", "unprintable character U+0000", 'n("a")@1;\nm("b\0")@1;\n', "a text file"),
]

SYNTAX = [
    in_program("syntax error", "2:14", "unexpected 'n'", 'n("a")@1;\nm(X) :- n(X) n(X);', "expected ',' or ';'"),
    in_program("clause not ended", "1:9", "unexpected the end of the file", 'n("a")@1\n', "clauses end with ';'"),
    in_program("unclosed string", "2:3", "a string is not closed", 'n("a")@1;\nm("b)@1;', 'close it with "'),
    in_program(
        "unclosed comment", "2:1", "a comment is not closed", 'n("a")@1;\n/* m("b")@1;', "close it with */"
    ),
    in_program(
        "deep parentheses", "2:56", "nested more than 50 deep", f'n("a")@1;\np(X, {"(" * 9999}', "split it"
    ),
    in_program(
        "long sum", "2:6", "nested more than 50 deep", f'n("a")@1;\np(X, {"X + " * 9999}X) :- n(X);', "split"
    ),
    in_program("large number", "1:8", "the number 2147483648 is too large", 'n("a", 2147483648)@1;', "2147483647"),
    in_program("fact with a variable", "1:1", "contains A, which is not a constant", "n(A)@1;", "quote it"),
    in_program("unknown default", "1:5", "unknown default 'eto'", "//! eto=4\n" + GOOD, "eot=..."),
    in_program("default without a number", "1:5", "'eot=x' does not give a number", "//! eot=x\n" + GOOD, "eot=3"),
    in_program(
        "default of a raised digit", "1:5", "'eot=²' does not give a number", "//! eot=²\n" + GOOD, "eot=3"
    ),
]

ONE = 'n("a", 1)@1;\n'

MEANING = [
    Bad("empty program", "the program is empty", "", remedy="facts and rules"),
    Bad("only comments", "the program is empty", "// nothing\n/* here */\n", remedy="facts and rules"),
    Bad("no facts", "the program has no facts", "p(X)@next :- p(X);", remedy="--nodes"),
    in_program(
        "unbound head variable",
        "2:1",
        "Y in the head of 'p' is not bound",
        ONE + "p(X, Y) :- n(X, _);",
        "contains Y",
    ),
    in_program("unbound aggregate", "2:1", "Y in the head of 'p' is not bound", ONE + "p(X, sum<Y>) :- n(X, _);"),
    in_program("wildcard in a head", "2:1", "'_' in the head of 'p'", ONE + "p(X, _) :- n(X, _);", "variable"),
    in_program(
        "unbound in a comparison",
        "2:20",
        "Y in a comparison is not bound",
        ONE + "p(X) :- n(X, _), Y > 1;",
        "contains Y",
    ),
    in_program(
        "unbound in a negation",
        "2:24",
        "Y in 'notin n' is not bound",
        ONE + "p(X) :- n(X, _), notin n(Y, Y);",
        "contains Y",
    ),
    in_program(
        "negative cycle",
        "2:24",
        "'p' depends on the absence",
        ONE + "p(X) :- n(X, _), notin q(X);\nq(X) :- p(X);",
        "@next",
    ),
    in_program("aggregation cycle", "2:19", "an aggregate of 'p'", ONE + "p(X, count<Y>) :- p(X, Y);", "@next"),
    in_program(
        "arity clash", "2:9", "'n' is used with 1 columns here and with 2", ONE + "p(X) :- n(X);", "p.ded:1:1"
    ),
    in_program(
        "runaway arithmetic",
        "2:1",
        "'p' computes new values from its own",
        ONE + "p(X, Y + 1) :- p(X, Y);",
        "X < 10",
    ),
    in_program("crash defined", "2:1", "'crash' is built in", ONE + 'crash("a", "b", 1)@1;', "--crashes"),
    in_program(
        "crash with two columns",
        "2:18",
        "'crash' is used with 2 columns",
        ONE + "p(X) :- n(X, _), crash(X, X);",
        "crash(Observer, Node, Time)",
    ),
    in_program("pre without post", "2:1", "defines 'pre' but not 'post'", ONE + "pre(X) :- n(X, _);", "'post'"),
    in_program("post without pre", "2:1", "defines 'post' but not 'pre'", ONE + "post(X) :- n(X, _);", "'pre'"),
    in_program(
        "pre and post differ",
        "3:1",
        "'pre' has 1 columns and 'post' has 2",
        ONE + "pre(X) :- n(X, _);\npost(X, Y) :- n(X, Y);",
        "same",
    ),
    Bad("nothing to check", "says nothing about what must hold", ONE, remedy="define 'pre' and 'post'"),
    Bad(
        "nothing to sweep",
        "says nothing about what must hold",
        ONE,
        "check p.ded",
        remedy="define 'pre' and 'post'",
    ),
]

SQUARES = 'n("a", 2)@1;\nn(X, Y * Y)@next :- n(X, Y);\n'
SUM = 'n("a", 2000000000)@1;\nn("a", 1999999999)@1;\nn(X, Y)@next :- n(X, Y);\ns(X, sum<Y>) :- n(X, Y);\n'
OVERFLOW = "a number becomes too large (4294967296) in the rule for 'n'"

RUN_TIME = [
    Bad("overflow", OVERFLOW, SQUARES, "check p.ded --eot 10", "p.ded:2:1", "bound it with a comparison"),
    Bad("overflow, given nodes", OVERFLOW, SQUARES, "check p.ded --eot 10 --nodes a", "p.ded:2:1", "bound it"),
    Bad("overflow of a run", OVERFLOW, SQUARES, "run p.ded --eot 10", "p.ded:2:1", "bound it with a comparison"),
    Bad("overflow of a sweep", OVERFLOW, SQUARES + KEPT, "check p.ded --nodes a", "p.ded:2:1", "bound it"),
    Bad(
        "exploding numbers",
        "too many different values",
        EXPLODING,
        "check p.ded --eot 30",
        "p.ded:3:1",
        "bound it",
    ),
    in_program(
        "overflow in a comparison",
        "2:1",
        "becomes too large",
        'n("a", 2147483647)@1;\np(X) :- n(X, Y), Y + 1 > 0;',
        "bound it",
    ),
    in_program(
        "overflow of a sum", "4:1", "a sum in the rule for 's' can become too large", SUM, "keep sums below"
    ),
    in_program(
        "overflow of an average", "4:1", "a sum in the rule for 's'", SUM.replace("sum<", "avg<"), "keep sums"
    ),
]

BOUNDS = [
    in_flags("check p.ded --eot 3 --eff 4", "EFF 4 is larger than EOT 3", "--eff at most --eot"),
    in_flags(
        "check p.ded --eot 3 --crashes 3",
        "3 crashes are more than the 2 nodes (a, b)",
        "--crashes a number up to 2",
    ),
    in_flags("check p.ded --eot 0", "eot is 0", "--eot a number from 1 on"),
    in_flags("check p.ded --eot -1", "eot is -1", "--eot a number from 1 on"),
    in_flags("check p.ded --eot 3 --eff -1", "eff is -1", "--eff a number from 0 on"),
    in_flags("check p.ded --eot 3 --crashes -1", "crashes is -1", "--crashes a number from 0 on"),
    in_flags("check p.ded --eot 3 --delays -1", "delays is -1", "--delays a number from 0 on"),
    in_flags("check p.ded --effort 0", "--effort is 0", "larger than 0"),
    in_flags("check p.ded --effort nan", "--effort is nan", "larger than 0"),
    in_flags("check p.ded --effort inf", "--effort is inf", "up to 100000"),
    in_flags("check p.ded --effort 1 --sweep 1", "--effort ends a sweep by the work that is done", "--time-limit"),
    in_flags("check p.ded --effort 1 --eot 3", "a sweep finds its own EOT", "--eot or --effort"),
    in_flags("check p.ded --sweep 1 --eot 3", "a sweep finds its own EOT", "--eot or --sweep"),
    in_flags("check p.ded --sweep -1", "--sweep is -1", "larger than 0"),
    in_flags("check p.ded --sweep 0", "--sweep is 0", "larger than 0"),
    in_flags("check p.ded --sweep nan", "--sweep is nan", "larger than 0"),
    in_flags("check p.ded --eot 3 --time-limit 0", "--time-limit is 0", "larger than 0"),
    in_flags("check p.ded --eot 3 --time-limit nan", "--time-limit is nan", "larger than 0"),
    in_flags("check p.ded --eot 3 --strategy random --max-runs -1", "--max-runs is -1", "larger than 0"),
    in_flags("check p.ded --eot 3 --nodes ,", "no nodes given", "--nodes a,b,c"),
    in_flags("check p.ded --eot 3 --nodes a,\udcff", "node"),
    in_flags('check p.ded --eot 3 --nodes a,"b', "a name is not closed", 'close it with "'),
    in_flags('check p.ded --eot 3 --nodes a,b"c"', "in the middle of a name", "twice"),
    in_flags("run p.ded --eot 3 --nodes 'a','b'", "'a' is in single quotes", 'double quotes: "a"'),
    Bad(
        "two nodes look the same",
        "'1' can mean two nodes",
        LOOKALIKES,
        "check p.ded --eot 3 --nodes 1,2",
        None,
        "+1",
    ),
    Bad("two nodes look the same, stated", "'1' can mean two", "//! nodes=1,2\n" + LOOKALIKES, remedy="quotes"),
    Bad("fault at one of two", "'1' can mean two nodes", LOOKALIKES, "run p.ded --eot 3 --lose 1,2,1", None, "+1"),
    Bad(
        "quoted, but a number",
        'the string "2" can be no node of the program, but the number 2 can',
        LOOKALIKES,
        'check p.ded --eot 3 --nodes +1,"2"',
        None,
        "in quotes",
    ),
    in_flags("check p.ded --strategy random", "the random strategy cannot sweep", "--eot"),
    in_flags("check p.ded --eot 3 --json missing/out.json", "missing/out.json cannot be written", "give a path"),
    in_flags("check p.ded --eot 3 --json folder", "folder cannot be written", "give a path"),
    Bad("huge eot", HUGE, args=f"check p.ded --nodes a,b --eot {HUGE}", remedy="--eot", seconds=10),
    Bad(
        "huge delays", HUGE, args=f"check p.ded --nodes a,b --eot 3 --delays {HUGE}", remedy="--delays", seconds=10
    ),
]

#: Says what survives a restart.
RESTARTED = GOOD + "durable m;\n"

#: More nodes than partitions are tried of.
MANY = ",".join(f"n{k}" for k in range(30))

PASSING = [
    Bad(
        "no durable",
        "what survives a restart",
        args="check p.ded --eot 4 --eff 3 --restarts 1",
        at="p.ded:1:1",
        remedy="durable log, term; or none of them: durable;",
    ),
    Bad(
        "run without durable",
        "what survives a restart",
        args="run p.ded --eot 4 --restart a,2,3",
        at="p.ded:1:1",
        remedy="durable;",
    ),
    Bad(
        "restart of nobody",
        "unknown node 'z'",
        RESTARTED,
        "run p.ded --eot 4 --restart z,2,3",
        remedy="the nodes are a, b",
    ),
    Bad(
        "restart after EOT",
        "the fault R(a,3,5) cannot happen in an execution of 4 steps",
        RESTARTED,
        "run p.ded --eot 4 --restart a,3,5",
        remedy="runs again later, by 4",
    ),
    Bad(
        "restart at once",
        "the fault R(a,3,3) cannot happen in an execution of 4 steps",
        RESTARTED,
        "run p.ded --eot 4 --restart a,3,3",
        remedy="runs again later, by 4",
    ),
    Bad(
        "restart and crash",
        "these faults contradict each other: C(a,3) R(a,2,4)",
        RESTARTED,
        "run p.ded --eot 4 --restart a,2,4 --crash a,3",
        remedy="restarts and pauses of it come before",
    ),
    Bad(
        "restart after crash",
        "these faults contradict each other: C(a,1) R(a,2,4)",
        RESTARTED,
        "run p.ded --eot 4 --restart a,2,4 --crash a,1",
        remedy="for good",
    ),
    Bad(
        "restart and pause",
        "these faults contradict each other: R(a,2,4) Z(a,3,4)",
        RESTARTED,
        "run p.ded --eot 4 --restart a,2,4 --pause a,3,4",
        remedy="one after the other",
    ),
    Bad(
        "restart and stop",
        "these faults contradict each other: R(a,2,4) S(a,3)",
        RESTARTED,
        "run p.ded --eot 4 --restart a,2,4 --stop a,3",
        remedy="a node crashes once, or stops, for good",
    ),
    in_flags("run p.ded --eot 4 --stop a,4", "the fault S(a,4) cannot happen", "a node stops at times 1 to 3"),
    in_flags("run p.ded --eot 4 --stop a", "--stop a is not understood", "write --stop NODE,T"),
    in_flags("run p.ded --eot 4 --stop a,1 --crash a,2", "contradict each other: C(a,2) S(a,1)", "for good"),
    in_flags("check p.ded --eot 4 --stops 9", "9 stops are more than the 2 nodes", "--stops a number up to 2"),
    Bad(
        "no time to restart",
        "no restart is over by EFF 0",
        RESTARTED,
        "check p.ded --eot 4 --eff 0 --restarts 1",
        remedy="--eff 2 or more",
    ),
    in_flags(
        "check p.ded --eot 4 --eff 1 --pauses 1",
        "no pause is over by EFF 1",
        "--eff 2 or more (and --eot as much), or --pauses 0",
    ),
    in_flags("check p.ded --eot 4 --eff 1 --partitions 1", "no partition is over by EFF 1", "--eff 2 or more"),
    in_flags("check p.ded --eot 4 --eff 2 --duplicates 1", "no duplicate is over by EFF 2", "--eff 3 or more"),
    in_flags("check p.ded --eot 4 --eff 3 --pauses -1", "pauses is -1", "--pauses a number from 0 on"),
    in_flags(
        "check p.ded --eot 4 --eff 3 --partitions 1 --nodes a", "one node cannot be partitioned", "--partitions 0"
    ),
    in_flags(
        f"check p.ded --eot 4 --eff 3 --partitions 1 --nodes {MANY}",
        "too many partitions of 30 nodes",
        "fewer --nodes",
    ),
    Bad("unknown durable", "'x'", GOOD + "durable x;\n", "check p.ded --eot 3", at="p.ded:5:9", remedy="m"),
    Bad("crash is not kept", "crash", GOOD + "durable crash;\n", "check p.ded --eot 3", at="p.ded:5:9"),
    Bad(
        "down is given",
        "'down'",
        GOOD + "down(X, Y) :- n(X, Y);\n",
        "check p.ded --eot 3",
        at="p.ded:5:1",
        remedy="another name",
    ),
]

CANNOT_HAPPEN, CONTRADICT = "cannot happen in an execution of 3 steps", "these faults contradict each other"

RUNS = [
    in_flags("run p.ded", "no EOT given", "--eot"),
    in_flags("run p.ded --eot 0", "eot is 0", "--eot a number from 1 on"),
    in_flags("run p.ded --eot 3 --crash z,1", "unknown node 'z'", "the nodes are a, b"),
    in_flags("run p.ded --eot 3 --lose a,z,1", "unknown node 'z'", "the nodes are a, b"),
    in_flags("run p.ded --eot 3 --lose z,a,1", "unknown node 'z'", "the nodes are a, b"),
    in_flags("run p.ded --eot 3 --delay z,a,1,1", "unknown node 'z'", "the nodes are a, b"),
    in_flags("run p.ded --eot 3 --lose a,b,3", f"the fault O(a,b,3) {CANNOT_HAPPEN}", "times 1 to 2"),
    in_flags("run p.ded --eot 3 --lose a,b,0", f"the fault O(a,b,0) {CANNOT_HAPPEN}", "times 1 to 2"),
    in_flags("run p.ded --eot 3 --lose a,a,1", f"the fault O(a,a,1) {CANNOT_HAPPEN}", "between different nodes"),
    in_flags("run p.ded --eot 3 --crash a,3", f"the fault C(a,3) {CANNOT_HAPPEN}", "times 1 to 2"),
    in_flags("run p.ded --eot 3 --crash a,0", f"the fault C(a,0) {CANNOT_HAPPEN}", "times 1 to 2"),
    in_flags("run p.ded --eot 3 --delay a,b,3,1", f"the fault D(a,b,3,1) {CANNOT_HAPPEN}", "times 1 to 2"),
    in_flags("run p.ded --eot 3 --delay a,b,1,0", f"the fault D(a,b,1,0) {CANNOT_HAPPEN}"),
    in_flags("run p.ded --eot 3 --lose a,b", "--lose a,b is not understood", "--lose FROM,TO,T"),
    in_flags("run p.ded --eot 3 --lose a,b,1,2", "--lose a,b,1,2 is not understood", "--lose FROM,TO,T"),
    in_flags("run p.ded --eot 3 --lose a,b,x", "--lose a,b,x is not understood", "--lose FROM,TO,T"),
    in_flags("run p.ded --eot 3 --lose a,b,-1", "--lose a,b,-1 is not understood", "--lose FROM,TO,T"),
    in_flags("run p.ded --eot 3 --lose a,b,²", "--lose a,b,² is not understood", "--lose FROM,TO,T"),
    in_flags("run p.ded --eot 3 --lose ,b,1", "--lose ,b,1 is not understood", "--lose FROM,TO,T"),
    in_flags("run p.ded --eot 3 --crash a", "--crash a is not understood", "--crash NODE,T"),
    in_flags('run p.ded --eot 3 --crash "a,1', '--crash "a,1 is not understood', 'close it with "'),
    in_flags('run p.ded --eot 3 --crash a,"1"', '--crash a,"1" is not understood', "--crash NODE,T"),
    in_flags("run p.ded --eot 3 --lose a,,b,1", "--lose a,,b,1 is not understood", "--lose FROM,TO,T"),
    in_flags("run p.ded --eot 3 --delay a,b,1", "--delay a,b,1 is not understood", "--delay FROM,TO,T,LAG"),
    in_flags("run p.ded --eot 3 --crash a,1 --crash a,2", f"{CONTRADICT}: C(a,1) C(a,2)", "crashes once"),
    in_flags(
        "run p.ded --eot 3 --lose a,b,1 --delay a,b,1,1",
        f"{CONTRADICT}: O(a,b,1) D(a,b,1,1)",
        "lost, delayed or duplicated, and that once",
    ),
    in_flags(
        "run p.ded --eot 3 --delay a,b,1,2 --delay a,b,1,1",
        f"{CONTRADICT}: D(a,b,1,1) D(a,b,1,2)",
        "delayed or duplicated, and that once",
    ),
    in_flags(
        "run p.ded --eot 3 --duplicate a,b,1,0", f"the fault U(a,b,1,0) {CANNOT_HAPPEN}", "one or more steps"
    ),
    in_flags("run p.ded --eot 3 --duplicate a,b,2,1", f"the fault U(a,b,2,1) {CANNOT_HAPPEN}", "by 3"),
    in_flags("run p.ded --eot 3 --duplicate a,z,1,1", "unknown node 'z'", "the nodes are a, b"),
    in_flags("run p.ded --eot 3 --duplicate a,b,1", "--duplicate a,b,1 is not", "--duplicate FROM,TO,T,LAG"),
    in_flags("run p.ded --eot 3 --pause a,2,2", f"the fault Z(a,2,2) {CANNOT_HAPPEN}", "goes on later, by 3"),
    in_flags("run p.ded --eot 3 --pause a,2,4", f"the fault Z(a,2,4) {CANNOT_HAPPEN}", "by 3"),
    in_flags("run p.ded --eot 3 --pause a,1", "--pause a,1 is not understood", "--pause NODE,T,U"),
    in_flags("check p.ded --eot 4 --inputs 1", "the program declares no inputs", "leave --inputs out"),
    in_flags("run p.ded --eot 3 --input m(a,b)@2", "the program does not offer I(m(a, b),2)", "offers nothing"),
    in_flags("run p.ded --eot 3 --input m(a,b)", "--input m(a,b) is not understood", "--input ROW@T"),
    in_flags("run p.ded --eot 3 --input m(a,X)@2", "--input m(a,X)@2 is not understood", "as a fact"),
    in_flags("run p.ded --eot 3 --input a,b,2", "--input a,b,2 is not understood", "--input ROW@T"),
    in_flags("run p.ded --eot 3 --choose m(a,b)@9", "the fault K(m(a, b),9)", "1 to 3"),
    in_flags("run p.ded --eot 3 --choose m(a,b)@2", "the program does not offer K(m(a, b),2)", "offers nothing"),
    in_flags(
        "run p.ded --eot 3 --partition a,b:1,2", f"the fault P({{a,b}},1,2) {CANNOT_HAPPEN}", "not all nodes"
    ),
    in_flags("run p.ded --eot 3 --partition a:1,4", f"the fault P({{a}},1,4) {CANNOT_HAPPEN}", "by 3"),
    in_flags("run p.ded --eot 3 --partition a,z:1,2", "unknown node 'z'", "the nodes are a, b"),
    in_flags("run p.ded --eot 3 --partition a,1,2", "--partition a,1,2 is not", "--partition NODES:T,U"),
    in_flags("run p.ded --eot 3 --partition :1,2", "--partition :1,2 is not", "--partition NODES:T,U"),
    in_flags(
        "run p.ded --eot 3 --lose a,b,1 --duplicate a,b,1,1", f"{CONTRADICT}: O(a,b,1) U(a,b,1,1)", "and that once"
    ),
    in_flags(
        "run p.ded --eot 4 --pause a,1,3 --pause a,2,4", f"{CONTRADICT}: Z(a,1,3) Z(a,2,4)", "one after the other"
    ),
    in_flags("run p.ded --eot 3 --crash a,1 --pause a,2,3", f"{CONTRADICT}: C(a,1) Z(a,2,3)", "for good"),
    # The pair that contradicts itself, not all that was given.
    in_flags(
        "run p.ded --eot 3 --lose a,b,2 --crash a,1 --pause a,2,3", f"{CONTRADICT}: C(a,1) Z(a,2,3)", "for good"
    ),
    in_flags("run p.ded --eot 3 --at 4", "time 4 is outside the execution", "--at from 1 to 3"),
    in_flags("run p.ded --eot 3 --at 0", "time 0 is outside the execution", "--at from 1 to 3"),
    in_flags("run p.ded --eot 3 --at -1", "time -1 is outside the execution", "--at from 1 to 3"),
    in_flags("run p.ded --eot 3 --relation zz", "the program has no relation 'zz'", "there are "),
    Bad("huge lag", "999999999", args="run p.ded --eot 3 --delay a,b,1,999999999", seconds=10),
]

#: How each option of a search is given on the command line.
FLAGS = {
    "negation": "--negation exact",
    "symmetry": "--symmetry",
    "find_all": "--all",
    "effort": "--effort 1",
    "sweep": "--sweep 1",
    "max_runs": "--max-runs 5",
    "seed": "--seed 1",
    "lasting": "--lasting",
    "checkpoint": "--checkpoint ck",
}

UNSUPPORTED = [
    Bad(
        f"{strategy.name} with {flag}",
        f"the {strategy.name} strategy does not support {flag.split()[0]}",
        args=f"check p.ded --eot 3 --strategy {strategy.name} {flag}",
        remedy="leave it out, or use --strategy "
        + " or ".join(s.name for s in STRATEGIES.values() if option in s.accepts),
    )
    for strategy in STRATEGIES.values()
    for option, flag in FLAGS.items()
    if option not in strategy.accepts
]

TABLE = [*FILES, *SYNTAX, *MEANING, *RUN_TIME, *BOUNDS, *PASSING, *RUNS, *UNSUPPORTED]


def clew(
    folder: Path, args: str, text: str | bytes = GOOD, seconds: float = 60
) -> subprocess.CompletedProcess[str]:
    """The command in a folder with p.ded, a folder, a link to itself and a file that is too large."""
    (folder / "p.ded").write_bytes(text.encode() if isinstance(text, str) else text)
    (folder / "folder").mkdir()
    (folder / "loop.ded").symlink_to(folder / "loop.ded")
    with (folder / "large.ded").open("wb") as large:
        large.truncate(5_000_000)
    return command.clew(*args.split(" "), cwd=folder, seconds=seconds)


@pytest.mark.parametrize("bad", TABLE, ids=lambda bad: ascii(bad.name))
def test_bad_input(bad: Bad, tmp_path: Path) -> None:
    result = clew(tmp_path, bad.args, bad.text, bad.seconds)
    assert "Traceback" not in result.stderr
    assert result.returncode == 2, result.stderr
    assert result.stdout == ""
    message, *source, remedy = result.stderr.splitlines()
    assert message.startswith(f"{bad.at}: error: " if bad.at else "error: ")
    assert message.count("error: ") == 1
    assert bad.says in message
    assert remedy.startswith("  remedy: ")
    assert len(remedy) > len("  remedy: ")
    assert bad.remedy in remedy
    assert len(source) in (0, 2)
    if source:  # the line of the program, and a caret under the column
        assert bad.at is not None and isinstance(bad.text, str)
        line, column = map(int, bad.at.split(":")[1:])
        assert source[0].strip() == bad.text.split("\n")[line - 1].replace("\t", " ").strip()
        assert source[1] == " " * (3 + column) + "^"


def test_every_name_in_the_table_is_different() -> None:
    assert len({bad.name for bad in TABLE}) == len(TABLE)


def test_the_table_covers_every_option_of_every_strategy() -> None:
    assert set(FLAGS) == set(Options._fields)
    assert len(UNSUPPORTED) == sum(len(set(FLAGS) - s.accepts) for s in STRATEGIES.values())


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ("check", "Missing argument 'FILE...'"),
        ("run", "Missing argument 'FILE...'"),
        ("frob", "No such command 'frob'"),
        ("check p.ded --frob", "--frob"),
        ("check p.ded --eot", "'--eot' requires an argument"),
        ("check p.ded --eot x", "'x' is not a valid integer"),
        ("check p.ded --eot 1.5", "'1.5' is not a valid integer"),
        ("check p.ded --time-limit x", "'x' is not a duration: give seconds, or 90s, 2m, 1h"),
        ("check p.ded --strategy frob", "'frob' is not one of 'exact', 'lineage', 'random', 'exhaustive'"),
        ("check p.ded --negation frob", "'frob' is not one of"),
        ("run p.ded --eot 3 --crashes 1", "--crashes"),
    ],
)
def test_bad_usage(args: str, says: str, tmp_path: Path) -> None:
    result = clew(tmp_path, args)
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.count("Error: ") == 1
    assert says in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    "flags",
    [
        "--eot 30 --time-limit 1",
        "--eot 30 --time-limit 1 --nodes a",
        "--eot 30 --time-limit 1 --nodes a --strategy lineage",
        "--sweep 1 --nodes a",
        "--time-limit 1",
    ],
)
def test_exploding_numbers_are_stopped_by_the_time_limit(flags: str, tmp_path: Path) -> None:
    result = clew(tmp_path, f"check p.ded {flags}", EXPLODING + "p(L, X)@next :- p(L, X);\n", seconds=10)
    assert result.returncode == 3, result.stderr
    assert "the time limit of 1 s ran out" in result.stdout + result.stderr
    assert "Traceback" not in result.stderr
    assert "FATAL" not in result.stderr
