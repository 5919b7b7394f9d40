"""Files to one program: includes, the ``//!`` line, and what cannot be read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from clew.bounds import Bounds
from clew.dedalus.loader import LARGEST_FILE, load, read_expectation
from clew.errors import Position, ProgramError
from clew.expectation import Expectation
from clew.node_lists import BareNumber


def write(folder: Path, **files: str) -> Path:
    """Files by their stem, in a new folder; gives the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for stem, text in files.items():
        (folder / f"{stem}.ded").write_text(text, encoding="utf-8")
    return folder


def relations(*paths: Path) -> list[str]:
    return [clause.relation for clause in load(paths).program.clauses]


def refusal(*paths: Path) -> ProgramError:
    with pytest.raises(ProgramError) as caught:
        load(paths)
    assert caught.value.remedy
    return caught.value


# Several files and includes.


def test_several_files_form_one_program_in_order(tmp_path: Path) -> None:
    write(tmp_path, one="p(a);", two="q(a);")
    assert relations(tmp_path / "two.ded", tmp_path / "one.ded") == ["q", "p"]


def test_a_path_may_be_a_string(tmp_path: Path) -> None:
    write(tmp_path, one="p(a);")
    assert [c.relation for c in load([str(tmp_path / "one.ded")]).program.clauses] == ["p"]


def test_an_include_stands_for_the_clauses_of_its_file(tmp_path: Path) -> None:
    write(tmp_path, main='p(a); include "part.ded"; r(a);', part="q(a);")
    assert relations(tmp_path / "main.ded") == ["p", "q", "r"]


def test_positions_name_the_file_as_it_was_found(tmp_path: Path) -> None:
    write(tmp_path, main='include "part.ded";', part="\n q(a);")
    (clause,) = load([tmp_path / "main.ded"]).program.clauses
    assert clause.position == Position(str(tmp_path / "part.ded"), 2, 2)


def test_an_include_is_found_beside_the_including_file(tmp_path: Path) -> None:
    write(tmp_path, main='include "lib/part.ded";', other="wrong(a);")
    write(tmp_path / "lib", part='include "other.ded";', other="right(a);")
    assert relations(tmp_path / "main.ded") == ["right"]


def test_an_include_is_found_beside_the_first_program_file(tmp_path: Path) -> None:
    write(tmp_path / "first", main="p(a);", part="q(a);")
    write(tmp_path / "second", other='include "part.ded";')
    assert relations(tmp_path / "first" / "main.ded", tmp_path / "second" / "other.ded") == ["p", "q"]


def test_an_include_is_not_looked_for_beside_later_program_files(tmp_path: Path) -> None:
    write(tmp_path / "first", main='include "part.ded";')
    write(tmp_path / "second", part="q(a);")
    error = refusal(tmp_path / "first" / "main.ded", tmp_path / "second" / "part.ded")
    assert "'part.ded' does not exist" in error.message


def test_include_cycles_are_fine(tmp_path: Path) -> None:
    write(tmp_path, one='include "two.ded"; p(a);', two='q(a); include "one.ded"; include "two.ded";')
    assert relations(tmp_path / "one.ded") == ["q", "p"]


def test_a_file_is_loaded_once_however_it_is_spelled(tmp_path: Path) -> None:
    write(tmp_path, main='include "part.ded"; include "./part.ded"; include "lib/../part.ded";', part="q(a);")
    write(tmp_path / "lib")
    (tmp_path / "link.ded").symlink_to(tmp_path / "part.ded")
    main, part, link = (tmp_path / f"{stem}.ded" for stem in ("main", "part", "link"))
    assert relations(main, part, main, link) == ["q"]


def test_a_missing_include_has_the_position_of_its_path(tmp_path: Path) -> None:
    write(tmp_path, main='include "lib/part.ded";')
    write(tmp_path / "lib", part='p(a);\n  include "gone.ded";')
    error = refusal(tmp_path / "main.ded")
    assert error.position == Position(str(tmp_path / "lib" / "part.ded"), 2, 11)
    assert error.message == "the included file 'gone.ded' does not exist"
    assert error.remedy == f"looked for {tmp_path / 'lib' / 'gone.ded'} and {tmp_path / 'gone.ded'}"


