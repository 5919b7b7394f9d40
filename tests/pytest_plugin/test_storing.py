"""Where failures are stored: names that no test id can lead astray, and files that belong together."""

from __future__ import annotations

import multiprocessing
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.pytest_plugin.storing import Slot, forget, name_of_test, read_stored_text, store

IDS = st.text(max_size=300) | st.from_regex(r"tests/[a-z/.]{0,20}\.py::test\[[^\n]{0,20}\]", fullmatch=True)


@given(IDS, IDS)
def test_a_name_is_safe_and_short_and_no_other_test_has_it(one: str, other: str) -> None:
    name = name_of_test(one)
    assert re.fullmatch("[a-z0-9-]{33,93}", name)
    assert (name == name_of_test(other)) == (one == other)


def test_names_can_be_read_and_differ_where_systems_see_no_difference() -> None:
    assert name_of_test("tests/test_a.py::test_b[1]")[:-33] == "tests-test-a-py-test-b-1"
    assert name_of_test("t.py::test_A") != name_of_test("t.py::test_a")
    assert name_of_test("t.py::t[../../x]")[:-33] == "t-py-t-x"
    assert name_of_test("\udc80") != name_of_test("\udc81")  # half a character, as a parameter may have


def test_what_is_stored_is_read_again_as_long_as_it_belongs_together(tmp_path: Path) -> None:
    slot = Slot(tmp_path / "deep" / ".clew" / "x.json", True)
    assert not slot.is_taken
    assert store(slot, "{}", ["first", "second"]) is None
    assert slot.is_taken
    assert slot.document.read_text() == "{}"
    assert read_stored_text(slot) == ["first", "second"]
    assert (slot.document.parent / ".gitignore").read_text().endswith("\n*\n")
    slot.document.write_text("{ }")
    assert read_stored_text(slot) is None
    store(slot, "{}", ["\x1b[31mred"])
    assert read_stored_text(slot) == [r"\x1b[31mred"]
    slot.text.write_text("")
    assert read_stored_text(slot) is None
    forget(slot)
    forget(slot)
    assert sorted(f.name for f in slot.document.parent.iterdir()) == [".gitignore"]


def test_a_folder_that_somebody_chose_is_left_to_git(tmp_path: Path) -> None:
    assert store(Slot(tmp_path / "x.json", False), "{}", []) is None
    assert sorted(f.name for f in tmp_path.iterdir()) == ["x.json", "x.txt"]


@pytest.mark.parametrize("blocked", ["a file", "a folder in its place"])
def test_what_cannot_be_stored_is_said(tmp_path: Path, blocked: str) -> None:
    if blocked == "a file":
        (tmp_path / "f").write_text("")
        slot = Slot(tmp_path / "f" / "x.json", False)
    else:
        slot = Slot(tmp_path / "x.json", False)
        slot.document.mkdir()
    problem = store(slot, "{}", [])
    assert problem is not None
    assert problem.startswith(f"{slot.document}: ")


def test_two_that_store_the_same_leave_one_of_them_whole(tmp_path: Path) -> None:
    slot = Slot(tmp_path / "x.json", True)
    contents = [f'{{"by": {number}, "long": "{"x" * 100_000}"}}' for number in range(2)]

    def store_often(number: int) -> None:
        for _ in range(20):
            assert store(slot, contents[number], [f"by {number}"]) is None

    fork = multiprocessing.get_context("fork")
    both = [fork.Process(target=store_often, args=(number,)) for number in range(2)]
    for process in both:
        process.start()
    for process in both:
        process.join()
    assert [process.exitcode for process in both] == [0, 0]
    number = contents.index(slot.document.read_text())
    # A text of the other one is known to be that, and not shown.
    assert read_stored_text(slot) in ([f"by {number}"], None)
