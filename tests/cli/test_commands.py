"""The commands as a user runs them: exit codes, text, JSON, progress and Ctrl-C."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click import Context

from clew.cli.process.main import COMMANDS, main
from command import ROOT, clew


def test_a_counterexample_exits_with_1_and_shows_how_to_replay_it() -> None:
    done = clew("check", "examples/kafka.ded")
    assert done.returncode == 1
    assert done.stderr == ""
    replay = re.search(r"replay: clew (run .*)", done.stdout)
    assert replay is not None
    again = clew(*replay.group(1).split())
    assert again.returncode == 1
    lasts = "lasts: from time 6 on nothing that it depends on changes"
    assert again.stdout.endswith(f"VIOLATED: pre(C, w1)\n{lasts}\n")


def test_a_certificate_exits_with_0() -> None:
    done = clew("check", "examples/ack-deliv.ded")
    assert (done.returncode, done.stdout.split(":")[0]) == (0, "CERTIFIED")


@pytest.mark.parametrize(
    "arguments",
    [
        ("--strategy", "lineage", "--max-runs", "1"),
        ("--strategy", "lineage", "--negation", "ignore"),
        ("--strategy", "random", "--max-runs", "3"),
        ("--strategy", "exhaustive", "--max-runs", "10"),
        ("--strategy", "exhaustive", "--time-limit", "0.2"),
    ],
    ids=" ".join,
)
def test_a_budget_or_an_incomplete_method_exits_with_3(arguments: tuple[str, ...]) -> None:
    done = clew("check", "examples/ack-deliv.ded", *arguments)
    assert done.returncode == 3
    assert done.stdout.startswith("INCOMPLETE: no counterexample found, but none is ruled out")


def test_flags_win_over_the_line_of_the_program() -> None:
    done = clew("check", "examples/simple-deliv.ded", "--eff", "0", "--json", "-")
    assert done.returncode == 0
    spec = json.loads(done.stdout)["spec"]
    assert spec == {"nodes": ["a", "b", "c"], "eot": 4, "eff": 0, "crashes": 0, "delays": 0}


def test_files_given_together_are_one_program(tmp_path: Path) -> None:
    protocol, claim = tmp_path / "protocol.ded", tmp_path / "property.ded"
    protocol.write_text(
        "want(a, b)@1; want(X, Y)@next :- want(X, Y); got(Y)@async :- want(X, Y); got(Y)@next :- got(Y);"
    )
    claim.write_text("pre(Y) :- want(_, Y); post(Y) :- got(Y);")
    done = clew("check", str(protocol), str(claim), "--eot", "3", "--crashes", "1")
    assert done.returncode == 1
    assert "  a crashes at time 1\n" in done.stdout
    assert "nodes a, b" in done.stdout


def test_json_to_a_file_and_the_text_beside_it(tmp_path: Path) -> None:
    file = tmp_path / "verdict.json"
    done = clew("check", "examples/kafka.ded", "--json", str(file))
    document = json.loads(file.read_text())
    assert done.stdout.startswith("COUNTEREXAMPLE: 3 faults")
    assert document["verdict"] == "counterexample"
    assert document["counterexamples"] == [
        {
            "losses": [["b", "Z", 1], ["c", "Z", 1]],
            "crashes": [["a", 4]],
            "delays": [],
            "violated": [{"relation": "pre", "row": ["C", "w1"]}],
            "duration": {
                "persistence": "lasting",
                "since": 4,
                "loop": {"time": 6, "period": 1, "grows": False},
                "followed": 10,
                "reason": None,
            },
        }
    ]
    assert document["combinations"] == 18536856418509622775644160
    assert (document["runs"], document["reason"], document["vacuous"], document["sweep"]) == (1, None, False, [])
    assert set(document) == {
        "format", "version", "files", "verdict", "strategy", "spec", "counterexamples", "runs", "combinations",
        "seconds", "reason", "vacuous", "cautions", "remarks", "promises", "coverage", "warnings", "sweep",
        "certified", "candidates",
    }  # fmt: skip


def test_every_json_field_is_documented() -> None:
    document = json.loads(clew("check", "examples/kafka.ded", "--json", "-").stdout)
    page = (ROOT / "docs" / "json.md").read_text()
    for field in (*document, *(f"counterexamples[].{k}" for k in document["counterexamples"][0])):
        assert f"`{field}`" in page


def test_run_shows_relations_by_time() -> None:
    done = clew("run", "examples/simple-deliv.ded", "--relation", "log", "--lose", "a,b,1")
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "EOT 4, nodes a, b, c; these faults:",
        "  the message from a to b at time 1 is lost",
        "time 1",
        "  log(a, data)",
        "  [lost: log(b, data) from a to b]",
        "time 2",
        "  log(a, data)",
        "  log(c, data)",
        "time 3",
        "  log(a, data)",
        "  log(c, data)",
        "time 4",
        "  log(a, data)",
        "  log(c, data)",
        "VIOLATED: pre(a, data)",
        "VIOLATED: pre(c, data)",
        "lasts: from time 2 on nothing that it depends on changes",
    ]


def test_a_delayed_message_arrives_later() -> None:
    done = clew("run", "examples/simple-deliv.ded", "--relation", "log", "--delay", "a,b,1,2", "--at", "4")
    assert done.returncode == 0
    assert "log(b, data)" in done.stdout
    assert "log(b, data)" not in clew(
        "run", "examples/simple-deliv.ded", "--relation", "log", "--delay", "a,b,1,2", "--at", "3"
    ).stdout  # fmt: skip


def test_all_lists_every_minimal_counterexample() -> None:
    done = clew("check", "examples/simple-deliv.ded", "--all")
    assert done.stdout.startswith("COUNTEREXAMPLE: 2 minimal ones")
    assert "from a to b at time 1 is lost" in done.stdout
    assert "from a to c at time 1 is lost" in done.stdout


def test_vacuous_certificates_say_so() -> None:
    done = clew("check", "examples/kafka.ded", "--eot", "4", "--eff", "3")
    assert done.returncode == 0
    assert "'pre' is empty" in done.stdout
    assert clew("check", "examples/kafka.ded", "--eot", "4", "--eff", "3", "--strict").returncode == 3


def test_where_nothing_is_promised_the_answer_is_incomplete() -> None:
    command = ("check", "examples/kafka.ded", "--eot", "3", "--eff", "2")
    done = clew(*command)
    assert done.returncode == 3
    assert done.stdout.splitlines()[:2] == [
        "INCOMPLETE: no counterexample exists, but that is no certificate, within EOT 3, EFF 2, 1 crash, "
        "nodes a, b, c, C, Z.",
        "  nothing is promised: what must hold applies in no admissible execution (--allow-hollow permits that)",
    ]
    allowed = clew(*command, "--allow-hollow")
    assert allowed.returncode == 0
    assert "Beware: nothing is promised within these bounds." in allowed.stdout
    assert clew(*command, "--allow-hollow", "--strict").returncode == 3


@pytest.mark.parametrize("name", COMMANDS)
def test_help_says_of_a_command_what_the_command_says_of_itself(name: str) -> None:
    command = main.get_command(Context(main), name)
    assert command is not None and command.help is not None
    assert COMMANDS[name] == command.help.splitlines()[0]


@pytest.mark.parametrize("command", [(), ("check",), ("run",), ("replay",)], ids=lambda c: " ".join(c) or "clew")
def test_help_tells_exit_codes_and_options(command: tuple[str, ...]) -> None:
    done = clew(*command, "--help")
    assert done.returncode == 0
    assert ("Exit code:" in done.stdout) == bool(command)


def test_ctrl_c_stops_cleanly_with_what_there_is() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "clew", "check", "examples/ack-deliv.ded", "--strategy", "exhaustive"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=30)
    assert process.returncode == 3
    assert "Traceback" not in errors
    assert output.startswith("INCOMPLETE") and "  interrupted\n" in output
    assert int(re.search(r"(\d+) executions", output).group(1)) > 10  # type: ignore[union-attr]


def test_progress_is_shown_on_a_terminal() -> None:
    """Standard error is a real terminal here; the search takes two seconds."""
    main, terminal = pty.openpty()
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "clew",
            "check",
            "examples/ack-deliv.ded",
            "--strategy",
            "exhaustive",
            "--time-limit",
            "2",
        ],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=terminal,
        env={**os.environ, "TERM": "xterm-256color"},
    )
    os.close(terminal)
    shown = b""
    while process.poll() is None:
        if select.select([main], [], [], 0.2)[0]:
            try:
                shown += os.read(main, 4096)
            except OSError:
                break
    os.close(main)
    assert process.wait(timeout=30) == 3
    assert process.stdout is not None
    process.stdout.close()
    assert re.search(rb"\d+ executions, \d+ s: \d faults", shown)