def test_one_place_is_named_once(tmp_path: Path) -> None:
    write(tmp_path, main='include "gone.ded";')
    assert refusal(tmp_path / "main.ded").remedy == f"looked for {tmp_path / 'gone.ded'}"


@pytest.mark.parametrize("path", ["lib", ""])
def test_an_included_folder_has_the_position_of_its_path(tmp_path: Path, path: str) -> None:
    write(tmp_path, main=f'include "{path}";')
    write(tmp_path / "lib")
    error = refusal(tmp_path / "main.ded")
    assert error.position == Position(str(tmp_path / "main.ded"), 1, 9)
    assert "is a folder" in error.message


def test_an_include_with_an_impossible_name_is_missing(tmp_path: Path) -> None:
    write(tmp_path, main=f'include "{"a" * 5000}";')
    assert refusal(tmp_path / "main.ded").position == Position(str(tmp_path / "main.ded"), 1, 9)


def test_a_long_chain_of_includes_is_no_problem_or_refused(tmp_path: Path) -> None:
    last = 1200
    chain = {f"f{k}": f'include "f{k + 1}.ded";' for k in range(last)}
    write(tmp_path, **chain, **{f"f{last}": "p(a);"})
    try:
        assert relations(tmp_path / "f0.ded") == ["p"]
    except ProgramError as error:
        assert error.position is not None
        assert error.remedy


def test_an_error_in_an_included_file_is_placed_there(tmp_path: Path) -> None:
    write(tmp_path, main='include "part.ded";', part="p(a);\n q(")
    assert refusal(tmp_path / "main.ded").position == Position(str(tmp_path / "part.ded"), 2, 4)


# What cannot be read.


def test_a_missing_file(tmp_path: Path) -> None:
    error = refusal(tmp_path / "gone.ded")
    assert error.message == f"{tmp_path / 'gone.ded'}: no such file"
    assert error.position is None
    assert "check the path" in (error.remedy or "")


def test_a_folder(tmp_path: Path) -> None:
    error = refusal(tmp_path)
    assert error.message == f"{tmp_path}: is a folder"
    assert error.remedy == "name the program files in it"


def test_a_file_below_a_file(tmp_path: Path) -> None:
    write(tmp_path, main="p(a);")
    error = refusal(tmp_path / "main.ded" / "x.ded")
    assert "cannot be read (Not a directory)" in error.message
    assert "permissions" in (error.remedy or "")


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    write(tmp_path, main="p(a);")
    with monkeypatch.context() as patched:
        patched.setattr(os, "open", denied)
        error = refusal(tmp_path / "main.ded")
    assert error.message == f"{tmp_path / 'main.ded'}: cannot be read (Permission denied)"
    assert "permissions" in (error.remedy or "")


def test_a_link_to_itself(tmp_path: Path) -> None:
    (tmp_path / "loop.ded").symlink_to(tmp_path / "loop.ded")
    assert str(tmp_path / "loop.ded") in refusal(tmp_path / "loop.ded").message


def test_a_file_of_the_largest_size(tmp_path: Path) -> None:
    text = "p(a);"
    write(tmp_path, main=text + " " * (LARGEST_FILE - len(text)))
    assert relations(tmp_path / "main.ded") == ["p"]


def test_a_larger_file_is_refused(tmp_path: Path) -> None:
    write(tmp_path, main=" " * (LARGEST_FILE + 1))
    error = refusal(tmp_path / "main.ded")
    assert error.message == f"{tmp_path / 'main.ded'}: is larger than 1 MB"
    assert "include" in (error.remedy or "")


def test_a_larger_included_file_has_the_position_of_its_path(tmp_path: Path) -> None:
    write(tmp_path, main='p(a);\ninclude "large.ded";', large=" " * (LARGEST_FILE + 1))
    assert refusal(tmp_path / "main.ded").position == Position(str(tmp_path / "main.ded"), 2, 9)


