"""``clew cover``: what rules do in every process below a command, what that comes to, and what is refused."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest

from command import ROOT, clew

SCHEMA = json.loads((ROOT / "docs" / "results.schema.json").read_text(encoding="utf-8"))

STORE = """\
from clew.bloom import Bloom, bloom, channel, interface, lset, scratch, table


class Store(Bloom):
    put = interface.input("key", "value")
    copy = channel("@to", "key", "value")
    copies = table("to")
    kept = table("key", val=["value"])
    keys = lset()
    many = scratch("n")

    @bloom
    def keep(self):
        self.kept <= self.put
        self.kept <= self.copy.payloads()
        self.keys <= self.kept(lambda k: (k.key,))

    @bloom
    def send(self):
        self.copy <~ (self.copies * self.put).pairs(lambda c, p: (c.to, p.key, p.value))
        self.many <= self.keys.size().gt_eq(100).when_true([(100,)])

    @bloom
    def invariants(self):
        self.die <= self.kept.filter(lambda k: k.value == "bad")


class Careful(Store):
    more = table("key")

    @bloom
    def note(self):
        self.more <= self.put(lambda p: (p.key,))


class Other(Bloom):
    put = interface.input("key")
"""

#: In processes of pytest, in one that is killed, in a forked one, on the network, and in a simulation.
TESTS = """\
import multiprocessing
import os
import signal
import subprocess
import sys

import pytest
from clew.bloom import InvariantError
from clew.bloom.simulated import bloom_scenario, insert
from clew.simulation.fuzzing.fuzz import fuzz
from store import Careful, Store


def step(node, *rows):
    node.put.insert(*rows)
    node.tick()


@pytest.mark.parametrize("number", range(4))
def test_ticks(number):
    step(Store(), ("a", number), ("b", number))


def test_derived():
    step(Careful(), ("a", 1))


def test_killed():
    program = "import os, store; n = store.Store(); n.put.insert(('a', 1)); n.tick(); os.kill(os.getpid(), 9)"
    done = subprocess.run([sys.executable, "-c", program])
    assert done.returncode == -signal.SIGKILL


def test_forked():
    step(Store(), ("before", 1))
    child = multiprocessing.get_context("fork").Process(target=step, args=(Store(), ("a", 1)))
    child.start()
    child.join()
    assert child.exitcode == 0


def test_network():
    with Store() as first, Store() as second:
        first.copies.insert((second.ip_port,), (first.ip_port,))
        second.insert_and_wait(second.put, ("x", 1), second.kept, timeout=30)
        first.put.insert(("k", 1))
        for _ in range(3000):
            if ("k", 1) in second.kept:
                break
            second.insert_and_wait(second.put, ("x", 1), second.kept, timeout=30)
        assert ("k", 1) in second.kept


def test_simulated():
    found = fuzz(bloom_scenario({"a": Store}, before=[insert("a", "put", ("a", 1))]), runs=2)
    assert found.recording is None


def test_died():
    with pytest.raises(InvariantError):
        step(Store(), ("a", "bad"))
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cover")
    (folder / "store.py").write_text(STORE, encoding="utf-8")
    (folder / "test_store.py").write_text(TESTS, encoding="utf-8")
    return folder


def pytest_words(*more: str) -> tuple[str, ...]:
    return "--", sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *more


def document_of(project: Path, *words: str, code: int) -> dict[str, Any]:
    done = clew("cover", *words[: words.index("--")], "--json", "-", *words[words.index("--") :], cwd=project)
    assert done.returncode == code, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    assert document["exit_code"] == code
    return document


