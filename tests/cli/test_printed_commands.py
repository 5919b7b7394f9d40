"""Every command that is printed to be executed can be: a shell that gets the line reproduces the counterexample.

For Dedalus and Bloom, for nodes and files with characters that a shell, the command line or a terminal would take
for something else.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from clew.faults import NodeName
from cli.in_process import Done, run_clew, shell_arguments
from cli.test_node_names import NAMES
from long_mode import first_of

#: Files are called all this; a slash and a NUL are all that cannot be in a name.
FILES = (
    "p", "a b", " a ", "-p", "--nodes", "-", "q'q", 'd"d', "$HOME", "${x}", "$(id)", "`id`", "a;b", "a&b", "a|b",
    "a>b", "*", "?", "[x]", "{a,b}", "~", "#x", "!x", "a\\b", "a\\nb", "%s", "%d%n", "x=y", "a:b", "x.py:K", "é",
    "e\u0301", "日本", "a\nb", "\n", "a\tb", "\x1b[31mred", "%s\x1b%%\\", "\x9b1m", "\u00a0", "\u202egnp",
    "\udcff", "\udce9\udcff", "()", "<x>", "'", '"', "\\", "''", "a\r", "@x", "=x", "+x", ".x",
)  # fmt: skip

ONCE = """\
n({a}, {b})@1;
n(X, Y)@next :- n(X, Y);
m(Y, X)@async :- n(X, Y), notin sent(X, Y);
sent(X, Y)@next :- n(X, Y);
sent(X, Y)@next :- sent(X, Y);
m(X, Y)@next :- m(X, Y);
pre(X, Y) :- n(X, Y);
post(X, Y) :- m(Y, X);
"""

#: A class in which everybody says what it has once; the strings are written by Python.
BLOOM = """\
from clew.bloom import EVERY, Bloom, bloom, channel, checked, outcome, scratch, table

NODES = {nodes!r}


class Say(Bloom):
    members = table("peer")
    bcast = scratch("payload")
    chan = channel("@peer", "payload")
    log = table("payload")
    pre = scratch("node", "payload")
    post = scratch("node", "payload")
    setting = checked(
        nodes=NODES,
        eot=4,
        eff=2,
        crashes=1,
        given={{EVERY: {{"members": [(node,) for node in NODES]}}, NODES[0]: {{"bcast": [({data!r},)]}}}},
    )

    @bloom
    def say(self) -> None:
        self.log <= self.bcast
        self.log <= self.chan(lambda d: (d.payload,))
        self.chan <~ (self.bcast * self.members).pairs(lambda b, m: (m.peer, b.payload))

    @outcome
    def everybody_has_it(self) -> None:
        everywhere = self.everywhere
        known = (everywhere.log * everywhere.members).pairs(lambda has, m: (m.peer, has.payload), node="node")
        self.temp.missing <= known.notin(everywhere.log)
        self.pre <= everywhere.log.notin(everywhere.crash, node="node")
        self.post <= everywhere.log.notin(self.temp.missing, payload="payload")
