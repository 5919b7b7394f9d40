"""A CNF that is not that of the ground program is refused, whatever was changed, and so is half a proof."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from clew import parse_program
from clew.budgets.deadline import Deadline
from clew.faults import FailureSpec
from clew.program.checks import check_program
from clew.proof.refuting import Refutation, refute
from clew.verify.archive import Parts
from clew.verify.numbers import read_cnf, read_proof
from clew.verify.refusals import RefusedError, UnreadableError
from clew.verify.verifying import verify
from verify.naive import accepts
from verify.parts import parts_of

#: It has circles within a time, a bound on crashes, and a sum.
PROGRAM = """
link("a", "b")@1; link("b", "c")@1; link("c", "b")@1;
link(X, Y)@next :- link(X, Y);
told(Y, X)@async :- link(X, Y);
told(X, Y)@next :- told(X, Y);
reaches(X, Y) :- told(Y, X);
reaches(X, Z) :- reaches(X, Y), reaches(Y, Z);
heard(X, count<Y>) :- told(X, Y);
pre(X, Y) :- reaches(X, Y), heard(X, N), N > 0;
post(X, Y) :- reaches(X, Y), told(Y, _);
"""
OTHER = PROGRAM.replace("@async", "@next")


@cache
def parts(text: str = PROGRAM) -> Parts:
    program = check_program(parse_program(text)).program
    found = refute(program, FailureSpec(("a", "b", "c"), 3, 2, 1), Deadline(None))
    assert isinstance(found, Refutation)
    return parts_of(found)


def with_part(part: str, content: bytes) -> Parts:
    fields: dict[str, Any] = {part: content}
    return replace(parts(), **fields)


def refused(changed: Parts) -> bool:
    try:
        verify(changed)
    except RefusedError:
        return True
    return False


def _cnf(lines: list[bytes]) -> bytes:
    """Return a CNF that says how many clauses it has."""
    variables = lines[0].split()[2]
    return b"\n".join([b"p cnf %s %d" % (variables, len(lines) - 1), *lines[1:], b""])


def _flip(line: bytes, word: int) -> bytes:
    words = line.split()
    words[word] = words[word][1:] if words[word].startswith(b"-") else b"-" + words[word]
    return b" ".join(words)


def _lines(text: bytes) -> list[bytes]:
    return text.rstrip(b"\n").split(b"\n")


def test_what_is_not_changed_is_accepted() -> None:
    verified = verify(parts())
    assert verified.loops > 0
    assert b"sum" in parts().definitions
    assert verified.clauses == len(_lines(parts().cnf)) - 1


@given(st.data())
def test_a_changed_cnf_is_refused(data: st.DataObject) -> None:
    lines = _lines(parts().cnf)
    place = data.draw(st.integers(1, len(lines) - 1))
    match data.draw(st.sampled_from(["drop", "flip", "shorten", "add", "repeat"])):
        case "drop":
            del lines[place]
        case "flip":
            lines[place] = _flip(lines[place], data.draw(st.integers(0, len(lines[place].split()) - 2)))
        case "shorten":
            lines[place] = lines[place].split(b" ", 1)[1]
        case "add":
            other = data.draw(st.integers(1, len(lines) - 1))
            lines.append(lines[place].removesuffix(b"0") + lines[other])
            assume({*lines[-1].split()} not in [{*line.split()} for line in lines[:-1]])
        case "repeat":
            lines.append(lines[place])
    assert refused(replace(parts(), cnf=_cnf(lines)))


@given(st.data())
def test_a_changed_ground_program_is_refused(data: st.DataObject) -> None:
    lines = _lines(parts().ground)
    rules = [number for number, line in enumerate(lines) if line.startswith(b"1 ")]
    place = data.draw(st.sampled_from(rules))
    match data.draw(st.sampled_from(["drop", "flip", "choice", "bound"])):
        case "drop":
            del lines[place]
        case "flip":
            # 1 CHOICE HEADS head... 0 LITERALS literal...
            words = lines[place].split()
            heads = int(words[2])
            assume(words[3 + heads] == b"0" and words[4 + heads] != b"0")
            lines[place] = _flip(lines[place], len(words) - 1)
        case "choice":
            words = lines[place].split()
            assume(words[1] == b"1" or words[2] == b"1")
            assume(words[3] not in words[4:])  # a rule that needs what it concludes is no different as a choice
            words[1] = b"0" if words[1] == b"1" else b"1"
            lines[place] = b" ".join(words)
        case "bound":
            words = lines[place].split()
            heads = int(words[2])
            assume(words[3 + heads] == b"1")
            words[4 + heads] = b"%d" % (int(words[4 + heads]) + 1)
            lines[place] = b" ".join(words)
    assert refused(replace(parts(), ground=b"\n".join([*lines, b""])))


@given(st.data())
def test_a_changed_definition_is_refused(data: st.DataObject) -> None:
    lines = _lines(parts().definitions)
    place = data.draw(st.integers(0, len(lines) - 1))
    if data.draw(st.booleans()):
        del lines[place]
    else:
        words = lines[place].split()
        word = data.draw(st.integers(1, len(words) - 1))
        words[word] = b"%d" % (int(words[word]) + data.draw(st.sampled_from([-1, 1, 7])))
        lines[place] = b" ".join(words)
    assert refused(replace(parts(), definitions=b"\n".join([*lines, b""])))


@given(st.data())
def test_a_changed_proof_is_refused_unless_it_still_is_one(data: st.DataObject) -> None:
    lines = _lines(parts().proof)
    place = data.draw(st.integers(0, len(lines) - 1))
    match data.draw(st.sampled_from(["drop", "flip", "truncate"])):
        case "drop":
            del lines[place]
        case "flip":
            assume(len(lines[place].split()) > 1)
            lines[place] = _flip(lines[place], 0)
        case "truncate":
            del lines[place:]
    changed = replace(parts(), proof=b"".join(line + b"\n" for line in lines))
    assert refused(changed) != accepts(read_cnf(changed.cnf).clauses, read_proof(changed.proof))


@pytest.mark.parametrize("part", ["cnf", "proof", "ground", "definitions"])
def test_a_part_of_another_file_is_refused(part: str) -> None:
    verify(parts(OTHER))
    if part == "proof":
        # What the other proof says of this question need not follow from it.
        changed = replace(parts(), proof=parts(OTHER).proof)
        assert refused(changed) != accepts(read_cnf(changed.cnf).clauses, read_proof(changed.proof))
    else:
        assert refused(with_part(part, getattr(parts(OTHER), part)))


@given(st.integers(0, 3), st.data())
def test_what_ends_in_the_middle_is_refused(which: int, data: st.DataObject) -> None:
    part = ("cnf", "ground", "definitions", "proof")[which]
    content: bytes = getattr(parts(), part)
    end = data.draw(st.integers(0, len(content) - 2))
    changed = with_part(part, content[:end])
    if part == "proof":
        try:
            steps = read_proof(changed.proof)
        except RefusedError:
            return
        assert refused(changed) != accepts(read_cnf(changed.cnf).clauses, steps)
    else:
        assert refused(changed)


@given(st.binary(max_size=200), st.sampled_from(["cnf", "ground", "definitions", "proof"]), st.integers(0, 400))
def test_bytes_of_any_kind_are_refused_and_nothing_else_happens(noise: bytes, part: str, place: int) -> None:
    assume(noise.strip())
    content: bytes = getattr(parts(), part)
    changed = with_part(part, content[:place] + noise + content[place:])
    try:
        verify(changed)
    except (RefusedError, UnreadableError):
        return
    # Comments, and spaces and zeros where they change nothing.
    assert part in ("cnf", "proof", "ground")


@pytest.mark.parametrize(
    ("part", "content", "says"),
    [
        ("cnf", b"", "does not begin"),
        ("cnf", b"p cnf 1_0 0\n", "no number"),
        ("cnf", "p cnf ٣ 0\n".encode(), "no number"),
        ("cnf", b"p cnf 3\n", "first line"),
        ("cnf", b"p cnf -1 0\n", "first line"),
        ("cnf", b"p cnf 1 1\n2 0\n", "a variable beyond"),
        ("cnf", b"p cnf 1 1\n--1 0\n", "no number"),
        ("cnf", b"p cnf 1 1\n1\n", "in the middle"),
        ("proof", b"1 d 2 0\n", "no number"),
        ("proof", b"1\nd 2 0\n", "without an end"),
        ("proof", b"d\n", "in the middle"),
        ("proof", b"x 0\n", "no number"),
        ("ground", b"asp 2 0 0\n0\n", "not in aspif"),
        ("ground", b"asp 1 0 0\n5 1 2\n0\n", "neither a rule nor a name"),
        ("ground", b"asp 1 0 0\n1 0 1 1 0 3 2\n0\n", "ends too early"),
        ("ground", b"asp 1 0 0\n1 0 9000000 1\n0\n", "ends too early"),
        ("ground", b"asp 1 0 0\n1 0 1 -1 0 0\n0\n", "malformed"),
        ("ground", b"asp 1 0 0\n1 0 -1 0 0\n0\n", "malformed"),
        ("ground", b"asp 1 0 0\n1 0 0 0 -1\n0\n", "malformed"),
        ("ground", b"asp 1 0 0\n1 0 0 2 1 1 1 1\n0\n", "malformed"),
        ("proof", b"40000000 0\n0\n", "far beyond"),
        ("ground", b"asp 1 0 0\n1 0 1 1 1 1 1 2 -3\n0\n", "malformed"),
        ("ground", b"asp 1 0 0\n1 0 1 1 0 0 7\n0\n", "malformed"),
        ("ground", b"asp 1 0 0\n4 x a 0\n0\n", "without a length"),
        ("ground", b"asp 1 0 0\n4 1 a 2 1 2\n0\n", "no single literal"),
        ("definitions", b"or 1 2 3 0\n", "defines nothing"),
        ("definitions", b"and\n", "defines nothing"),
        ("definitions", b"and 1 2 3\n", "without an end"),
        ("definitions", b"and 1 0\n", "is an atom"),
        ("definitions", b"loop 0\n", "without an end"),
        ("definitions", b"loop 9999999 0\n", "no atom"),
        ("definitions", b"elements 1 5 0\n", "incomplete"),
        ("definitions", b"elements 1 9999999 1 0\n", "malformed"),
        ("definitions", b"sum 9999999 1 0\n", "a malformed sum"),
        ("definitions", b"sum 9999999 1 0 1\n", "a sum of nothing"),
        ("definitions", b"and 9999999 9999999 1 0\n", "by later ones"),
        ("definitions", b"and 9999999 1 2 0\n", "do not follow the atoms"),
    ],
)
def test_such_texts_are_refused(part: str, content: bytes, says: str) -> None:
    with pytest.raises(RefusedError, match=says):
        verify(with_part(part, content))


def test_a_text_of_a_few_bytes_needs_no_memory_for_millions_of_atoms() -> None:
    with pytest.raises(UnreadableError, match="far too large"):
        verify(with_part("ground", b"asp 1 0 0\n1 0 1 40000000 0 0\n0\n"))


@pytest.mark.parametrize("part", ["cnf", "proof", "ground", "definitions"])
def test_numbers_are_limited(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    huge = {
        "cnf": b"p cnf 99999999999 0\n",
        "proof": b"99999999999 0\n",
        "ground": b"asp 1 0 0\n1 0 1 99999999999 0 0\n0\n",
        "definitions": b"and 99999999999 0\n",
    }
    with pytest.raises(UnreadableError, match="beyond"):
        verify(with_part(part, huge[part]))
    monkeypatch.setattr("clew.verify.numbers.MOST_NUMBERS", 20)
    with pytest.raises(UnreadableError, match="more than 20 numbers"):
        verify(parts())
