"""The programs that the benchmark measures do what they are measured for."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest
from benchmarks.bloom_maintain import LATTICES, VIEWS, NameNode, measure_clicks, measure_requests

from clew.bloom.runtime import endless


def paths_of(files: dict[int, tuple[int, str]]) -> dict[str, int]:
    """The paths of files that are there with all directories above, by following each to the root."""
    found = {}
    for number in files:
        names, here = [], number
        while here in files and files[here][0] != -1:
            parent, name = files[here]
            names.append(name)
            here = parent
        if here in files:
            found["".join("/" + name for name in reversed(names))] = number
    return found


@pytest.mark.parametrize("at_once", [1, 1_000_000])
def test_paths_follow_files_that_come_go_and_move(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # The rows of a round are joined in portions, which are small where there are many rows.
    monkeypatch.setattr(endless, "_JOINED_AT_ONCE", at_once)
    node = NameNode()
    files = {0: (-1, ""), 1: (0, "a"), 2: (1, "b"), 3: (2, "c"), 4: (0, "d"), 5: (2, "e")}

    def step() -> None:
        assert node.tick().refused == ()
        assert {row.path: row.number for row in node.path} == paths_of(files)

    def change(number: int, to: tuple[int, str] | None) -> None:
        if number in files:
            parent, name = files.pop(number)
            node.machine.delete("file", [(number, parent, name, True)])
        if to is not None:
            files[number] = to
            node.file.insert((number, *to, True))

    node.file.insert(*((number, *file, True) for number, file in files.items()))
    step()
    # A directory with all in it: another name, another place, gone, and back.
    for number, to in ((1, (0, "x")), (2, (4, "b")), (4, None), (4, (0, "d")), (0, None), (0, (-1, ""))):
        change(number, to)
        step()
    node.exists.insert((9, "/d/b/c"))
    node.list_dir.insert((8, "/d/b"))
    node.tick()
    assert list(map(tuple, node.answer)) == [(8, "c"), (8, "e"), (9, 3)]


def test_all_that_is_measured_runs() -> None:
    found = measure_requests(2_000)
    assert all(getattr(found, field.name).usual > 0 for field in fields(found))
    assert measure_clicks(20) > 0


@pytest.mark.parametrize("view", LATTICES)
def test_each_lattice_keeps_its_rows(view: type[Any]) -> None:
    node = view()
    for number in range(6):
        node.log.insert((number, number % 3))
        node.tick()
    assert len(node.out) == 6


@pytest.mark.parametrize("view", VIEWS)
def test_each_view_keeps_its_rows(view: type[Any]) -> None:
    node, fresh = view(), view()
    rows = [(number, number % 3) for number in range(20)]
    for number in range(0, 20, 4):
        node.log.insert(*rows[number : number + 4])
        node.other.insert(rows[number])
        node.tick()
    node.machine.delete("log", rows[5:9])
    node.tick()
    fresh.log.insert(*rows[:5], *rows[9:])
    fresh.other.insert(*rows[::4])
    fresh.tick()
    assert list(node.out) == list(fresh.out) != []
