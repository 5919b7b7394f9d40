"""The tree against a model of a few lines that applies commands one by one, with many of them in one step."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from boomfs.namenode.ticking import TickingNameNode
from boomfs.namenode.tree_model import TreeModel
from clew.boomfs.paths import partition_of
from clew.boomfs.settings import Policy


def _draw_path(random: Random) -> str:
    return "/" + "/".join(random.choices("abc", k=random.choice([0, 1, 1, 2, 2, 3])))


def _draw_command(random: Random) -> tuple[str, str, Any]:
    command = random.choice(["create", "create", "create", "mkdir", "mkdir", "remove", "rename", "add_chunk"])
    path = _draw_path(random)
    match command:
        case "create" | "remove":
            return command, path, random.random() < 0.5
        case "rename":
            return command, path, _draw_path(random)
        case "add_chunk":
            return command, path, ()
    return command, path, None


def _tree(namenode: TickingNameNode) -> dict[str, bool]:
    """Return all paths, found by listing folder by folder; whether each is a folder."""
    found, waiting = {"/": True}, ["/"]
    while waiting:
        folder = waiting.pop()
        ok, entries = namenode.ask("ls", folder)
        assert ok
        for name, _, is_dir, _, _ in entries:
            path = f"{folder.rstrip('/')}/{name}"
            assert path not in found
            found[path] = is_dir
            if is_dir:
                waiting.append(path)
    return found


@pytest.mark.parametrize("seed", range(12))
def test_concurrent_changes_have_an_order(seed: int) -> None:
    """What is asked for in one step is done one after the other, also if much of it takes effect together."""
    random = Random(seed)
    namenode, model = TickingNameNode(), TreeModel()
    for _ in range(12):
        commands = [_draw_command(random) for _ in range(random.choice([1, 3, 10]))]
        expected = [model.apply(*command) for command in commands]
        found = [True if ok else why for ok, why in namenode.ask_together(commands)]
        assert found == expected, commands
        assert _tree(namenode) == {path: chunks is None for path, chunks in model.nodes.items()}
    # Every path is in fqpath, once, and nothing else is.
    assert sorted(row.path for row in namenode.node.fqpath) == sorted(model.nodes)
    assert namenode.refused == []


def test_repeated_requests_are_answered_again_and_not_done_again() -> None:
    namenode = TickingNameNode()
    for _ in range(3):
        namenode.repeat("s", 1, "create", "/x", False)
        namenode.repeat("s", 1, "create", "/x", False)
        namenode.run()
        assert set(namenode.take("response")) == {("s", 1, 0, 1, True, 1)}
    namenode.repeat("s", 2, "remove", "/x", False)
    namenode.run()
    assert namenode.take("response") == [("s", 2, 0, 1, True, None)]
    # Late, and known to have been answered: it must not make the file again.
    namenode.repeat("s", 1, "create", "/x", False)
    namenode.run()
    assert namenode.take("response") == []
    assert namenode.ask("stat", "/x") == (False, "ENOENT")


@pytest.mark.parametrize(
    ("command", "path", "arg"),
    [
        ("create", "/a/../b", True),
        ("create", "a", True),
        ("create", "/a//b", True),
        ("create", "/a", 1),
        ("create", "/a", None),
        ("rename", "/a", "b"),
        ("rename", "/a", None),
        ("seal", "/a", (1, 2)),
        ("seal", "/a", (1, -2, ())),
        ("seal", "/a", (True, 2, ())),
        ("seal", "/a", (1, 2, (3,))),
        ("add_chunk", "/a", ("x",) * 65),
        ("abandon", "/a", "1"),
        ("mkdir", "/a", 1),
        ("chmod", "/a", None),
        ("ls", 7, None),
        (None, "/a", None),
    ],
)
def test_what_is_no_request_is_refused(command: Any, path: Any, arg: Any) -> None:
    namenode = TickingNameNode()
    namenode.repeat("s", 1, command, path, arg)
    namenode.run()
    assert namenode.take("response") == [("s", 1, 0, 1, False, "EINVAL")]
    assert _tree(namenode) == {"/": True}


def test_nobody_speaks_for_the_namenode() -> None:
    namenode = TickingNameNode()
    namenode.repeat("!nn 1", 1, "mkdir", "/a", None)
    namenode.run()
    assert namenode.take("response") == [("!nn 1", 1, 0, 1, False, "EINVAL")]


def test_large_folders_come_in_pages() -> None:
    namenode = TickingNameNode()
    names = [f"file{k}" for k in range(700)]
    assert all(ok for ok, _ in namenode.ask_together([("create", f"/{name}", False) for name in names]))
    namenode.repeat("s", 1, "ls", "/", None)
    namenode.run()
    pages = namenode.take("response")
    assert {(row[3], row[4]) for row in pages} == {(len(pages), True)} and len(pages) >= 3
    assert sorted(entry[0] for row in pages for entry in row[5]) == sorted(names)
    assert max(len(row[5]) for row in pages) <= 256


def test_sizes_are_those_of_sealed_chunks() -> None:
    namenode = TickingNameNode(Policy(replicas=1))
    namenode.beat("a")
    namenode.ask("create", "/x", False)
    chunks = [namenode.write("/x", length)[0] for length in (100, 20, 3)]
    namenode.ask("add_chunk", "/x", ())  # nobody finishes it
    assert namenode.ask("stat", "/x")[1][2] == 123
    assert namenode.ask("chunks", "/x") == (True, frozenset(zip(chunks, (100, 20, 3), strict=True)))
    assert chunks == sorted(chunks)
    # Once is enough, and only for the file that it is of.
    assert namenode.ask("seal", "/x", (chunks[0], 5, ("A",))) == (False, "ENOENT")
    namenode.ask("create", "/y", False)
    (_, (chunk, _)) = namenode.ask("add_chunk", "/y", ())
    assert namenode.ask("seal", "/x", (chunk, 5, ("A",))) == (False, "ENOENT")
    # A new file of the same name has nothing of the old one.
    namenode.ask("create", "/x", True)
    assert namenode.ask("stat", "/x")[1][2] == 0
    assert namenode.ask("chunks", "/x") == (True, frozenset())


def test_partitions_take_their_own_files_only() -> None:
    namenodes = [TickingNameNode(partition=k, partitions=3) for k in range(3)]
    for path in ("/a", "/b", "/c", "/d", "/e"):
        home = partition_of(path, 3)
        for k, namenode in enumerate(namenodes):
            ok, why = namenode.ask("create", path, False)
            assert ok if k == home else (ok, why) == (False, "EXDEV")
    assert namenodes[0].ask("mkdir", "/folder")[0]
    assert namenodes[0].ask("rename", "/folder", "/other") == (False, "EXDEV")
    mine = next(path for path in ("/a", "/b", "/c", "/d", "/e") if partition_of(path, 3) == 0)
    near, far = (
        next(f"/n{k}" for k in range(100) if (partition_of(f"/n{k}", 3) == 0) is here) for here in (True, False)
    )
    assert namenodes[0].ask("rename", mine, far) == (False, "EXDEV")
    assert namenodes[0].ask("rename", mine, near) == (True, None)