@pytest.mark.parametrize(
    ("data", "line", "column"),
    [
        (b"\xff", 1, 1),
        (b"p(a);\n  q(\xe9);", 2, 5),
        (b'p("\xc3")', 1, 4),
        (b"p(a);\n\xfe\xff", 2, 1),
        (b'p("\xed\xb3\xbf");', 1, 4),
    ],
    ids=["lone byte", "latin 1", "cut short", "other encoding", "surrogate"],
)
def test_what_is_not_utf_8_has_a_position(tmp_path: Path, data: bytes, line: int, column: int) -> None:
    (tmp_path / "main.ded").write_bytes(data)
    error = refusal(tmp_path / "main.ded")
    assert error.message == "not UTF-8 text"
    assert error.position == Position(str(tmp_path / "main.ded"), line, column)


# The defaults that a program states.


def defaults(folder: Path, text: str) -> Bounds:
    write(folder, main=text)
    return load([folder / "main.ded"]).defaults


ALL = Bounds(("a", "b"), 6, 3, 1, 2)


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("//! nodes=a,b eot=6 eff=3 crashes=1 delays=2\np(a);", ALL),
        ("//!delays=2   crashes=1\teff=3 eot=6 nodes=a,b,\np(a);", ALL),
        ("//! nodes=a,b eot=6 eff=3 crashes=1 delays=2\r\np(a);", ALL),
        ("//! eot=0 eff=0\np(a);", Bounds(eot=0, eff=0)),
        ("//! eot=999999999\np(a);", Bounds(eot=999999999)),
        ("//! nodes=1,b.c\np(a);", Bounds(nodes=(BareNumber("1"), "b.c"))),
        ('//! nodes="1",+1,"a, b",c eot=3\np(a);', Bounds(nodes=("1", 1, "a, b", "c"), eot=3)),
        ('//! nodes="a""b","//","" eot=3\r\np(a);', Bounds(nodes=('a"b', "//", ""), eot=3)),
        ("//! nodes=\np(a);", Bounds(nodes=())),
        ("//!\np(a);", Bounds()),
        ("// A protocol.\n//\n\n   // in two lines\n//! eot=6\np(a);", Bounds(eot=6)),
        ("\ufeff//! eot=6\np(a);", Bounds(eot=6)),
        ("//! eot=6\n//! eff=3\np(a);", Bounds(eot=6, eff=3)),
        ("/* header */\n  //! eot=6\np(a);", Bounds(eot=6)),
        ("/* //! eot=6 */\np(a);", Bounds()),
        ("p(a);", Bounds()),
        ("", Bounds()),
    ],
)
def test_what_a_program_states(tmp_path: Path, text: str, stated: Bounds) -> None:
    assert defaults(tmp_path, text) == stated


