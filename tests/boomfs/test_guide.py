"""What docs/boomfs.md shows works as it is shown, on a cluster of the tests."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pandas
import pytest
from click.testing import CliRunner

from clew.boomfs.client.filesystem import BoomFileSystem
from clew.boomfs.command import main
from clew.boomfs.local_cluster import LocalCluster

GUIDE = (Path(__file__).parents[2] / "docs" / "boomfs.md").read_text(encoding="utf-8")


def _lines() -> list[list[str]]:
    """Return the commands that the page shows, word by word."""
    blocks = re.findall(r"```sh\n(.*?)```", GUIDE, re.DOTALL)
    found = [shlex.split(line, comments=True) for block in blocks for line in block.splitlines()]
    return [words for words in found if words]


def test_the_commands_of_the_guide(
    cluster: LocalCluster, shared: BoomFileSystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, *others = _lines()
    # Started by test_command, with these options.
    assert first == ["boomfs", "up", "--namenodes", "3", "--datanodes", "4", "--dir", "DIR"]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "big.csv").write_bytes(b"1,2\n" * 300_000)
    for words in others:
        if words[0] == "boomfs":
            result = CliRunner().invoke(main, words[1:], env={"BOOMFS_NAMENODES": cluster.namenodes})
            assert result.exit_code == 0, (words, result.output)
    assert (tmp_path / "copy.csv").read_bytes() == b"1,2\n" * 300_000
    assert not shared.exists("/data")


def test_the_python_example_of_the_guide(cluster: LocalCluster, shared: BoomFileSystem) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    exec(compile(block.replace("127.0.0.1:40001", cluster.namenodes), "boomfs.md", "exec"), {})
    assert shared.cat_file("/hello.txt") == b"hello"
    assert len(pandas.read_parquet(f"boomfs://{cluster.namenodes}/n.parquet")) == 10
    shared.rm(["/hello.txt", "/n.parquet"])


def test_all_commands_have_help() -> None:
    assert set(main.commands) == {
        *("put", "get", "ls", "rm", "mkdir", "tree", "status"),
        *("up", "namenode", "datanode"),
    }
    for name in main.commands:
        result = CliRunner().invoke(main, [name, "--help"])
        assert result.exit_code == 0 and len(result.output.splitlines()) > 4
