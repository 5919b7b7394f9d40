"""Sweeps as a user runs them: what they print, write and exit with, however they end."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

from command import ROOT, clew

#: It recovers after 70 steps, longer than a sweep follows a run.
LATE = """
peer(a, b); peer(X, Y)@next :- peer(X, Y); hello(a, b)@1;
clock(a, 0); clock(X, T + 1)@next :- clock(X, T);
got(Y, X)@async :- hello(X, Y); got(Y, X)@async :- peer(X, Y), clock(X, 70); got(X, Y)@next :- got(X, Y);
pre(Y, X) :- peer(X, Y); post(X, Y) :- got(X, Y);
"""


def test_the_effort_ends_with_a_certificate() -> None:
    done = clew("check", "examples/ack-deliv.ded", "--effort", "0.01")
    assert done.returncode == 0
    first, why, effort, swept = done.stdout.splitlines()
    bounds = re.fullmatch(
        "CERTIFIED: no counterexample exists within EOT ([0-9]+), EFF [0-9]+, 1 crash, nodes a, b, c.", first
    )
    assert bounds is not None
    eot = int(bounds[1])
    assert why == (
        f"  the effort of the sweep is used up at EOT {eot + 1}, EFF {eot}; "
        "to go on, give a larger --effort (1 is the usual one), or --eot and --eff"
    )
    assert effort.startswith("  exact search, 0 executions; ")
    assert swept == f"  swept {eot + 1} settings"


def test_the_clock_ends_without_one() -> None:
    """Half a second is enough for some settings and never for all."""
    done = clew("check", "examples/paxos-synod.ded", "--sweep", "0.5", "--json", "-")
    assert done.returncode == 3
    document = json.loads(done.stdout)
    assert document["verdict"] == "incomplete"
    assert document["reason"].startswith("the time limit of 0.5 s ran out at EOT ")


def test_a_candidate_is_no_counterexample(tmp_path: Path) -> None:
    (tmp_path / "late.ded").write_text(LATE, encoding="utf-8")
    files = ("--json", "v.json", "--junit", "v.xml")
    done = clew("check", "late.ded", "--crashes", "0", *files, cwd=tmp_path)
    assert done.returncode == 3
    assert done.stdout.splitlines()[:7] == [
        "INCOMPLETE: 1 fault breaks it within EOT 3, EFF 2, 0 crashes, nodes a, b, but it may recover later.",
        "  its run still changes after 64 steps, so it may only lack the time to recover; "
        "certified up to EOT 2, EFF 1",
        "  the message from a to b at time 1 is lost",
        "  violates pre(b, a): it is in 'pre' and not in 'post'",
        "  open whether it lasts: at time 28 it is still violated, and the run still changes",
        "  replay: clew run late.ded --nodes a,b --eot 3 --lose a,b,1",
        "",
    ]
    assert done.stdout.endswith("  swept 3 settings\n")
    case = ElementTree.parse(tmp_path / "v.xml").getroot().find(".//testcase")
    assert case is not None and [child.tag for child in case] == ["error"]
    again = clew("replay", "v.json", cwd=tmp_path)
    assert (again.returncode, again.stdout.splitlines()[-1]) == (1, "STILL FAILS: the candidate")
    (tmp_path / "fixed.ded").write_text(LATE.replace("clock(X, 70)", "clock(X, 1)"), encoding="utf-8")
    fixed = clew("replay", "v.json", "fixed.ded", cwd=tmp_path)
    assert (fixed.returncode, fixed.stdout.splitlines()[2:4]) == (
        0,
        ["  fixed: pre(b, a) is in 'post', too", "FIXED: the candidate"],
    )


def test_ctrl_c_keeps_what_is_certified() -> None:
    """Interrupted when the display shows a setting: by then, smaller ones are certified."""
    terminal, end = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "clew", "check", "examples/paxos-synod.ded", "--effort", "100", "--json", "-"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=end,
        env={**os.environ, "TERM": "xterm"},
        text=True,
    )
    os.close(end)
    seen = b""
    while b"solving" not in seen and b"EOT" not in seen:
        seen += os.read(terminal, 1000)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    os.close(terminal)
    document = json.loads(out)
    assert (process.returncode, document["verdict"]) == (3, "incomplete")
    certified = document["certified"]
    assert document["reason"].startswith("interrupted at EOT ")
    assert document["reason"].endswith(f"certified up to EOT {certified['eot']}, EFF {certified['eff']}")