"""


def reproduced(folder: Path, done: Done) -> Done:
    """Execute the line that a counterexample is printed with."""
    assert done.code == 1, done.err
    return run_clew(folder, shell_arguments(done.replay))


# -- Bloom --------------------------------------------------------------------------------------------------------


def _renamed(document: dict[str, Any], names: dict[tuple[type, object], str]) -> list[str]:
    """What was found, with these names for nodes and data; times stay."""

    def called(values: list[object], times: int) -> list[object]:
        named = len(values) - times
        return [names[type(value), value] for value in values[:named]] + values[named:]

    found = []
    for one in document["counterexamples"]:
        faults = [sorted(called(f, times) for f in one[kind]) for kind, times in _TIMES.items()]
        found.append(json.dumps([faults, sorted(called(v["row"], 0) for v in one["violated"])]))
    return sorted(found)


#: The last columns of faults.
_TIMES = {"losses": 1, "crashes": 1, "delays": 2}


def _check_bloom(folder: Path, nodes: list[NodeName], data: NodeName) -> tuple[Done, dict[str, Any]]:
    """Check the class with these names, and return the verdict, too."""
    (folder / "say.py").write_text(BLOOM.format(nodes=nodes, data=data), encoding="utf-8")
    done = run_clew(folder, ["check", "say.py:Say", "--all", "--json", "say.json"])
    return done, json.loads((folder / "say.json").read_text(encoding="utf-8"))


@cache
def _plain_verdict(plain: tuple[NodeName, ...]) -> dict[str, Any]:
    with TemporaryDirectory() as name:
        _, verdict = _check_bloom(Path(name), list(plain), "data")
    return verdict


@st.composite
def bloom_names(draw: st.DrawFn) -> tuple[list[NodeName], NodeName]:
    pool = st.sampled_from((*NAMES, 'q"q', '"', '"1"', '"a","b"'))
    nodes = draw(st.lists(pool, min_size=2, max_size=3, unique=True))
    return nodes, draw(pool.filter(lambda name: name not in nodes))


@given(bloom_names())
def test_bloom_classes_with_odd_nodes(drawn: tuple[list[NodeName], NodeName]) -> None:
    """The verdict is that of the same class with plain names, but for the names."""
    nodes, data = drawn
    plain = ["a", "b", "c"][: len(nodes)]
    note(f"{nodes} {data!r}")
    with TemporaryDirectory() as name:
        folder = Path(name)
        done, odd = _check_bloom(folder, nodes, data)
        assert odd["spec"]["nodes"] == nodes
        called: dict[tuple[type, object], str] = {(str, p): p for p in (*plain, "data")}
        back: dict[tuple[type, object], str] = {
            (type(n), n): p for n, p in zip((*nodes, data), (*plain, "data"), strict=True)
        }
        assert _renamed(odd, back) == _renamed(_plain_verdict(tuple(plain)), called)
        again = reproduced(folder, done)
        assert again.code == 1, again.err
        violated = again.lines("VIOLATED: ")
        assert len(violated) == len(odd["counterexamples"][0]["violated"])
        assert all(any(line.startswith(row) for line in done.lines("  violates ")) for row in violated)


# -- files --------------------------------------------------------------------------------------------------------


def _write(folder: Path, file: str, text: str) -> str:
    """Write a file that is called so, and return how it is named on a command line."""
    Path(os.fsdecode(os.fsencode(folder / file))).write_text(text, encoding="utf-8")
    return f"./{file}" if file.startswith("-") else file


@given(st.lists(st.sampled_from(FILES), min_size=1, max_size=2, unique=True), st.booleans())
def test_files_with_odd_names(stems: list[str], bloom: bool) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        text = ONCE.format(a='"a"', b='"b"')
        if bloom:
            file = _write(folder, f"{stems[0]}.py", BLOOM.format(nodes=["a", "b"], data="x"))
            files, bounds = [f"{file}:Say"], []
        else:
            first, rest = text.split("\n", 1)
            texts = [first, rest] if len(stems) == 2 else [text]
            files = [_write(folder, f"{stem}.ded", t) for stem, t in zip(stems, texts, strict=True)]
            bounds = ["--eot", "3", "--eff", "2"]
        done = run_clew(folder, ["check", *files, *bounds, "--json", "v.json"])
        note(done.out)
        again = reproduced(folder, done)
        assert (again.code, len(again.lines("VIOLATED: "))) == (1, 1), again.err
        replayed = run_clew(folder, ["replay", "v.json"])
        assert replayed.lines("  see: ") == [done.replay]


@pytest.mark.parametrize("stem", FILES, ids=ascii)
def test_a_printed_command_is_one_line_of_what_can_be_printed(stem: str, tmp_path: Path) -> None:
    file = _write(tmp_path, f"{stem}.ded", ONCE.format(a=1, b='"1"'))
    done = run_clew(tmp_path, ["check", file, "--eot", "3", "--eff", "2"])
    assert done.replay.isprintable()
    assert done.replay.endswith(""" --nodes '+1,"1"' --eot 3 --lose '+1,"1",1'""")


def test_a_name_that_ends_in_a_line_break_is_quoted(tmp_path: Path) -> None:
    """No substitution of a shell ends in one: such a command has two lines."""
    file = _write(tmp_path, "p.ded\n", ONCE.format(a='"a"', b='"b"'))
    done = run_clew(tmp_path, ["check", file, "--eot", "3", "--eff", "2"])
    line = done.out.split("\n  replay: ", 1)[1].split("\n\n", 1)[0]
    assert line == "clew run 'p.ded\n' --nodes a,b --eot 3 --lose a,b,1"
    assert run_clew(tmp_path, shell_arguments(line)).code == 1


# -- a real shell, and the command as a process of its own --------------------------------------------------------

#: Each is in some command, and those of the suite are from all parts of the list.
_PAIRS = [
    (FILES[k], NAMES[k % len(NAMES)], NAMES[(k + 1 + k % 7) % len(NAMES)])
    for begin in (0, 2, 4)
    for k in range(begin, len(FILES), 6)
]


@pytest.mark.parametrize("names", first_of(_PAIRS, 9), ids=ascii)
def test_a_shell_reproduces_the_counterexample(names: tuple[str, NodeName, NodeName], tmp_path: Path) -> None:
    stem, one, other = names
    a, b = (name if isinstance(name, int) else f'"{name}"' for name in (one, other))
    file = _write(tmp_path, f"{stem}.ded", ONCE.format(a=a, b=b))
    done = run_clew(tmp_path, ["check", file, "--eot", "3", "--eff", "2"])
    command = tmp_path / "bin" / "clew"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m clew "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    environment = {**os.environ, "PATH": f"{command.parent}:{os.environ['PATH']}", "PYTHONUTF8": "1"}
    again = subprocess.run(
        ["sh", "-c", os.fsencode(done.replay)], cwd=tmp_path, env=environment, capture_output=True, check=False
    )
    assert again.returncode == 1, again.stderr
    (told,) = done.lines("  violates ")
    violated, lasts = again.stdout.decode("utf-8", "surrogateescape").splitlines()[-2:]
    assert lasts.startswith("lasts: from time ")
    assert violated.startswith("VIOLATED: pre(")
    assert told.startswith(violated.removeprefix("VIOLATED: "))