@pytest.mark.parametrize(
    ("text", "line", "column", "message", "remedy"),
    [
        ("//! frob=1\n", 1, 5, "unknown default 'frob'", "nodes=..., eot=..., eff=..., crashes=..., delays=..."),
        ("//! eot=6 Eff=1\n", 1, 11, "unknown default 'Eff'", "eff=..."),
        ("//! nodes=a, b\n", 1, 14, "unknown default 'b'", "nodes=..."),
        ('//! eot=6 nodes=a,"b\n', 1, 19, "a name is not closed", 'close it with "'),
        ('//! nodes=a,b"c"\n', 1, 13, "in the middle of a name", "twice"),
        ("//! nodes='a'\n", 1, 11, "'a' is in single quotes", 'double quotes: "a"'),
        ("//! nodes=a,+99999999999\n", 1, 13, "the number +99999999999 is too large", "2147483647"),
        ("// x\n\n//!eot=6 frob\n", 3, 10, "unknown default 'frob'", "eot=..."),
        ("//! eot=six\n", 1, 5, "'eot=six' does not give a number", "write eot=3"),
        ("//! eot=-1\n", 1, 5, "'eot=-1' does not give a number", "write eot=3"),
        ("//! eot=1.5\n", 1, 5, "'eot=1.5' does not give a number", "write eot=3"),
        ("//! eot= 6\n", 1, 5, "'eot=' does not give a number", "without spaces"),
        ("//! eot\n", 1, 5, "'eot=' does not give a number", "write eot=3"),
        ("//! eff=1 crashes=1000000000\n", 1, 11, "'crashes=1000000000' does not give a number", "crashes=3"),
        ("//! eot=6\n//! eot=7\n", 2, 5, "'eot' is stated twice", "state it once"),
        ("//! expcet=certified\n", 1, 5, "unknown default 'expcet'", "did you mean expect=...?"),
        (
            "//! eot=3 expect=certifed\n",
            1,
            11,
            "unknown answer 'certifed' is expected",
            "did you mean 'certified'?",
        ),
        ("//! expect=safe\n", 1, 5, "unknown answer 'safe'", "one of counterexample, certified, incomplete"),
        ("//! expect=\n", 1, 5, "unknown answer ''", "one of counterexample, certified, incomplete"),
        ("//! expect = certified\n", 1, 12, "unknown default ''", "expect=..., faults=..."),
        ("//! faults=1\n", 1, 5, "and there is no expect", "state expect=counterexample"),
        ("//! faults=1 expect=certified\n", 1, 5, "and there is expect=certified", "expect=counterexample"),
        ("//! expect=counterexample\n//! faults=few\n", 2, 5, "'faults=few' does not give", "write faults=3"),
        ("//! expect=certified\n//! expect=certified\n", 2, 5, "'expect' is stated twice", "state it once"),
        ("q(a);\n//! eot=6\n", 2, 1, "stands before its first clause", "move it to the top"),
        ("q(a); //! eot=6\n", 1, 7, "stands before its first clause", "ordinary comment"),
        ("//! eot=²\n", 1, 5, "'eot=²' does not give a number", "write eot=3"),
    ],
)
def test_a_bad_defaults_line(tmp_path: Path, text: str, line: int, column: int, message: str, remedy: str) -> None:
    write(tmp_path, main=text + "p(a);")
    error = refusal(tmp_path / "main.ded")
    assert error.position == Position(str(tmp_path / "main.ded"), line, column)
    assert message in error.message
    assert remedy in (error.remedy or "")


def test_the_first_file_that_states_something_wins_as_a_whole(tmp_path: Path) -> None:
    write(tmp_path, none="p(a);", one="//! eot=6\nq(a);", two="//! eot=9 eff=3\nr(a);")
    none, one, two = (tmp_path / f"{stem}.ded" for stem in ("none", "one", "two"))
    assert load([none, one, two]).defaults == Bounds(eot=6)
    assert load([two, one]).defaults == Bounds(eot=9, eff=3)


def test_an_included_file_states_nothing_for_the_program(tmp_path: Path) -> None:
    write(tmp_path, main='include "part.ded";', part="//! eot=6 expect=certified\np(a);")
    assert load([tmp_path / "main.ded"]).defaults == Bounds()
    assert load([tmp_path / "main.ded"]).expectation is None


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("//! eot=6 expect=certified\np(a);", Expectation("certified")),
        ("//! faults=0 eot=6 expect=counterexample\np(a);", Expectation("counterexample", 0)),
        ("//! expect=counterexample\n//! faults=12\np(a);", Expectation("counterexample", 12)),
        ("//! expect=incomplete\n", Expectation("incomplete")),
        ("//! eot=6\np(a);", None),
    ],
)
def test_what_a_program_expects(tmp_path: Path, text: str, stated: Expectation | None) -> None:
    write(tmp_path, main=text)
    assert load([tmp_path / "main.ded"]).expectation == stated
    assert read_expectation(tmp_path / "main.ded") == stated


def test_what_a_file_expects_is_of_that_file_alone(tmp_path: Path) -> None:
    write(tmp_path, one="//! expect=certified\nq(a);", two="r(a);")
    assert load([tmp_path / "one.ded", tmp_path / "two.ded"]).expectation is None


def test_nothing_is_quoted_of_a_file_that_is_no_program(tmp_path: Path) -> None:
    """A link may lead to a key: not even its first words are shown."""
    (tmp_path / "key").write_text("//! secret=1\n", encoding="utf-8")
    (tmp_path / "main.ded").symlink_to(tmp_path / "key")
    with pytest.raises(ProgramError) as caught:
        read_expectation(tmp_path / "main.ded")
    assert "secret" not in str(caught.value)
    assert "is not a Dedalus program" in caught.value.message
