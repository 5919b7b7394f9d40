"""The command ``boomfs``: files in a cluster, and a cluster of its own."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from clew.boomfs.client.filesystem import BoomFileSystem
from clew.boomfs.command import main
from clew.boomfs.local_cluster import LocalCluster, Plan

Run = Callable[..., Result]
#: More than any of it takes on a busy machine.
_DEADLINE = 120.0


@pytest.fixture
def run(cluster: LocalCluster) -> Run:
    def act(*words: object) -> Result:
        return CliRunner().invoke(main, ["--namenodes", cluster.namenodes, *map(str, words)], prog_name="boomfs")

    return act


def test_files_go_there_and_back(run: Run, folder: str, tmp_path: Path) -> None:
    here = tmp_path / "here"
    (here / "deep").mkdir(parents=True)
    (here / "deep" / "x").write_bytes(b"x" * 700_000)
    (here / "empty").touch()
    assert run("put", here / "deep" / "x", f"{folder}/x").exit_code == 0
    assert run("get", f"{folder}/x", tmp_path / "back").exit_code == 0
    assert (tmp_path / "back").read_bytes() == b"x" * 700_000
    assert run("put", "-r", here, f"{folder}/there").exit_code == 0
    assert run("get", "-r", f"{folder}/there", tmp_path / "again").exit_code == 0
    assert (tmp_path / "again" / "deep" / "x").read_bytes() == b"x" * 700_000
    assert (tmp_path / "again" / "empty").read_bytes() == b""
    assert run("ls", folder).output == "there/\nx\n"
    assert run("ls", "-l", folder).output.splitlines()[1].split()[0] == "700000"
    assert run("tree", f"{folder}/there").output == f"{folder}/there\n├── deep/\n│   └── x\n└── empty\n"
    assert run("rm", "-r", f"{folder}/there").exit_code == 0
    assert run("rm", f"{folder}/x").exit_code == 0
    assert run("ls", folder).output == ""


def test_folders_are_made_once(run: Run, folder: str) -> None:
    assert run("mkdir", f"{folder}/a").exit_code == 0
    assert run("mkdir", "-p", f"{folder}/a/b/c").exit_code == 0
    assert run("mkdir", "-p", f"{folder}/a/b/c").exit_code == 0
    assert run("tree", folder).output == f"{folder}\n└── a/\n    └── b/\n        └── c/\n"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("ls", "{}/none"), "{}/none: No such file or directory"),
        (("tree", "{}/none"), "{}/none: No such file or directory"),
        (("rm", "{}/none"), "{}/none: No such file or directory"),
        (("get", "{}/none", "x"), "{}/none: No such file or directory"),
        (("mkdir", "{}/d"), "{}/d: File exists"),
        (("mkdir", "{}/x/y"), "{}/x: No such file or directory"),
        (("rm", "{}/d"), "{}/d is a folder: give -r"),
        (("get", "{}/d", "x"), "{}/d is a folder: give -r"),
        (("put", ".", "{}/d"), ". is a folder: give -r"),
        (("put", "no-such-file", "{}/d"), "no-such-file: no such file"),
        (("ls", "{}/../x"), "is not a path"),
        (("rm", "-r", "/"), "/: Operation not permitted"),
    ],
)
def test_what_goes_wrong_is_told_in_a_line(run: Run, folder: str, words: tuple[str, ...], told: str) -> None:
    run("mkdir", f"{folder}/d")
    result = run(*(word.format(folder) for word in words))
    assert (result.exit_code, result.output.count("\n")) == (1, 1), result.output
    assert result.output.startswith("Error: ")
    if words[0] != "mkdir" or words[1] != "{}/x/y":
        assert told.format(folder) in result.output


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--namenodes", "nowhere", "ls"), "'nowhere' is not the address of a NameNode"),
        (("ls",), "give --namenodes HOST:PORT, or set BOOMFS_NAMENODES"),
        (("up", "--dir", "x", "--datanodes", "0"), "0 is not in the range x>=1"),
        (("up", "--dir", "x", "--replicas", "17"), "give a number from 1 to 16"),
        (("namenode", "0", "0", "--dir", "{}"), "make one with 'boomfs up --dir FOLDER'"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    words: tuple[str, ...], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BOOMFS_NAMENODES", raising=False)
    result = CliRunner().invoke(main, [word.format(tmp_path) for word in words], prog_name="boomfs")
    assert result.exit_code in (1, 2)
    assert told in result.output


@pytest.mark.parametrize("words", [("ls",), ("status",)])
def test_a_cluster_that_is_away_is_no_answer_about_it(words: tuple[str, ...]) -> None:
    """``status`` ends with 1 where chunks are lost."""
    options = ["--namenodes", "127.0.0.1:1", "--patience", "0.5"]
    result = CliRunner().invoke(main, [*options, *words], prog_name="boomfs")
    assert result.exit_code == 4
    assert "is it up, and is 127.0.0.1:1 its address?" in result.output


def test_standard_output_without_room_is_a_failure() -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        command = [sys.executable, "-m", "clew.boomfs", "--help"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (4, "Error: No space left on device\n")


def test_status_counts_and_names_what_is_lost(run: Run, shared: BoomFileSystem, folder: str) -> None:
    shared.pipe_file(f"{folder}/x", b"x" * 700_000)
    result = run("status")
    assert result.exit_code == 0
    assert result.output.startswith("partition 0: ")
    assert result.output.count("DataNode 127.0.0.1:") == 3
    assert " 0 lost" in result.output


# -- clusters ----------------------------------------------------------------------------------------------------


@pytest.fixture
def up(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start ``boomfs up``, and wait until it says that it is up."""
    started: list[subprocess.Popen[str]] = []

    def begin(*words: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "clew.boomfs", "up", "--dir", str(tmp_path / "cluster"), *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def _read_until(process: subprocess.Popen[str], end: str) -> str:
    assert process.stdout is not None
    told = ""
    for line in process.stdout:
        told += line
        if end in line:
            break
    return told


def _wait_until_nobody_listens(plan: Plan) -> None:
    deadline = time.monotonic() + _DEADLINE
    for where in [*(addr for group in plan.namenodes for addr in group), *(data for _, data in plan.datanodes)]:
        host, _, port = where.rpartition(":")
        while True:
            with socket.socket() as probe:
                if probe.connect_ex((host, int(port))) != 0:
                    break
            assert time.monotonic() < deadline
            time.sleep(0.1)


def test_ctrl_c_ends_a_cluster_and_its_files_are_there_again(
    up: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    first = up("--namenodes", "3", "--datanodes", "4")
    told = _read_until(first, "it is up")
    plan = Plan.read(tmp_path / "cluster")
    assert "1 partition of 3 NameNodes each, 4 DataNodes, 3 replicas" in told
    assert f"export BOOMFS_NAMENODES={','.join(plan.namenodes[0])}" in told
    fs = BoomFileSystem(list(plan.namenodes[0]), skip_instance_cache=True)
    fs.pipe_file("/x", b"still there")
    # What runs in this folder is told, not disturbed.
    second = up()
    assert "has not started: " in _read_until(second, "remedy: end what is at its address")
    assert second.wait(_DEADLINE) == 1
    assert fs.cat_file("/x") == b"still there"
    first.send_signal(signal.SIGINT)
    assert first.wait(_DEADLINE) == 0
    assert _read_until(first, "ended").endswith("ended\n")
    _wait_until_nobody_listens(plan)
    again = up("--namenodes", "1")
    assert "has a cluster already: --namenodes not used" in _read_until(again, "it is up")
    assert fs.cat_file("/x") == b"still there"
    fs.close()
    # Also if it is killed, nothing is left running.
    os.kill(again.pid, signal.SIGKILL)
    _wait_until_nobody_listens(plan)
