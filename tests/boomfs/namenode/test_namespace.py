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
    return command, path, None


def _number(namenode: TickingNameNode, path: str) -> int:
    ok, found = namenode.ask("stat", path)
    return int(found[0]) if ok else 0


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
        # Who adds a chunk means the file that has the path now.
        meant = [(c, p, model.nodes.get(p) if c == "add_chunk" else arg) for c, p, arg in commands]
        asked = [(c, p, (_number(namenode, p), ()) if c == "add_chunk" else arg) for c, p, arg in commands]
        expected = [model.apply(*command) for command in meant]
        found = [True if ok else why for ok, why in namenode.ask_together(asked)]
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
        assert {row[:6] for row in namenode.take("response")} == {("s", 1, 0, 1, True, 1)}
    namenode.repeat("s", 2, "remove", "/x", False)
    namenode.run()
    assert [row[:6] for row in namenode.take("response")] == [("s", 2, 0, 1, True, None)]
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
        ("add_chunk", "/a", (1, ("x",) * 65)),
        ("add_chunk", "/a", ("1", ())),
        ("add_chunk", "/a", ()),
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
    assert [row[:6] for row in namenode.take("response")] == [("s", 1, 0, 1, False, "EINVAL")]
    assert _tree(namenode) == {"/": True}


def test_nobody_speaks_for_the_namenode() -> None:
    namenode = TickingNameNode()
    namenode.repeat("!nn 1", 1, "mkdir", "/a", None)
    namenode.run()
    assert [row[:6] for row in namenode.take("response")] == [("!nn 1", 1, 0, 1, False, "EINVAL")]


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
    namenode.add_chunk("/x")  # nobody finishes it
    assert namenode.ask("stat", "/x")[1][2] == 123
    assert namenode.ask("chunks", "/x") == (True, frozenset(zip(chunks, (100, 20, 3), strict=True)))
    assert chunks == sorted(chunks)
    # Once is enough, and only for the file that it is of.
    assert namenode.ask("seal", "/x", (chunks[0], 5, ("A",))) == (False, "ESTALE")
    namenode.ask("create", "/y", False)
    (_, (chunk, _)) = namenode.add_chunk("/y")
    assert namenode.ask("seal", "/x", (chunk, 5, ("A",))) == (False, "ESTALE")
    # A new file of the same name has nothing of the old one.
    namenode.ask("create", "/x", True)
    assert namenode.ask("stat", "/x")[1][2] == 0
    assert namenode.ask("chunks", "/x") == (True, frozenset())


def test_answers_are_forgotten_after_a_day() -> None:
    namenode = TickingNameNode()
    namenode.ask("create", "/x", False)
    for seconds, left in ((86_000, ["s0000"]), (1_000, [])):
        namenode.now += seconds
        namenode.wait(0.25)
        namenode.node.machine.deliver("sweep", (round(namenode.now), namenode.now))
        namenode.run()
        assert [row.session for row in namenode.node.answered] == left


def test_of_two_that_append_the_slower_one_tries_again() -> None:
    """What was seen of a file stays where it is: no chunk comes before one that readers may have had."""
    namenode = TickingNameNode(Policy(replicas=1))
    namenode.beat("a")
    namenode.ask("create", "/x", False)
    (_, (slow, _)), (_, (fast, _)) = namenode.add_chunk("/x"), namenode.add_chunk("/x")
    assert namenode.ask("seal", "/x", (fast, 10, ("A",))) == (True, None)
    assert namenode.ask("seal", "/x", (slow, 20, ("A",))) == (False, "EAGAIN")
    assert namenode.ask("chunks", "/x") == (True, frozenset({(fast, 10)}))
    assert namenode.ask("abandon", "/x", slow) == (True, None)
    again, _ = namenode.write("/x", 20)
    assert namenode.ask("chunks", "/x") == (True, frozenset({(fast, 10), (again, 20)}))


def test_who_writes_a_file_does_not_write_another_one_of_that_name() -> None:
    namenode = TickingNameNode(Policy(replicas=1))
    namenode.beat("a")
    (_, old), (_, new) = namenode.ask("create", "/x", False), namenode.ask("create", "/x", True)
    assert namenode.ask("add_chunk", "/x", (old, ())) == (False, "ESTALE")
    assert namenode.ask("add_chunk", "/x", (new, ()))[0]


def test_pages_of_an_answer_say_which_change_they_have_seen() -> None:
    """A client that asked twice must not put pages of two answers together."""
    namenode = TickingNameNode()
    assert all(ok for ok, _ in namenode.ask_together([("create", f"/{k}", False) for k in range(300)]))
    namenode.repeat("s", 1, "ls", "/", None)
    namenode.run()
    before = {row[6] for row in namenode.take("response")}
    namenode.ask("remove", "/7", False)
    namenode.repeat("s", 1, "ls", "/", None)
    namenode.run()
    after = {row[6] for row in namenode.take("response")}
    assert (before, after) == ({300}, {301})


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
