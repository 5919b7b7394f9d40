"""Mistakes in Bloom programs: each is refused with the class, the block and the line, and with what to do."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

import pytest

from clew.bloom import Bloom, agg, bloom, channel, imported, interface, periodic, rows, scratch, table
from clew.bloom.language.module import program_of
from clew.errors import ProgramError

# mypy: disable-error-code="comparison-overlap, operator"


class Base(Bloom):
    t = table("key", val=["val"])
    u = table("key", val=["val"])
    s = scratch("key", val=["val"])
    one = scratch("x")
    chan = channel("@dst", "msg")
    timer = periodic(1)
    given = interface.input("key", val=["val"])
    out = interface.output("key", val=["val"])


def plain_list(self: Any) -> None:
    self.t <+ [(1, 2)]  # wrong


def plain_list_to_delete(self: Any) -> None:
    self.t <- [(1, 2)]  # wrong


def plain_list_to_send(self: Any) -> None:
    self.chan <~ [("a", 2)]  # wrong


def chained(self: Any) -> None:
    self.t <= self.u <= self.s  # wrong


def if_else(self: Any) -> None:
    self.t <= self.u if self.s else self.s  # wrong


def if_around(self: Any) -> None:
    if self.s:  # wrong
        self.t <= self.u


def loop(self: Any) -> None:
    for row in self.s:  # wrong
        self.t <= [row]


def method_of_marked(self: Any) -> None:
    self.t <- (-self.t).lefts()  # wrong


def marked_and_merged(self: Any) -> None:
    self.t <= +self.u  # wrong


def half_an_operator(self: Any) -> None:
    self.t < self.u  # wrong


def other_way_round(self: Any) -> None:
    self.t >= self.u  # wrong


def into_an_expression(self: Any) -> None:
    (self.t * self.u) <= self.s  # wrong


def marked_inside(self: Any) -> None:
    self.t <= self.u * +self.s  # wrong


def merged_into_channel(self: Any) -> None:
    self.chan <= self.one(lambda r: ("a", r.x))  # wrong


def sent_to_table(self: Any) -> None:
    self.t <~ self.u  # wrong


def deleted_from_scratch(self: Any) -> None:
    self.s <- self.u  # wrong


def into_periodic(self: Any) -> None:
    self.timer <= self.u  # wrong


def not_the_full_row(self: Any) -> None:
    self.t <- self.u(lambda r: (r.key,))  # wrong


def too_many_columns(self: Any) -> None:
    self.one <= self.u  # wrong


def some_paths_too_short(self: Any) -> None:
    self.t <= self.u(lambda r: (r.key, r.val) if r.val > 1 else (r.key,))  # wrong


def unknown_column(self: Any) -> None:
    self.t <= (self.t * self.u).lefts(keys="key")  # wrong


def unknown_column_of_group(self: Any) -> None:
    self.t <= self.u.group(["kez"], agg.count())  # wrong


def no_aggregate(self: Any) -> None:
    self.t <= self.u.group(["key"], n="count")  # wrong


def notin_of_other_width(self: Any) -> None:
    self.t <= self.u.notin(self.one)  # wrong


def names_for_three(self: Any) -> None:
    self.t <= (self.t * self.u * self.s).pairs(key="key")  # wrong


def condition_on_another(self: Any) -> None:
    self.t <= (self.t * self.u).lefts(self.t.key == self.s.key)  # wrong


def condition_on_itself(self: Any) -> None:
    self.t <= (self.t * self.u).lefts(self.t.key == self.t.val)  # wrong


def column_and_value(self: Any) -> None:
    self.t <= (self.t * self.u).lefts(self.t.key == 3)  # wrong


def too_many_rows(self: Any) -> None:
    self.t <= self.u(lambda a, b: (a.key, b.val))  # wrong


def no_function(self: Any) -> None:
    self.t <= self.u.map(3)  # wrong


def no_collection(self: Any) -> None:
    self.t <= 3  # wrong


def rows_of_different_lengths(self: Any) -> None:
    self.t <= rows([(1, 2), (1,)])  # wrong


def rows_that_can_change(self: Any) -> None:
    self.t <= rows([(1, {"a": 1})])  # wrong


def temp_before_its_rule(self: Any) -> None:
    self.t <= self.temp.x  # wrong


def temp_of_unknown_columns(self: Any) -> None:
    self.temp.x <= self.u(lambda r: tuple(sorted([r.key, r.val])))  # wrong


def other_exception(self: Any) -> None:
    self.t <= [][0]  # wrong


def undeclared(self: Any) -> None:
    self.t <= self.nothing  # wrong


def misspelt(self: Any) -> None:
    self.t <= self.chann  # wrong


def pre_undeclared(self: Any) -> None:
    self.pre <= self.t  # wrong


def payloads_of_a_table(self: Any) -> None:
    self.one <= self.t.payloads()  # wrong


def assigned(self: Any) -> None:
    self.t = self.u  # wrong


def compared(self: Any) -> None:
    self.t == self.u  # wrong


def one_name_for_two(self: Any) -> None:
    self.t <= self.u.rename("x", "x")  # wrong


def a_set_as_a_row(self: Any) -> None:
    self.t <= [{1, 2}]  # wrong


def address_in_rows(self: Any) -> None:
    self.one <= [(self.ip_port,)]  # wrong


def address_in_a_variable(self: Any) -> None:
    me = self.ip_port
    self.one <= self.one.filter(lambda row: row.x != me)  # wrong


CASES: list[tuple[Callable[[Any], None], str, str]] = [
    (plain_list, "a plain list follows the operator", "rows([(1, 2)])"),
    (plain_list_to_delete, "a plain list follows the operator", "rows([(1, 2)])"),
    (plain_list_to_send, "a plain list follows the operator", "rows([(1, 2)])"),
    (chained, "two rules are chained", "on a line of its own"),
    (if_else, "a collection is used as a condition", "filter"),
    (if_around, "a collection is used as a condition", "filter"),
    (loop, "goes through the rows of a collection", "flat_map"),
    (method_of_marked, "'.lefts' is applied to what '-' marks", "in parentheses: a <- (b * c).lefts(...)"),
    (marked_and_merged, "'<=' is followed by '+'", "'<+'"),
    (half_an_operator, "'<' is not an operator of rules", "<+ (next)"),
    (other_way_round, "'>=' is not an operator of rules", "on the left"),
    (into_an_expression, "the left-hand side of a rule is an expression", "of a collection"),
    (marked_inside, "'+' marks only a part of a right-hand side", "in parentheses"),
    (merged_into_channel, "'<=' into a channel ('chan')", "use <~"),
    (sent_to_table, "'<~' into a table ('t')", "use <= or <+ or <-"),
    (deleted_from_scratch, "'<-' into a scratch ('s')", "use <= or <+"),
    (into_periodic, "'<=' into a periodic ('timer')", "come by themselves"),
    (
        not_the_full_row,
        "rows with 1 columns (key) are put into 't', which has 2 (key, val)",
        "<- needs the full row",
    ),
    (
        too_many_columns,
        "rows with 2 columns (key, val) are put into 'one', which has 1 (x)",
        "map(lambda row: (...))",
    ),
    (some_paths_too_short, "rows with 1 columns are put into 't'", "map(lambda row: (...))"),
    (unknown_column, "unknown column 'keys'", "the columns are key, val"),
    (unknown_column_of_group, "unknown column 'kez'", "the columns are key, val"),
    (no_aggregate, "'count' is not an aggregate", "agg.count()"),
    (notin_of_other_width, "notin compares rows with 2 and with 1 columns", "a.notin(b, x='y')"),
    (names_for_three, "pairs with column names is for two sides, here are 3", "self.a.x == self.b.y"),
    (condition_on_another, "the collection of the column 'key' is not one of the sides", "rename"),
    (condition_on_itself, "both columns of a condition are of the same side", "filter"),
    (column_and_value, "the column 'key' is compared with 3", "filter"),
    (too_many_rows, "the function takes 2 rows, here are 1", "one of each side"),
    (no_function, "map needs a function of a row, not 3", "lambda row"),
    (no_collection, "int is not a collection", "rows([...])"),
    (rows_of_different_lengths, "rows of different lengths", "a value for each column"),
    (rows_that_can_change, "dict is not a value for a column", "[(1, 2)]"),
    (temp_before_its_rule, "the temp 'x' is read before a rule defines it", "x <= ... above"),
    (temp_of_unknown_columns, "the columns of the temp 'x' cannot be inferred", "rename(...)"),
    (other_exception, "IndexError: list index out of range", "read once"),
    (undeclared, "unknown collection 'nothing'", "declare it in the class, as in nothing = table('column')"),
    (misspelt, "unknown collection 'chann'", "did you mean 'chan'? Otherwise declare it"),
    (pre_undeclared, "unknown collection 'pre'", "pre = scratch('node', 'value')"),
    (payloads_of_a_table, "'t' has no location: it is not a channel", "project"),
    (assigned, "the collection 't' is assigned to", "<=, <+, <- or <~"),
    (compared, "'==' is not an operator of rules", "<= (now)"),
    (one_name_for_two, "rename gives two columns the name 'x'", "its own name"),
    (a_set_as_a_row, "a row is a tuple, not set", "[(1, 2)]"),
    (address_in_rows, "self.ip_port is written in rows", "lambda row: (self.ip_port, row[0])"),
    (address_in_a_variable, "self.ip_port in a variable", "inside the function"),
]


def line_marked_wrong(function: Callable[[Any], None]) -> int:
    code = function.__code__
    for line in range(code.co_firstlineno, code.co_firstlineno + 5):
        if "# wrong" in linecache.getline(code.co_filename, line):
            return line
    raise AssertionError("no line is marked")


@pytest.mark.parametrize(("function", "says", "remedy"), CASES, ids=[f.__name__ for f, _, _ in CASES])
def test_refused_where_it_is_written(function: Callable[[Any], None], says: str, remedy: str) -> None:
    program = type("Program", (Base,), {"rules": bloom(function)})
    with pytest.raises(ProgramError) as caught:
        program_of(program)
    error = caught.value
    assert says in error.message
    assert error.remedy is not None and remedy in error.remedy
    assert error.position is not None
    assert (error.position.file, error.position.line) == (__file__, line_marked_wrong(function))
    if function is not assigned:  # that one is Python's own assignment and names the collection
        assert error.message.startswith("Program.rules: ")


def test_rows_for_its_own_input() -> None:
    class Own(Bloom):
        own = interface.input("x")
        other = scratch("x")

        @bloom
        def put(self) -> None:
            self.own <= self.other

    with pytest.raises(ProgramError, match=r"Own\.put: 'own' is this module's own input") as caught:
        program_of(Own)
    assert caught.value.position is not None


# -- declarations ------------------------------------------------------------------------------------------------


def test_a_channel_needs_a_location() -> None:
    with pytest.raises(ProgramError, match="no column that says where its rows go") as caught:
        channel("dst", "msg")
    assert caught.value.remedy is not None and 'channel("@dst", ...)' in caught.value.remedy
    assert caught.value.position is not None and caught.value.position.file == __file__


@pytest.mark.parametrize(
    ("declare", "says"),
    [
        (lambda: channel("@a", "@b"), "two columns are marked with @: 'a' and 'b'"),
        (lambda: table("a", val=["a"]), "the column 'a' is declared twice"),
        (lambda: table("a b"), "'a b' is not a name for a column"),
        (lambda: table("class"), "'class' is not a name for a column"),
        (lambda: table("_x"), "'_x' is not a name for a column"),
        (lambda: table(3), "3 is not a name for a column"),  # type: ignore[arg-type]
        (lambda: periodic(0), "a periodic collection needs seconds, not 0"),
        (lambda: periodic("1"), "a periodic collection needs seconds, not '1'"),  # type: ignore[arg-type]
    ],
)
def test_declarations(declare: Callable[[], Any], says: str) -> None:
    with pytest.raises(ProgramError) as caught:
        declare()
    assert says in caught.value.message
    assert caught.value.position is not None and caught.value.position.file == __file__


def test_a_block_that_would_not_be_read() -> None:
    with pytest.raises(ProgramError, match="with yield or async") as caught:

        @bloom
        def rules(self: Any) -> Any:
            yield self.t <= self.u

    assert caught.value.position is not None and caught.value.position.file == __file__


def test_a_block_is_not_called() -> None:
    class Calling(Bloom):
        @bloom
        def block(self) -> None:
            raise AssertionError("not read either")

    with pytest.raises(ProgramError, match=r"Calling\.block is a block of rules and is not called"):
        Calling().block()


def test_a_block_is_not_replaced_by_another_method() -> None:
    class First(Bloom):
        t = table("x")

        @bloom
        def block(self) -> None:
            self.t <= [(1,)]

    class Second(First):
        def block(self) -> None:
            pass

    with pytest.raises(ProgramError, match=r"Second\.block replaces the block First\.block and is none"):
        program_of(Second)


def test_a_collection_declared_twice_in_two_ways() -> None:
    class First(Bloom):
        t = table("x")

    class Second(First):
        t = table("x", val=["y"])

    with pytest.raises(ProgramError, match=r"Second declares 't' in another way than First") as caught:
        program_of(Second)
    assert "table [x] => [y]; table [x] => []" in caught.value.message


def test_a_class_that_needs_arguments() -> None:
    class Needing(Bloom):
        def __init__(self, name: str) -> None:
            super().__init__()

    with pytest.raises(ProgramError, match="Needing cannot be made without arguments"):
        program_of(Needing)


@pytest.mark.parametrize(
    ("name", "value"),
    [("tick", table("x")), ("live", table("x")), ("full_name_of", bloom(chained)), ("run", bloom(chained))],
)
def test_names_that_every_class_has(name: str, value: Any) -> None:
    with pytest.raises(ProgramError, match=f"Taken uses the name '{name}', which every Bloom class has") as caught:
        type("Taken", (Bloom,), {name: value})
    assert caught.value.position is not None and caught.value.position.file == __file__


@pytest.mark.parametrize(
    ("given", "called"), [(table("a"), "a collection"), (int, "the class int"), ("kvs", "a str")]
)
def test_what_is_imported_is_a_module(given: Any, called: str) -> None:
    with pytest.raises(ProgramError) as caught:
        imported(given)
    assert caught.value.message.endswith(f"imported(...) is given {called}, which is not a module")
    assert caught.value.remedy == "give a class with rules, as in kvs = imported(BasicKVS)"
    assert caught.value.position is not None and caught.value.position.file == __file__