def by_text(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {rule["text"].partition("(")[0]: rule for rule in document["rules"]}


#: Two rows at each of four nodes.
TICKS = "nodes = [store.Store() for _ in range(4)]; [n.put.insert(('a', 1), ('b', 2)) or n.tick() for n in nodes]"

PUT, COPY, KEYS, SEND, MANY = (
    "self.kept <= self.put",
    "self.kept <= self.copy.payloads",
    "self.keys <= self.kept",
    "self.copy <~ ",
    "self.many <= self.keys.size",
)


def test_processes_are_added_up(project: Path) -> None:
    document = document_of(project, "store.py:Store", *pytest_words("-n", "2", "."), code=0)
    rules = by_text(document)
    # Four nodes with two rows, and one row each: derived, killed, before and after the fork, the two on the
    # network, the two simulated lives, and the one that died.
    assert rules[PUT]["rows"] == 4 * 2 + 1 + 1 + 1 + 1 + 2 + 2 + 1
    assert rules[KEYS]["rows"] == rules[PUT]["rows"] + 1
    # A row of a table that is copied to another node, and to the node itself, which takes no network; ("k", 1) is
    # new at the other node alone.
    assert (rules[SEND]["rows"], rules[SEND]["messages"]) == (2, 1)
    assert rules[SEND]["bytes"] > len("127.0.0.1:50000")
    assert rules[COPY]["rows"] == 2
    assert (rules[MANY]["rows"], rules[MANY]["steps"], rules[MANY]["messages"]) == (0, 0, None)
    assert document["percentage"] == 80
    assert document["nodes"] == 4 + 1 + 1 + 2 + 2 + 2 + 1
    # Of pytest one or both of its workers, that of the simulation, the one that is killed, and the forked one.
    assert document["processes"] in (4, 5)
    (invariant,) = document["invariants"]
    assert (invariant["rows"], invariant["collection"]) == (1, "die")
    collections = {each["collection"]: each for each in document["collections"]}
    assert (collections["put"]["most"], collections["kept"]["most"], collections["keys"]["rows"]) == (2, 2, None)
    assert set(collections) == {"put", "copy", "copies", "kept", "keys", "many"}
    assert document["warnings"] == []


def test_a_class_is_not_its_base(project: Path) -> None:
    document = document_of(
        project,
        "store.py:Careful",
        *run(TICKS + "; node = store.Careful(); node.put.insert(('a', 1)); node.tick()"),
        code=0,
    )
    assert (document["nodes"], document["steps"], by_text(document)[PUT]["rows"]) == (1, 1, 1)


def test_the_text_names_what_never_fired(project: Path) -> None:
    done = clew("cover", "store.py:Store", *run(TICKS), cwd=project)
    assert done.returncode == 0
    report = done.stdout[done.stdout.index("COUNTED") :]
    assert report.splitlines()[:5] == [
        "COUNTED: store.py:Store.",
        "  2 of 5 rules fired (40.0 %), in 4 steps of 4 nodes in 1 process",
        "",
        "rows  steps  messages  bytes  rule",
        "   8      4         -      -  store.py:14 Store.keep: self.kept <= self.put",
    ]
    assert "never fired (3):\n  store.py:15 Store.keep: self.kept <= self.copy.payloads()\n" in report
    assert "invariants: 1, broken: 0\n" in report
    assert "\n   8     2  kept (table)\n" in report
    assert "   -     2  keys (lattice)\n" in report


def test_the_rows_of_traced_rules_are_shown(project: Path) -> None:
    document = document_of(
        project,
        "store.py:Careful",
        "--trace",
        "kept",
        "--trace",
        "note",
        *run("node = store.Careful(); node.put.insert(('a', 1)); node.tick()"),
        code=0,
    )
    assert [(record["collection"], record["row"], record["to"]) for record in document["trace"]] == [
        ("kept", ["'a'", "1"], None),
        ("more", ["'a'"], None),
    ]
    done = clew("cover", "store.py:Store", "--trace", "send", *pytest_words("-k", "network"), cwd=project)
    assert "trace (2 rows):" in done.stdout
    assert ", to 127.0.0.1:" in done.stdout


def test_thresholds(project: Path) -> None:
    words = "store.py:Store", *run(TICKS)
    for options, code, verdict in (
        (("--fail-under", "40"), 0, "counted"),
        (("--fail-under", "40.1"), 1, "too few rules"),
        (("--fail-on-dead",), 1, "dead rules"),
    ):
        document = document_of(project, words[0], *options, *words[1:], code=code)
        assert document["verdict"] == verdict
    # Invariants are not meant to fire.
    document = document_of(project, "store.py:Other", "--fail-on-dead", *run("store.Other().tick()"), code=0)
    assert document["percentage"] == 100


def run(program: str) -> tuple[str, ...]:
    return "--", sys.executable, "-c", f"import store; {program}"


@pytest.mark.parametrize(
    ("program", "verdict", "reason", "code"),
    [
        ("1 / 0", "command failed", "the command ended with exit code 1", 1),
        ("raise SystemExit(7)", "command failed", "the command ended with exit code 7", 1),
        ("import os; os.kill(os.getpid(), 9)", "command failed", "the command was ended by SIGKILL", 1),
        ("store.Other().tick()", "nothing ran", "no node of Store took a step", 3),
    ],
)
def test_what_the_command_comes_to_is_not_hidden(
    program: str, verdict: str, reason: str, code: int, project: Path
) -> None:
    document = document_of(project, "store.py:Store", *run(program), code=code)
    assert (document["verdict"], document["reason"]) == (verdict, reason)


def test_a_command_that_goes_on_is_ended(project: Path, tmp_path: Path) -> None:
    forever = "store.Store().tick(); import time; time.sleep(1000)"
    done = clew("cover", "store.py:Store", "--time-limit", "6", *run(forever), cwd=project, TMPDIR=str(tmp_path))
    assert done.returncode == 3
    assert done.stdout.startswith("INCOMPLETE: store.py:Store: the time limit of 6 s ended the command.\n")
    assert ", in 1 step of 1 node in 1 process" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_is_for_the_command(project: Path) -> None:
    program = "node = store.Store('127.0.0.1:0'); node.run(lambda: print('up', flush=True)); print('down')"
    started = subprocess.Popen(
        [sys.executable, "-m", "clew", "cover", "store.py:Store", *run(program)],
        cwd=project,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
    )
    with started:
        assert started.stdout is not None
        assert started.stdout.readline() == "up\n"
        os.killpg(started.pid, signal.SIGINT)
        told = started.stdout.read()
        assert started.wait(100) == 0
    assert told.startswith("down\nCOUNTED: store.py:Store.\n")


def test_a_command_that_ends_clew_is_not_started_again(project: Path, tmp_path: Path) -> None:
    """To find the line where a process ended, other commands do everything once more."""
    ends = f"echo once >> {tmp_path / 'started'}; kill -9 $PPID"
    done = clew("cover", "store.py:Store", "--", "sh", "-c", ends, cwd=project)
    assert (done.returncode, done.stdout) == (4, "")
    first, *_ = done.stderr.splitlines()
    assert first == "clew failed: its process was ended by SIGKILL while it waited for the command"
    assert (tmp_path / "started").read_text(encoding="utf-8") == "once\n"


def test_a_class_that_ends_the_process_is_an_error_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "ends.py").write_text("import os\nos._exit(0)\n", encoding="utf-8")
    done = clew("cover", "ends.py", "--", "true", cwd=tmp_path)
    assert done.returncode == 2
    ended = "error: the process ended by itself (exit code 0) while loading ends.py, in <module> at ends.py:2\n"
    assert done.stderr.startswith(ended)


