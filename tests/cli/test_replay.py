"""``clew replay`` as a user runs it: after a fix, after half a fix, after what only looks like one."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import clew as library
from clew.report.verdict.document import to_json
from command import ROOT, clew
from long_mode import first_of

#: a sends to b once; what b has been sent, it must have.
ONCE = """\
//! nodes=a,b eot=4 eff=2
want(a, b); want(X, Y)@next :- want(X, Y);
first(a)@1;
got(Y)@async :- want(X, Y), first(X);
got(Y)@next :- got(Y);
pre(Y) :- want(_, Y);
post(Y) :- got(Y);
"""
AGAIN = ONCE.replace(", first(X)", "")
#: Nobody wants anything any more.
NOTHING = ONCE.replace("want(X, Y)@next :- want(X, Y);", "")

#: The same without assertions: what got there must get there.
PLAIN = "".join(line for line in ONCE.splitlines(keepends=True) if not line.startswith(("pre", "post")))

FAULTS = "  the message from a to b at time 1 is lost\n"
SEE = "  see: clew run p.ded --nodes a,b --eot 4 --lose a,b,1\n"
CHECK = "clew check p.ded --nodes a,b --eot 4 --eff 2 --crashes 0 --delays 0"
FIXED = f"FIXED: the counterexample\n  Other faults may still break it.  To find out:\n  {CHECK}\n"


def checked(folder: Path, text: str, *flags: str) -> None:
    """p.ded, and the counterexamples that were found in it in v.json."""
    (folder / "p.ded").write_text(text, encoding="utf-8")
    done = clew("check", "p.ded", "--json", "v.json", *flags, cwd=folder)
    assert done.returncode == 1, done.stderr


def replayed(folder: Path, text: str, *files: str) -> subprocess.CompletedProcess[str]:
    """Change the program and replay."""
    (folder / "p.ded").write_text(text, encoding="utf-8")
    return clew("replay", "v.json", *files, cwd=folder)


def said(before: str, after: str, folder: Path) -> tuple[int, str]:
    """The exit code, and what is said between the faults and the conclusion, with it."""
    checked(folder, before)
    done = replayed(folder, after)
    start = f"p.ded, EOT 4, nodes a, b\n{FAULTS}"
    assert done.stdout.startswith(start)
    return done.returncode, done.stdout.removeprefix(start)


def test_an_unchanged_program_still_fails(tmp_path: Path) -> None:
    lasts = "  lasts: from time 2 on nothing that it depends on changes\n"
    told = f"  still fails: pre(b)\n{lasts}{SEE}STILL FAILS: the counterexample\n"
    assert said(ONCE, ONCE, tmp_path) == (1, told)


def test_a_fix(tmp_path: Path) -> None:
    assert said(ONCE, AGAIN, tmp_path) == (0, f"  fixed: pre(b) is in 'post', too\n{FIXED}")
    again = clew(*shlex.split(CHECK)[1:], cwd=tmp_path)
    assert again.returncode == 0, again.stderr


def test_a_fix_that_leaves_nothing_to_fail_is_visible(tmp_path: Path) -> None:
    beware = "  Beware: 'pre' is empty at the end of this run, so that there is nothing that could fail.\n"
    assert said(ONCE, NOTHING, tmp_path) == (0, f"  fixed: pre(b) is no longer in 'pre'\n{beware}{FIXED}")


def test_a_fix_that_asserts_something_else(tmp_path: Path) -> None:
    after = ONCE.replace("pre(Y) :- want(_, Y);", "pre(X) :- want(X, _);").replace(
        "post(Y) :- got(Y);", "post(X) :- want(X, _);"
    )
    assert said(ONCE, after, tmp_path) == (0, f"  fixed: pre(b) is no longer in 'pre'\n{FIXED}")


def test_another_row_fails_now(tmp_path: Path) -> None:
    after = ONCE.replace("pre(Y) :- want(_, Y);", "pre(X) :- want(X, _);")
    code, text = said(ONCE, after, tmp_path)
    assert code == 1
    assert text.startswith("  still fails: pre(a) (before: pre(b))\n")


def test_what_persists_is_compared_with_the_failure_free_run_of_the_changed_program(tmp_path: Path) -> None:
    assert said(PLAIN, PLAIN, tmp_path)[1].startswith("  still fails: got(b)\n")
    again = PLAIN.replace(", first(X)", "")
    assert said(PLAIN, again, tmp_path) == (0, f"  fixed: got(b) is there at the end\n{FIXED}")
    never = PLAIN.replace("got(Y)@async", "sent(Y)@async")
    assert said(PLAIN, never, tmp_path) == (
        0,
        f"  fixed: got(b) is not in the failure-free run any more\n{FIXED}",
    )


def test_what_persists_can_be_empty_too(tmp_path: Path) -> None:
    nothing = "//! nodes=a,b\nm(a, b); got(Y)@async :- m(X, Y), m(Y, X); got(Y)@next :- got(Y);"
    beware = (
        "no relation that persists has a row at the end of this run, so that there is nothing that could fail."
    )
    code, text = said(PLAIN, nothing, tmp_path)
    assert (code, f"  Beware: {beware}\n" in text) == (0, True)


def test_an_assertion_that_was_taken_away_is_visible(tmp_path: Path) -> None:
    code, text = said(ONCE, PLAIN.replace(", first(X)", ""), tmp_path)
    assert code == 0
    assert text == (f"  fixed: pre(b) is not asked for any more: what must hold is about want, got\n{FIXED}")


def test_several_counterexamples(tmp_path: Path) -> None:
    document = tmp_path / "v.json"
    done = clew("check", "examples/retry-deliv.ded", "--all", "--json", str(document))
    assert done.returncode == 1
    fixed = clew("replay", str(document), "examples/redun-deliv.ded")
    assert fixed.returncode == 0
    assert fixed.stdout.splitlines() == [
        "examples/redun-deliv.ded, EOT 4, nodes a, b, c",
        " 1.",
        "  the message from a to b at time 1 is lost",
        "  a crashes at time 2",
        "  fixed: pre(c, data) is in 'post', too",
        " 2.",
        "  the message from a to c at time 1 is lost",
        "  a crashes at time 2",
        "  fixed: pre(b, data) is in 'post', too",
        "FIXED: all 2 counterexamples",
        "  Other faults may still break it.  To find out:",
        "  clew check examples/redun-deliv.ded --nodes a,b,c --eot 4 --eff 2 --crashes 1 --delays 0",
    ]
    failing = clew("replay", str(document))
    assert failing.returncode == 1
    assert failing.stdout.endswith("STILL FAILS: 2 of 2 counterexamples\n")


def test_half_a_fix_is_none(tmp_path: Path) -> None:
    two = ONCE.replace("nodes=a,b", "nodes=a,b,c").replace("want(a, b);", "want(a, b); want(a, c);")
    checked(tmp_path, two, "--all")
    done = replayed(tmp_path, two + 'got("c") :- want("c", "c");\nwant("c", "c")@2;')
    assert done.returncode == 1, done.stderr
    assert done.stdout.endswith("STILL FAILS: 1 of 2 counterexamples\n")
    assert done.stdout.count("still fails: pre(b)") == 1
    assert done.stdout.count("fixed: pre(c) is in 'post', too") == 1


@pytest.mark.parametrize(
    "name",
    first_of(["kafka", "simple-deliv", "2pc", "3pc", "bully-le-lossy", "paxos-forgetful", "flux-eager-ack"], 5),
)
def test_what_check_finds_replay_finds(name: str, tmp_path: Path) -> None:
    document = str(tmp_path / "v.json")
    assert clew("check", f"examples/{name}.ded", "--json", document).returncode == 1
    done = clew("replay", document)
    assert (done.returncode, done.stderr) == (1, "")
    assert "(before: " not in done.stdout
    see = re.search(r"  see: clew (run .*)", done.stdout)
    assert see is not None
    assert clew(*shlex.split(see.group(1))).returncode == 1


def test_delays_and_numbered_nodes(tmp_path: Path) -> None:
    program = "m(1, 2); got(Y, X)@async :- m(X, Y); got(X, Y)@next :- got(X, Y);"
    checked(tmp_path, program, "--eot", "3", "--delays", "2")
    done = replayed(tmp_path, program)
    assert done.returncode == 1
    assert "  the message from 1 to 2 at time 1 arrives 2 steps late\n  still fails: got(2, 1)\n" in done.stdout


def test_several_files_form_the_program(tmp_path: Path) -> None:
    rules, claim = ONCE.split("pre", 1)
    (tmp_path / "p.ded").write_text(rules, encoding="utf-8")
    (tmp_path / "claim.ded").write_text(f"pre{claim}", encoding="utf-8")
    assert clew("check", "p.ded", "claim.ded", "--json", "v.json", cwd=tmp_path).returncode == 1
    done = clew("replay", "v.json", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout.startswith("p.ded claim.ded, EOT 4")
    moved = tmp_path / "moved"
    moved.mkdir()
    (tmp_path / "p.ded").rename(moved / "p.ded")
    assert clew("replay", "v.json", cwd=tmp_path).returncode == 2
    assert clew("replay", "v.json", "moved/p.ded", "claim.ded", cwd=tmp_path).returncode == 1


def test_warnings_are_told_once(tmp_path: Path) -> None:
    two = ONCE.replace("nodes=a,b", "nodes=a,b,c").replace("want(a, b);", "want(a, b); want(a, c);")
    checked(tmp_path, two, "--all")
    done = replayed(tmp_path, two + "want(a, d);")
    assert done.returncode == 1
    assert done.stderr.count("messages from or to the unknown node 'd' get lost") == 1


# -- exit code 2 -------------------------------------------------------------------------------------------------


def refused(done: subprocess.CompletedProcess[str]) -> str:
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.count("error: ") == 1
    assert done.stderr.count("  remedy: ") == 1
    return done.stderr


@pytest.mark.parametrize("text", ["certified", "incomplete"])
def test_only_counterexamples_can_be_replayed(text: str, tmp_path: Path) -> None:
    flags = ("--strategy", "random", "--max-runs", "1") if text == "incomplete" else ()
    (tmp_path / "p.ded").write_text(AGAIN, encoding="utf-8")
    clew("check", "p.ded", "--json", "v.json", *flags, cwd=tmp_path)
    message = refused(clew("replay", "v.json", cwd=tmp_path))
    assert f"v.json: the verdict is '{text}', and only a counterexample can be replayed" in message
    assert "run clew check again" in message


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "error: v.json: no such file"),
        (b"", "error: v.json: is empty"),
        (b"\xff\xfe", "error: v.json: not UTF-8 text"),
        (b'{\n  "format": clew', "v.json:2:13: error: not JSON: expecting value\n"),
        (b"[" * 100_000, "error: v.json: lists and objects are nested too deeply"),
        (b"[]", "error: v.json: expected an object, found a list of 0"),
        (b"{}", "error: v.json: does not say what it is: the field 'format' is missing"),
        (
            b'{"format": "recipe"}',
            'error: v.json: format: expected "clew verdict" or "clew check of code" or "clew-recording", '
            "found the string 'recipe'",
        ),
        (b'{"format": []}', "error: v.json: format: expected the name of a format, found a list of 0"),
        (b'{"format": "clew verdict", "version": 3}', "error: v.json: version 3 is newer than version 2"),
        (b'{"format": "clew verdict", "version": 1}', "error: v.json: the field 'files' is missing"),
    ],
)
def test_bad_documents(content: bytes | None, says: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "v.json").write_bytes(content)
    assert says in refused(clew("replay", "v.json", cwd=tmp_path))


def test_a_folder_as_the_document(tmp_path: Path) -> None:
    assert "error: .: is a folder" in refused(clew("replay", ".", cwd=tmp_path))


def test_a_place_in_the_document_is_named(tmp_path: Path) -> None:
    checked(tmp_path, ONCE)
    document = json.loads((tmp_path / "v.json").read_text(encoding="utf-8"))
    document["counterexamples"][0]["losses"].append(["a", "z", 1])
    (tmp_path / "v.json").write_text(json.dumps(document), encoding="utf-8")
    message = refused(clew("replay", "v.json", cwd=tmp_path))
    assert "v.json: counterexamples[0].losses[1]: the fault O(a,z,1) is not possible" in message


def test_the_program_has_moved(tmp_path: Path) -> None:
    checked(tmp_path, ONCE)
    (tmp_path / "p.ded").rename(tmp_path / "q.ded")
    message = refused(clew("replay", "v.json", cwd=tmp_path))
    assert "v.json: the program was checked from p.ded, and there is no such file here" in message
    assert "clew replay v.json FILE..." in message
    assert clew("replay", "v.json", "q.ded", cwd=tmp_path).returncode == 1
    assert "gone.ded: no such file" in refused(clew("replay", "v.json", "gone.ded", cwd=tmp_path))


def test_a_verdict_from_python_names_no_file(tmp_path: Path) -> None:
    verdict = library.check(library.parse_program(ONCE), nodes=["a", "b"], eot=4, eff=2)
    (tmp_path / "v.json").write_text(to_json(verdict), encoding="utf-8")
    (tmp_path / "p.ded").write_text(ONCE, encoding="utf-8")
    message = refused(clew("replay", "v.json", cwd=tmp_path))
    assert "v.json: names no file" in message and "clew replay v.json FILE..." in message
    assert clew("replay", "v.json", "p.ded", cwd=tmp_path).returncode == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "the program is empty"),
        ("p(X) :- q(Y);", "p.ded:1:1: error: the variable X in the head of 'p' is not bound"),
        ("p(a, b)@1;", "the program says nothing about what must hold"),
        ("pre(X) :- q(X); q(a);", "p.ded:1:1: error: the program defines 'pre' but not 'post'"),
        (
            AGAIN.replace("a, b", "x, y").replace("(a)", "(x)"),
            "a counterexample has faults at 'a', which the program does not mention",
        ),
        (
            NOTHING.replace("a, b", "x, y").replace("(a)", "(x)"),
            "a counterexample has faults at 'a', which the program does not mention",
        ),
    ],
    ids=["empty", "unbound", "nothing must hold", "pre without post", "nodes renamed", "and nothing fails"],
)
def test_programs_that_cannot_be_replayed(text: str, says: str, tmp_path: Path) -> None:
    checked(tmp_path, ONCE)
    done = replayed(tmp_path, text)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert says in done.stderr
    assert "FIXED" not in done.stdout


def test_faults_at_nodes_that_the_program_never_mentioned_are_no_obstacle(tmp_path: Path) -> None:
    checked(tmp_path, ONCE, "--nodes", "a,b,extra", "--crashes", "1")
    document = json.loads((tmp_path / "v.json").read_text(encoding="utf-8"))
    document["counterexamples"][0]["crashes"] = [["extra", 1]]
    (tmp_path / "v.json").write_text(json.dumps(document), encoding="utf-8")
    done = replayed(tmp_path, ONCE)
    assert done.returncode == 1, done.stderr
    assert "  extra crashes at time 1\n" in done.stdout


def test_what_a_terminal_would_obey_is_shown_escaped(tmp_path: Path) -> None:
    checked(tmp_path, ONCE)
    document = json.loads((tmp_path / "v.json").read_text(encoding="utf-8"))
    document["counterexamples"][0]["violated"][0]["row"] = ["\x1b[2J\ud800\n"]
    document["files"] = ["\x1b]0;owned"]
    (tmp_path / "v.json").write_text(json.dumps(document), encoding="utf-8")
    (tmp_path / "\x1b]0;owned").write_text(AGAIN, encoding="utf-8")
    done = clew("replay", "v.json", cwd=tmp_path, PYTHONIOENCODING="utf-8:strict")
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
    assert r"fixed: pre(\x1b[2J\ud800\n) is no longer in 'pre'" in done.stdout


def test_bad_usage_and_help() -> None:
    missing = clew("replay")
    assert missing.returncode == 2 and "Missing argument 'DOCUMENT.json'" in missing.stderr
    shown = clew("replay", "--help")
    assert shown.returncode == 0
    assert " replay [OPTIONS] DOCUMENT.json [FILE]...\n" in shown.stdout
    assert "Exit code: 0 if all are fixed, 1 if one still fails, 2 " in " ".join(shown.stdout.split())
    assert re.search(
        r"replay +Run a recording or the counterexamples of a verdict again\.\n", clew("--help").stdout
    )


# -- exit code 3 -------------------------------------------------------------------------------------------------


def test_ctrl_c_ends_it(tmp_path: Path) -> None:
    """More counterexamples than the pipe has room for, so that there is time to press it."""
    checked(tmp_path, ONCE)
    document = json.loads((tmp_path / "v.json").read_text(encoding="utf-8"))
    document["spec"] |= {"eot": 9, "eff": 9}
    (found,) = document["counterexamples"]
    document["counterexamples"] = [
        {**found, "losses": [["a", "b", 1], ["a", "b", first], ["b", "a", second]]}
        for first in range(2, 9)
        for second in range(1, 9)
    ]
    (tmp_path / "v.json").write_text(json.dumps(document), encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "clew", "replay", "v.json"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        pipesize=4096,
    )
    assert process.stdout is not None
    while process.stdout.readline() != " 2.\n":
        assert process.poll() is None
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    # Nobody reads what it prints: until it is interrupted it cannot go on.
    assert process.wait(timeout=60) == 3
    assert process.communicate()[1] == "interrupted\n"


def test_the_output_does_not_depend_on_the_hash_seed(tmp_path: Path) -> None:
    document = str(tmp_path / "v.json")
    clew("check", "examples/3pc.ded", "--json", document)
    outputs = {clew("replay", document, PYTHONHASHSEED=seed).stdout for seed in ("1", "2", "3")}
    assert len(outputs) == 1
    assert ROOT.as_posix() not in outputs.pop()
