"""Params and intervals: a program with them is the one in which every value is written out by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.dedalus.lexer import NAME, STRING, Text, Token
from clew.dedalus.loader import load, parse_program, read_template
from clew.dedalus.patterns import MOST_ROWS
from clew.dedalus.printer import print_program
from clew.errors import ClewError, ProgramError, UsageError
from clew.program.ir import Param, Program
from generators import programs

# -- the same as by hand -----------------------------------------------------------------------------------------


def rewrite(text: str, replacement: Callable[[Token], str | None]) -> str:
    """Replace tokens of a text, whatever stands between them."""
    parts, end = [], 0
    for token in Text(text, "p.ded").tokens()[:-1]:
        parts += [text[end : token.offset], replacement(token) or token.text]
        end = token.offset + len(token.text)
    return "".join(parts) + text[end:]


def constants(program: Program) -> list[str]:
    """The constants of a program as its text has them; what begins a clause is a relation."""
    tokens = Text(print_program(program), "p.ded").tokens()
    found = (t.text for t in tokens if t.kind == STRING or (t.kind == NAME and t.text.isdigit()))
    return sorted(set(found))


@given(st.data(), programs())
def test_a_param_stands_for_its_value_wherever_a_constant_may_be(data: st.DataObject, program: Program) -> None:
    text = print_program(program)
    written = data.draw(st.sampled_from(constants(program)), "what becomes a param")
    with_param = rewrite(text, lambda token: "the_param" if token.text == written else None)
    # Below the rules that use it: it may be declared anywhere.
    declared = f"{with_param}\nparam the_param = {written};"
    assert parse_program(declared) == program
    # A time has to be a number from 1 on, and so do others that are not too large.
    other = str(data.draw(st.integers(1, 4))) if written.isdigit() else '"another value"'
    by_hand = rewrite(text, lambda token: other if token.text == written else None)
    value = int(other) if other.isdigit() else other[1:-1]
    set_from_outside = parse_program(declared, params={"the_param": value})
    assert set_from_outside == parse_program(by_hand)
    assert set_from_outside.params == (Param("the_param", value, given=True),)


@given(
    st.lists(st.tuples(st.integers(-4, 4), st.integers(0, 3)), min_size=1, max_size=3),
    st.integers(1, 9),
)
def test_intervals_are_their_product(columns: list[tuple[int, int]], time: int) -> None:
    first, *others = columns
    text = ", ".join(f"{low}..high{place} - 1" for place, (low, _) in enumerate(columns))
    params = "".join(f"param high{place} = {low + more + 1};" for place, (low, more) in enumerate(columns))
    rows: list[tuple[int, ...]] = [(n,) for n in range(first[0], first[0] + first[1] + 1)]
    for low, more in others:
        rows = [(*row, n) for row in rows for n in range(low, low + more + 1)]
    by_hand = "".join(f"p({', '.join(map(str, row))}, a)@{time};" for row in rows)
    assert parse_program(f"{params} p({text}, a)@{time};") == parse_program(by_hand)


@pytest.mark.parametrize(
    ("text", "by_hand"),
    [
        ("p(1..3);", "p(1); p(2); p(3);"),
        ("p(1 .. 2, x);", "p(1, x); p(2, x);"),
        ("p(a, 2..2);", "p(a, 2);"),
        ("p(-1..1);", "p(-1); p(0); p(1);"),
        ("p(1..2, 1..2)@4;", "p(1, 1)@4; p(1, 2)@4; p(2, 1)@4; p(2, 2)@4;"),
        ("param n = 2; p(n..n + 1);", "p(2); p(3);"),
        ("param n = 5; p(n / 2, n * 2 - 1, -n, (n));", "p(2, 9, -5, 5);"),
        ("param n = -5; p(n / 2);", "p(-2);"),
        ("param n = 3; param m = n / 2 + 1; p(m);", "p(2);"),
        ("param t = 3; p(a)@t;", "p(a)@3;"),
        ("param t = 3; p(X) :- q(X)@t;", "p(X) :- q(X)@3;"),
        ("param t = 3; q(a); input p(X)@t :- q(X);", "q(a); input p(X)@3 :- q(X);"),
        ("param n = 3; p(X, n) :- q(X, N), N >= n, notin r(X, n);", "p(X, 3) :- q(X, N), N >= 3, notin r(X, 3);"),
        ("param n = 3; p(X, count<Y>) :- q(X, Y), Y < n + 1;", "p(X, count<Y>) :- q(X, Y), Y < 3 + 1;"),
        ("param n = 3; p(X) :- q(X, K), K == -n;", "p(X) :- q(X, K), K == -3;"),
        ("param n = 3; p(X) :- q(X, -n), notin r(X, -(n));", "p(X) :- q(X, -3), notin r(X, -3);"),
        ("param who = bob; p(who, whom);", 'p("bob", "whom");'),
        ('param who = "Bob, B."; p(who);', 'p("Bob, B.");'),
        # Only the name itself without quotes is the param.
        ('param n = 3; p(n, "n", n.x, N_n) :- q(N_n);', 'p(3, "n", "n.x", N_n) :- q(N_n);'),
        ("param n = 3; n(n); r(X)@next :- n(X);", "n(3); r(X)@next :- n(X);"),
        # A relation may have the name of the word.
        ("param(a, 1);", '"param"'),
    ],
)
def test_what_is_written(text: str, by_hand: str) -> None:
    if by_hand == '"param"':
        assert [clause.relation for clause in parse_program(text).clauses] == ["param"]
    else:
        assert parse_program(text) == parse_program(by_hand)


def test_what_is_computed_follows_what_is_set() -> None:
    text = "param n = 3; param quorum = n / 2 + 1; p(n, quorum);"
    assert parse_program(text, params={"n": 7}).params == (Param("n", 7, given=True), Param("quorum", 4))
    assert parse_program(text, params={"quorum": 1}) == parse_program("p(3, 1);")


def test_a_printed_program_has_the_values() -> None:
    program = parse_program("param n = 2; p(1..n, n);", params={"n": 3})
    assert print_program(program) == "p(1, 3)@1;\np(2, 3)@1;\np(3, 3)@1;\n"


# -- files -------------------------------------------------------------------------------------------------------


def write(folder: Path, **texts: str) -> Path:
    for name, text in texts.items():
        (folder / f"{name}.ded").write_text(text, encoding="utf-8")
    return folder / "main.ded"


def test_a_param_is_one_for_all_files(tmp_path: Path) -> None:
    main = write(tmp_path, main='p(n); include "part.ded"; q(n);', part="param n = 3; r(1..n);")
    assert load([main], {"n": 2}).program == parse_program("p(2); r(1); r(2); q(2);")


def test_a_template_is_read_once_and_gives_a_program_for_each_value(tmp_path: Path) -> None:
    template = read_template([write(tmp_path, main="param n = 1; p(1..n); q(X) :- p(X);")])
    (tmp_path / "main.ded").unlink()
    for n in (3, 1, 2):
        rows = "".join(f"p({k});" for k in range(1, n + 1))
        assert template.instantiate({"n": n}).program == parse_program(f"{rows} q(X) :- p(X);")
    # What mentions no param is not even read again.
    assert template.instantiate().program.rules[0] is template.instantiate({"n": 2}).program.rules[0]


def test_the_defaults_line_may_name_params(tmp_path: Path) -> None:
    text = '//! nodes=z,1..n,"1..2" eot=rounds eff=2\nparam n = 2; param rounds = 4; p(1..n);'
    stated = load([write(tmp_path, main=text)], {"n": 3, "rounds": 6}).defaults
    assert stated.nodes == ("z", 1, 2, 3, "1..2")
    assert (stated.eot, stated.eff) == (6, 2)


def notices(folder: Path, text: str) -> list[str]:
    return [str(notice).replace(f"{folder}/", "") for notice in load([write(folder, main=text)]).notices]


def test_a_name_that_means_two_things_is_noticed(tmp_path: Path) -> None:
    text = 'param n = 3;\nparam unused = 1;\nparam role = a;\np(n, "role", "role");\nrole(role);'
    assert notices(tmp_path, text) == [
        "main.ded:2:7: warning: nothing uses the param 'unused': its value changes nothing\n"
        "  remedy: use it without quotes where a constant may stand, or leave it out",
        "main.ded:4:6: warning: 'role' is a string here, and a param (main.ded:3:7)\n"
        "  remedy: if the param is meant, write it without quotes",
        "main.ded:5:1: warning: 'role' is a relation here, and a param (main.ded:3:7)\n"
        "  remedy: give one another name",
    ]


def test_a_string_in_a_comparison_that_is_almost_a_param_is_noticed(tmp_path: Path) -> None:
    text = 'param quorum = 2; p(X) :- q(X, N), N >= quorom, X != "quorun", N < quorum, X != other;'
    (notice,) = notices(tmp_path, text)
    assert notice == (
        "main.ded:1:38: warning: 'quorom' is compared here, and it is a string\n"
        "  remedy: did you mean the param 'quorum'? Otherwise, put it in quotes"
    )


def test_a_node_with_the_name_of_a_param_is_noticed(tmp_path: Path) -> None:
    (notice,) = notices(tmp_path, "//! nodes=a,b\nparam a = b; p(a);")
    assert "'a' is a node in the //! line, and a param (main.ded:2:7)" in notice


def test_programs_without_params_are_left_alone(tmp_path: Path) -> None:
    loaded = load([write(tmp_path, main='p(n, "n"); n(n);')])
    assert (loaded.program.params, loaded.notices) == ((), ())


# -- what is refused ---------------------------------------------------------------------------------------------

REFUSED = [
    # text, line, column, message, remedy
    ("p(1..n);", 1, 3, "an interval computes with n, which is neither a number nor a param", "param n = 3;"),
    ("param m = 3; p(m + n);", 1, 16, "the fact 'p' computes with n, which is neither", "param n = 3;"),
    ('param n = a;\np(1..n, "x");', 2, 3, "an interval computes with a, which is neither a number", "spelling"),
    ("p(3..1);", 1, 3, "the interval 3..1 is empty", "the smaller number first"),
    ("p(1..1000000);", 1, 3, f"the interval 1..1000000 has more than {MOST_ROWS} numbers", "shorter"),
    ("p(1..200, 1..200);", 1, 1, f"come to more than {MOST_ROWS} rows", "shorter"),
    ("p(1..9000);\nq(1..9000);", 2, 1, f"come to more than {MOST_ROWS} rows", "shorter"),
    ("p(1..X);", 1, 3, "an interval contains a variable", "numbers and params"),
    ("p(1..2147483647 + 1);", 1, 3, "the number 2147483648 is too large", "up to 2147483647"),
    ("param n = 0; p(1 / n);", 1, 16, "a division by zero", "another number"),
    ("p(X, 1..3) :- q(X);", 1, 6, "an interval stands in a fact only", "number(1..3);"),
    ("p(count<X>..3) :- q(X);", 1, 3, "an interval stands in a fact only", "number(1..3);"),
    ("p(X) :- q(X, 1..3);", 1, 15, "unexpected '..'", "quotes"),
    ("p(X) :- q(X), X == 1..3;", 1, 21, "unexpected '..'", "quotes"),
    ("a..b(x);", 1, 2, "unexpected '..'", "quotes"),
    ("p(1..);", 1, 6, "unexpected ')'", "a variable, a constant or an expression"),
    ("p(1...3);", 1, 3, "an interval computes with .3, which", "spelling"),
    ("param n = 3; param n = 4;", 1, 20, "the param 'n' is declared twice", "p.ded:1:7"),
    ("param n = m; param m = 3;", 1, 7, "'n' is computed from 'm', which is not declared before", "first"),
    ("param n = n;", 1, 7, "'n' is computed from 'n', which is not declared before", "quotes"),
    ("param N = 3;", 1, 7, "'N' cannot be the name of a param", "lower case"),
    ("param a.b = 3;", 1, 7, "'a.b' cannot be the name of a param", "lower case"),
    ("param 3 = 3;", 1, 7, "'3' cannot be the name of a param", "lower case"),
    ("param crashes = 3;", 1, 7, "'crashes' is a bound and cannot be", "another name"),
    ("param next = 3;", 1, 7, "'next' is a word of the language", "another name"),
    ("param n = X;", 1, 7, "the param 'n' contains a variable", "numbers and params"),
    ("param n = _;", 1, 11, "'_' has no value", "variable"),
    ("param n = a + 1;", 1, 7, "the param 'n' computes with a, which is neither", "param a = 3;"),
    ("param n 3;", 1, 9, "unexpected '3'", "expected '='"),
    ("param n = 3", 1, 12, "unexpected the end of the file", "clauses end with ';'"),
    ("param n = ;", 1, 11, "unexpected ';'", "constant"),
    ("param n = 2147483648;", 1, 11, "the number 2147483648 is too large", "up to"),
    ("param t = 0; p(a)@t;", 1, 19, "'@t' is not a time at which a fact can hold", "from 1 on"),
    ("param t = a; p(a)@t;", 1, 19, "'@t' is not a time at which a fact can hold", "from 1 on"),
    ("p(a)@soon;", 1, 6, "'@soon' is not a time at which a fact can hold", "from 1 on"),
    ("p(X) :- q(X)@soon;", 1, 14, "'@soon' is not a time", "@5"),
    ("param soon = 2; p(X)@soon :- q(X);", 1, 22, "unknown timing '@soon' of a rule", "@next"),
    ("p(X) :- q(X, -n);", 1, 14, "a premise cannot compute in its arguments", "Y == X + 1"),
    ("param n = a; p(X) :- q(X, -n);", 1, 27, "a premise cannot compute in its arguments", "Y == X + 1"),
    ("param n = 3; p(X) :- q(X, n + 1);", 1, 27, "a premise cannot compute in its arguments", "Y == X + 1"),
    ("p(X) :- q(X), X = n;", 1, 17, "unexpected '='", "compare with =="),
]


@pytest.mark.parametrize(("text", "line", "column", "message", "remedy"), REFUSED, ids=[r[0] for r in REFUSED])
def test_refused(text: str, line: int, column: int, message: str, remedy: str) -> None:
    with pytest.raises(ProgramError) as caught:
        parse_program(text, "p.ded")
    error = caught.value
    assert error.position is not None
    assert (error.position.line, error.position.column) == (line, column)
    assert message in error.message
    assert remedy in (error.remedy or "")


PARAMS = "param replicas = 3; param leader = a; p(1..replicas, leader);"

WRONG_VALUES: list[tuple[dict[str, object], str, str]] = [
    ({"replica": 3}, "unknown param 'replica'", "did you mean 'replicas'?"),
    ({"zzz": 3}, "unknown param 'zzz'", "the params are replicas, leader"),
    ({"eot": 3}, "unknown param 'eot'", "it is a bound: give --eot"),
    ({"replicas": "five"}, "'replicas' is set to five, and it is a number: its default is 3", "replicas=5"),
    ({"leader": 5}, "'leader' is set to 5, and it is a string: its default is a", "leader='\"5\"'"),
    ({"replicas": True}, "'replicas' is set to True, and it is a number", "replicas=5"),
    ({"replicas": 1.5}, "'replicas' is set to a value of type float", "replicas=5"),
    ({"replicas": 2**31}, "'replicas' is set to 2147483648, which is too large", "up to 2147483647"),
    ({"leader": 'a"b'}, "which no string of a program can be", "without double quotes"),
    ({"leader": "a\nb"}, "which no string of a program can be", "can be printed"),
    ({"replicas": 0}, "the interval 1..0 is empty", "the smaller number first"),
]


@pytest.mark.parametrize(("values", "message", "remedy"), WRONG_VALUES, ids=[str(w[0]) for w in WRONG_VALUES])
def test_a_value_that_cannot_be_set_is_refused(values: dict[str, object], message: str, remedy: str) -> None:
    with pytest.raises(ClewError) as caught:
        parse_program(PARAMS, params=values)  # type: ignore[arg-type]  # that is what is tested
    assert message in caught.value.message
    assert remedy in (caught.value.remedy or "")


def test_a_value_of_another_kind_is_refused_with_the_place_of_the_declaration() -> None:
    with pytest.raises(UsageError) as caught:
        parse_program(f"\n {PARAMS}", "p.ded", {"replicas": "x"})
    assert str(caught.value.position) == "p.ded:2:8"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("//! eot=n\np(a);", "'eot=n' does not give a number"),
        ("//! eot=n\nparam n = a; p(n);", "'eot=n' does not give a number"),
        ("//! nodes=1..n\np(a);", "'nodes=n' does not give a number"),
        ("//! nodes=2..1\np(a);", "the interval 2..1 is empty"),
        ("//! nodes=1..20000\np(a);", "has more than"),
        ("//! eot=N\np(a);", "'eot=N' does not give a number"),
    ],
)
def test_a_defaults_line_without_a_number_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ProgramError, match=message) as caught:
        load([write(tmp_path, main=text)])
    assert caught.value.position is not None and caught.value.position.line == 1
    assert caught.value.remedy


def test_two_files_do_not_declare_one_param(tmp_path: Path) -> None:
    main = write(tmp_path, main='include "part.ded"; param n = 2; p(n);', part="param n = 3;")
    with pytest.raises(ProgramError, match="the param 'n' is declared twice") as caught:
        load([main])
    assert "part.ded:1:7" in (caught.value.remedy or "")
