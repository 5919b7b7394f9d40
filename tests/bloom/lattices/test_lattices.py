"""The laws of lattices, for every lattice and every function of one, on generated values."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.bloom import Bloom, bloom, channel, interface, lbag, lbool, lmap, lmax, lmin, lpset, lset, table
from clew.bloom.language.module import program_of
from clew.bloom.lattices.containers import LATTICES, PLAIN, SAME, LBag, LMax, LMin, LPSet, LSet, Method
from clew.bloom.values import BadValueError
from clew.errors import ProgramError
from long_mode import few

_NUMBERS = st.integers(0, 4)
_PLAIN: dict[str, st.SearchStrategy[Any]] = {
    "lmax": _NUMBERS,
    "lmin": _NUMBERS,
    "lbool": st.booleans(),
    "lset": st.sets(_NUMBERS, max_size=4),
    "lpset": st.sets(_NUMBERS, max_size=4),
    "lbag": st.dictionaries(_NUMBERS, _NUMBERS, max_size=4),
}


def _plain(name: str) -> st.SearchStrategy[Any]:
    if name in _PLAIN:
        return _PLAIN[name]
    return st.dictionaries(_NUMBERS, _plain(name.removeprefix("lmap[").removesuffix("]")), max_size=3)


def values_of(name: str) -> st.SearchStrategy[Any]:
    lattice = LATTICES[name]
    return st.one_of(st.just(lattice.bottom()), _plain(name).map(lattice.of))


def _at_most(x: Any, y: Any) -> bool:
    return bool(x.merge(y) == y)


#: Of maps of maps one is enough: all are made by the same function.
NAMES = [name for name in sorted(LATTICES) if not name.startswith("lmap[lmap") or name == "lmap[lmap[lmax]]"]
_few = few(15, part=50)
METHODS = [(name, method) for name in NAMES for method in LATTICES[name].methods]


def _promised(name: str, method: str) -> Method:
    found: Method = LATTICES[name].methods[method]
    return found


def arguments_of(name: str, method: str) -> st.SearchStrategy[tuple[Any, ...]]:
    takes = _promised(name, method).takes
    return st.tuples(*(_NUMBERS if kind == PLAIN else values_of(name if kind == SAME else kind) for kind in takes))


@pytest.mark.parametrize("name", NAMES)
def test_merge_is_associative_commutative_and_idempotent(name: str) -> None:
    @_few
    @given(values_of(name), values_of(name), values_of(name))
    def laws(x: Any, y: Any, z: Any) -> None:
        assert x.merge(y.merge(z)) == x.merge(y).merge(z) == LATTICES[name].merge_all([x, y, z])
        assert x.merge(y) == y.merge(x)
        assert hash(x.merge(y)) == hash(y.merge(x))
        assert x.merge(x) == x
        assert x.merge(LATTICES[name].bottom()) == x

    laws()


@pytest.mark.parametrize("name", NAMES)
def test_the_rows_of_a_value_make_the_value_again(name: str) -> None:
    lattice = LATTICES[name]

    @_few
    @given(values_of(name), values_of(name))
    def laws(x: Any, y: Any) -> None:
        assert lattice.merge_all([lattice.of_row(row) for row in x.elements()]) == x
        assert all(len(row) == len(lattice.columns) for row in x.elements())
        if lattice.rows_only_grow:
            assert set(x.elements()) <= set(x.merge(y).elements())

    laws()


@pytest.mark.parametrize(("name", "method"), [m for m in METHODS if _promised(*m).monotone])
def test_a_monotone_function_never_goes_back(name: str, method: str) -> None:
    @_few
    @given(values_of(name), values_of(name), arguments_of(name, method), st.data())
    def law(x: Any, y: Any, arguments: tuple[Any, ...], data: st.DataObject) -> None:
        before = getattr(x, method)(*arguments)
        assert type(before) is LATTICES[_promised(name, method).result]
        assert _at_most(before, getattr(x.merge(y), method)(*arguments))
        for k, kind in enumerate(_promised(name, method).takes):
            if kind != PLAIN:
                more = arguments[k].merge(data.draw(values_of(name if kind == SAME else kind)))
                grown = (*arguments[:k], more, *arguments[k + 1 :])
                assert _at_most(before, getattr(x, method)(*grown))

    law()


@pytest.mark.parametrize(("name", "method"), [m for m in METHODS if _promised(*m).morphism])
def test_a_morphism_can_be_applied_to_the_parts_of_a_merge(name: str, method: str) -> None:
    @_few
    @given(values_of(name), values_of(name), arguments_of(name, method))
    def law(x: Any, y: Any, arguments: tuple[Any, ...]) -> None:
        whole = getattr(x.merge(y), method)(*arguments)
        assert whole == getattr(x, method)(*arguments).merge(getattr(y, method)(*arguments))

    law()


@pytest.mark.parametrize(
    ("smaller", "larger", "method", "argument"),
    [
        (LMax.of(1), LMax.of(5), "lt", 3),
        (LMax.of(3), LMax.of(5), "lt_eq", 3),
        (LMin.of(5), LMin.of(1), "gt", 3),
        (LMin.of(3), LMin.of(1), "gt_eq", 3),
        (LSet.bottom(), LSet.of([1]), "without", None),
    ],
)
def test_what_is_not_called_monotone_is_not(smaller: Any, larger: Any, method: str, argument: Any) -> None:
    assert _at_most(smaller, larger)
    assert not LATTICES[smaller.name].methods[method].monotone
    if method == "without":
        kept = LSet.of([1])
        assert not _at_most(kept.without(smaller), kept.without(larger))
    else:
        assert not _at_most(getattr(smaller, method)(argument), getattr(larger, method)(argument))


def test_values_are_spelled_in_order() -> None:
    assert repr(LSet.of({"b", "a", 2})) == "lset.of([2, 'a', 'b'])"
    assert repr(LMax.bottom()) == "lmax.bottom()"
    assert repr(LATTICES["lmap[lmax]"].of({"b": 1, "a": 2})) == (
        "lmap[lmax].of({'a': lmax.of(2), 'b': lmax.of(1)})"
    )


def test_a_sum_a_size_and_how_often() -> None:
    assert LPSet.of([1, 2, 4]).sum() == LMax.of(7)
    assert LBag.of(["x", "y", "x"]).size() == LMax.of(3)
    assert LBag.of(["x", "y", "x"]).multiplicity("x") == LMax.of(2)
    assert LBag.of(["x"]).merge(LBag.of(["x", "x"])) == LBag.of({"x": 2})
    assert LBag.of(["x"]).plus(LBag.of(["x", "x"])) == LBag.of({"x": 3})


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("lpset", -1, "a lpset holds integers from 0 on, not -1"),
        ("lpset", True, "a lpset holds integers from 0 on, not True"),
        ("lbool", 1, "a lbool is True or False, not 1"),
        ("lmap[lmax]", 1, "a lmap[lmax] is made of rows (key, value), not of (1,)"),
        ("lbag", {"x": -1}, "a lbag is made of rows (element) or (element, number of times), not of ('x', -1)"),
    ],
)
def test_a_value_that_a_lattice_cannot_hold_is_refused(name: str, value: Any, said: str) -> None:
    with pytest.raises(BadValueError) as refused:
        LATTICES[name].of(value)
    assert str(refused.value) == said


def test_lattices_of_different_kinds_do_not_merge() -> None:
    with pytest.raises(BadValueError, match="a lmax cannot be combined with a lmin"):
        LMax.of(1).merge(LMin.of(1))  # type: ignore[arg-type]


# -- in rules ----------------------------------------------------------------------------------------------------


class _Given(Bloom):
    """What the mistakes below have to go wrong with."""

    seen = lset()
    counted = lbag()
    high = lmax()
    fine = lbool()
    clock = lmap(lmax)
    given = table("x")


def _refusal(rule: Any) -> str:
    class Wrong(_Given):
        @bloom
        def block(self) -> None:
            rule(self)

    with pytest.raises(ProgramError) as refused:
        program_of(Wrong)
    return str(refused.value).partition("error: ")[2]


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (lambda s: s.fine <= s.high.gt(s.high), "'gt' of a lmax takes a value, here it is given lmax"),
        (lambda s: s.fine <= s.high.gt(), "'gt' of a lmax takes a value, here it is given nothing"),
        (lambda s: s.seen <= s.seen.union(s.counted), "'union' of a lset takes lset, here it is given lbag"),
        (lambda s: s.seen <= s.seen.union(s.given), "a lattice function is given a collection"),
        (lambda s: s.high <= s.seen, "a lset is merged into 'high', a lmax"),
        (lambda s: s.high <= s.clock.att(1), "a lmap[lmax] has no function 'att'"),
        (lambda s: s.fine <= lbool.of(3), "a lbool is True or False, not 3"),
        (lambda s: s.given <= s.high.when_true([(1,)]), "when_true needs a lbool, not a lmax"),
    ],
)
def test_a_mistake_is_refused_where_it_is_written(rule: Any, said: str) -> None:
    assert _refusal(rule).partition("\n")[0] == f"Wrong.block: {said}"


def test_a_map_needs_a_lattice_for_its_values() -> None:
    with pytest.raises(ProgramError, match="'int' is not a lattice for the values of a lmap"):
        lmap("int")
    with pytest.raises(ProgramError, match="is not a lattice for the values of a lmap"):
        lmap(lmap(lmap(lmax)))


# -- at work -----------------------------------------------------------------------------------------------------


class _Quorum(Bloom):
    """Answers once three different voters were heard, whatever else they said."""

    vote = channel("@to", "who", "what")
    voters = lset()
    ballots = lmap(lset)
    enough = lbool()
    answer = interface.output("what")

    @bloom
    def count(self) -> None:
        self.voters <= self.vote.project("who")
        self.ballots <= self.vote.project("what", "who")
        self.enough <= self.voters.size().gt_eq(3)
        self.answer <= self.enough.when_true([("enough",)])
        self.answer <= self.ballots.each_size().each_gt(1).at("x").when_true([("two for x",)])


def test_a_quorum_is_reached_by_voters_and_not_by_votes() -> None:
    node = _Quorum("n")
    seen = []
    for who, what in (("a", "x"), ("a", "x"), ("a", "y"), ("b", "y"), ("c", "x"), ("a", "z")):
        node.machine.deliver("vote", ("n", who, what))
        node.tick()
        seen.append([row.what for row in node.answer])
    assert seen == [[], [], [], [], ["enough", "two for x"], ["enough", "two for x"]]
    assert node.ballots.value == LATTICES["lmap[lset]"].of({"x": {"a", "c"}, "y": {"a", "b"}, "z": {"a"}})


class _Clock(Bloom):
    """Several lattices of the same messages."""

    message = channel("@to", "who", "time")
    clock = lmap(lmax)
    high = lmax()
    low = lmin()
    spent = lpset()
    later = lmax()

    @bloom
    def merge(self) -> None:
        self.clock <= self.message.project("who", "time")
        self.high <= self.message.project("time")
        self.low <= self.message.project("time")
        self.spent <= self.message.project("time")
        self.later <+ (self.high + 10)
        self.later <= self.spent.sum()
        self.high <= lmax.of(1)


def test_lattices_keep_what_was_merged_in_any_order() -> None:
    messages = [("n", "a", 3), ("n", "b", 7), ("n", "a", 5)]
    for order in itertools.permutations(messages):
        node = _Clock("n")
        for message in order:
            node.machine.deliver("message", message)
            node.tick()
        node.tick()
        assert list(node.clock.value.elements()) == [("a", 5), ("b", 7)]
        assert (node.high.value, node.low.value) == (LMax.of(7), LMin.of(3))
        assert node.later.value == LMax.of(17)


def test_a_row_that_a_lattice_cannot_hold_is_refused_and_the_node_goes_on() -> None:
    node = _Clock("n")
    node.machine.deliver("message", ("n", "a", -2))
    (refused,) = node.tick().refused
    assert "a lpset holds integers from 0 on, not -2" in str(refused)
    node.machine.deliver("message", ("n", "a", 2))
    assert node.tick().refused == ()
    assert node.spent.value == LPSet.of([2])
