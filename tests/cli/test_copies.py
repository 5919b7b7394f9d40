"""A function of the user's that forks, and lets the copy return, does not double what calls it."""

from __future__ import annotations

from pathlib import Path

import pytest

from command import ROOT, clew

#: At most a few times in each process: if copies went on, there would be 2 to the power of that.
FORKING = """
import os
from pathlib import Path

CALLS, MOST = Path(__file__).with_name("calls"), 6
here = 0

def fork():
    global here
    here += 1
    if here <= MOST:
        with CALLS.open("a") as calls:
            calls.write(f"{os.getpid()}\\n")
        os.fork()
"""

STACK = f"""{FORKING}
class Stack:
    initial = ()

    def __init__(self):
        fork()

    def step(self, state, op):
        fork()
        if op.function == "push":
            return [(*state, op.argument)]
        return [state[:-1]] if state and state[-1] == op.result else None
"""

BLOOM = f"""{FORKING}
from broadcast import Redundant
from clew.bloom import bloom, table

def keep(message):
    fork()
    return (message.payload,)

class Forking(Redundant):
    kept = table("payload")

    @bloom
    def keep_it(self):
        self.kept <= self.data_chan(keep)
"""

SCENARIO = f"""{FORKING}
from clew.simulation import Faults, Node, Scenario, Send, VirtualTime

class Counting(Node):
    def on_start(self, ctx):
        fork()
        self.seen = 0

    def on_message(self, ctx, sender, message):
        fork()
        self.seen = message
        if message < 4:
            ctx.send(ctx.me, message + 1)

def arrives(nodes):
    fork()
    return None if not nodes or nodes["a"].seen == 4 else "four was not seen"

s = Scenario(nodes={{"a": Counting}}, running=["a"], before=[Send("a", 1)], promises=[arrives],
             time=VirtualTime(until=5), faults=Faults(losses=1))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (
        ("stack.py", STACK),
        ("b.py", BLOOM),
        ("s.py", SCENARIO),
        ("imported.py", STACK + "\nfork()"),
    ):
        (tmp_path / name).write_text(text)
    (tmp_path / "broadcast.py").write_text((ROOT / "examples/bloom/broadcast.py").read_text())
    (tmp_path / "stack.jsonl").write_text((ROOT / "examples/histories/stack.jsonl").read_text())
    return tmp_path


@pytest.mark.parametrize(
    ("words", "code", "answer"),
    [
        ("history stack.jsonl --model stack.py:Stack", 1, "NOT LINEARIZABLE"),
        ("history stack.jsonl --model imported.py:Stack", 1, "NOT LINEARIZABLE"),
        ("check b.py:Forking", 0, "CERTIFIED"),
        ("run b.py:Forking", 0, "EOT 11"),
        ("calm b.py:Forking --try 2", 1, "ORDER MATTERS"),
        ("check s.py:s --strategy exhaustive", 3, "INCOMPLETE"),  # it counts its calls from run to run
        ("run s.py:s", 0, "s.py:s: 4 deliveries"),
        ("fuzz s.py:s --runs 3", 0, "NO VIOLATION"),
    ],
)
def test_only_one_process_calls_it(words: str, code: int, answer: str, folder: Path) -> None:
    done = clew(*words.split(), cwd=folder)
    assert (done.returncode, "Traceback" in done.stderr) == (code, False), done
    assert done.stdout.startswith(answer) and done.stdout.count(answer) == 1
    calls = (folder / "calls").read_text().split()
    assert len(calls) > 1 and len(set(calls)) == 1