def test_tests_that_fail_are_counted_and_fail(project: Path) -> None:
    test = "from store import Store\ndef test():\n    n = Store(); n.put.insert(('a', 1)); n.tick(); assert 0"
    (project / "failing.py").write_text(test, encoding="utf-8")
    done = clew("cover", "store.py:Store", "--fail-under", "90", *pytest_words("failing.py"), cwd=project)
    assert done.returncode == 1
    assert "1 failed" in done.stdout
    assert "COMMAND FAILED: store.py:Store: the command ended with exit code 1." in done.stdout
    assert "2 of 5 rules fired" in done.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("store.py:Store",), "Missing argument '-- COMMAND...'"),
        (("store.py", "--", "true"), "defines 3 Bloom classes"),
        (("store.py:Stor", "--", "true"), "defines no Bloom class 'Stor'"),
        (("nowhere.py:Store", "--", "true"), "no such file"),
        (
            ("store.py:Store", "--", "no-such-command"),
            "'no-such-command' cannot be run (No such file or directory)",
        ),
        (("store.py:Store", "--", "./store.py"), "'./store.py' cannot be run (Permission denied)"),
        (("store.py:Store", "--", ""), "cannot be run"),
        (("store.py:Store", "--trace", "kep", "--", "true"), "'kep' names no rule of Store"),
        (("store.py:Store", "--fail-under", "101", "--", "true"), "--fail-under"),
        (("store.py:Store", "--report", "-", "--", "true"), "--report writes a file"),
    ],
)
def test_bad_usage_is_refused(words: tuple[str, ...], told: str, project: Path) -> None:
    done = clew("cover", *words, cwd=project)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_every_file_is_written(project: Path, tmp_path: Path) -> None:
    outputs = "--junit", str(tmp_path / "out.xml"), "--report", str(tmp_path / "out.html")
    done = clew("cover", "store.py:Store", *outputs, *run(TICKS), cwd=project)
    assert done.returncode == 0
    suite = ElementTree.parse(tmp_path / "out.xml").getroot()[0]
    assert (suite.attrib["tests"], suite.attrib["skipped"], suite.attrib["failures"]) == ("6", "3", "0")
    page = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert page.count("never fired</span>") == 3
    assert "self.kept &lt;= self.put" in page


def test_nothing_is_left_behind(project: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "clew", "cover", "store.py:Store", *run("store.Store().tick()")],
        cwd=project,
        env={"TMPDIR": str(tmp_path), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
        capture_output=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.iterdir()) == []
