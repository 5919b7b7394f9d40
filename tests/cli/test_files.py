"""Files that commands write: whole or not at all, and never at the price of the answer."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from command import ROOT, clew
from scenario_files import CRASH, scenario_file

CERTIFIED = "examples/redun-deliv.ded"
BROKEN = "examples/kafka.ded"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device here that is always full")
@pytest.mark.parametrize("flag", ["--json", "--junit", "--report", "--proof"])
def test_a_full_disk_is_no_counterexample(flag: str) -> None:
    done = clew("check", CERTIFIED, flag, "/dev/full")
    assert done.returncode == 4  # nothing is wrong with the program or the command line
    assert done.stdout.startswith("CERTIFIED")
    assert "/dev/full cannot be written (No space left on device)" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_reader_that_leaves_early_changes_neither_exit_code_nor_files(tmp_path: Path) -> None:
    page, document = tmp_path / "page.html", tmp_path / "verdict.json"
    command = [sys.executable, "-m", "clew", "check", CERTIFIED, "--report", str(page), "--json", str(document)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert page.stat().st_size > 1000 and document.stat().st_size > 100


def test_a_link_is_followed_and_stays(tmp_path: Path) -> None:
    link, target = tmp_path / "link.html", tmp_path / "target.html"
    link.symlink_to(target)
    assert clew("check", BROKEN, "--report", str(link)).returncode == 1
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_program_that_is_refused_leaves_no_file(tmp_path: Path) -> None:
    bad, page = tmp_path / "bad.ded", tmp_path / "page.html"
    bad.write_text("p(X) :- ", encoding="utf-8")
    assert clew("check", str(bad), "--report", str(page)).returncode == 2
    assert not page.exists()


def test_an_earlier_file_is_kept_until_the_new_one_is_whole(tmp_path: Path) -> None:
    bad, page = tmp_path / "bad.ded", tmp_path / "page.html"
    bad.write_text("p(X) :- ", encoding="utf-8")
    page.write_text("earlier", encoding="utf-8")
    clew("check", str(bad), "--report", str(page))
    assert page.read_text(encoding="utf-8") == "earlier"
    clew("check", BROKEN, "--report", str(page))
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert [p.name for p in tmp_path.iterdir() if p.suffix == ".part"] == []


@pytest.mark.parametrize(
    "words", [("check", BROKEN, "--report"), ("run", BROKEN, "--svg"), ("run", BROKEN, "--lineage")]
)
@pytest.mark.parametrize("path", ["-", "", "no/such/folder/x", "examples"])
def test_what_cannot_be_written_is_refused_before_the_search(words: tuple[str, ...], path: str) -> None:
    done = clew(*words, path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "remedy: give" in done.stderr


def test_a_name_in_an_error_cannot_steer_the_terminal(tmp_path: Path) -> None:
    document = tmp_path / "verdict.json"
    clew("check", BROKEN, "--json", str(document))
    text = document.read_text(encoding="utf-8").replace('"examples/kafka.ded"', '"\\u001b[31mred.ded"')
    document.write_text(text, encoding="utf-8")
    done = clew("replay", str(document))
    assert done.returncode == 2
    assert "\x1b" not in done.stderr and "\\x1b[31mred.ded" in done.stderr


def test_a_terminal_without_box_characters_tells_names_apart(tmp_path: Path) -> None:
    program = tmp_path / "umlaut.ded"
    program.write_text(
        '//! nodes=ä,ö eot=3 eff=2 crashes=0\ncast("ä", "ö");\nlog(Y)@async :- cast(X, Y);\n'
        "log(X)@next :- log(X);\npre(X) :- cast(X, _)@1;\npost(X) :- cast(X, Y)@1, log(Y);\n",
        encoding="utf-8",
    )
    done = clew("check", str(program), PYTHONIOENCODING="ascii")
    assert done.returncode == 1, done.stderr
    explained = done.stdout.partition("replay:")[2].partition("\n")[2]
    assert explained.isascii() and "?" not in explained
    assert "X log \\xe4->\\xf6@1" in explained


def test_a_name_that_is_no_utf8_is_printed_for_the_shell(tmp_path: Path) -> None:
    program = os.fsencode(tmp_path) + b"/\xff.ded"
    Path(os.fsdecode(program)).write_bytes((ROOT / "examples" / "kafka.ded").read_bytes())
    done = clew("check", os.fsdecode(program))
    assert done.returncode == 1, done.stderr
    assert "\\0377.ded')\" --nodes" in done.stdout


NAME = "x\x1b[31mred\ny"


def test_names_of_written_files_stand_in_one_line_and_cannot_steer_the_terminal(tmp_path: Path) -> None:
    shown = r"x\x1b[31mred\ny"
    scenario_file(tmp_path, CRASH)
    fuzzed = clew("fuzz", "s.py", "-o", f"{NAME}.json", cwd=tmp_path)
    assert f"  recorded in {shown}.json\n" in fuzzed.stdout
    again = clew("replay", f"{NAME}.json", cwd=tmp_path)
    assert again.returncode == 1, again.stderr
    done = clew("minimize", f"{NAME}.json", "-o", f"{NAME}2.json", "--report", f"{NAME}.html", cwd=tmp_path)
    assert f"  recorded in {shown}2.json\n" in done.stdout
    assert done.stderr == f"the report is in {shown}.html\n"
    for line in (fuzzed.stdout + done.stdout).splitlines():
        if "replay:   clew " in line:
            words = f"printf '%s|' {line.partition('clew replay ')[2]}"
            read = subprocess.run(["sh", "-c", words], capture_output=True, text=True, check=True).stdout
            assert read.split("|")[0] in (f"{NAME}.json", f"{NAME}2.json")
