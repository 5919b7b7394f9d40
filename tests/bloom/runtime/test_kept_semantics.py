"""What is kept from step to step, case by case: deletions, keys, functions, failures, memory."""

from __future__ import annotations

import random
from typing import Any

import pytest

from clew.bloom import agg, bloom, interface, lmax, lpset, lset, periodic, scratch, table
from clew.bloom.runtime import endless
from clew.bloom.runtime.endless import EndlessStepError
from clew.bloom.runtime.node import Node


class Base(Node):
    a = table("k", "v")
    b = table("k", "v")
    i = interface.input("k", "v")
    out = scratch("x", "y")


def changed(node: Any, add: list[Any] = [], remove: list[Any] = [], into: str = "a") -> list[Any]:  # noqa: B006
    """The rows of ``out`` after a step that begins with these changes, in which nothing is refused."""
    getattr(node, into).insert(*add)
    node.machine.delete(into, remove)
    assert node.tick().refused == ()
    return list(node.out)


class TwoWays(Base):
    """A row that two rows, or two rules, give."""

    @bloom
    def rules(self) -> None:
        self.out <= self.a(lambda r: (r.v, 0))
        self.out <= self.b(lambda r: (r.v, 0))


def test_a_row_stays_until_nothing_gives_it() -> None:
    node = TwoWays()
    assert changed(node, [(1, "x"), (2, "x")]) == [("x", 0)]
    assert changed(node, [(1, "x")], into="b") == [("x", 0)]
    assert changed(node, remove=[(1, "x")]) == [("x", 0)]
    assert changed(node, remove=[(2, "x")]) == [("x", 0)]
    assert changed(node, remove=[(1, "x")], into="b") == []
    assert changed(node, [(1, "x")], [(1, "x")]) == [("x", 0)]


class SelfJoin(Base):
    @bloom
    def rules(self) -> None:
        self.out <= (self.a * self.a).pairs(lambda p, q: (p.k, q.v), v="k")


def test_a_collection_joined_with_itself_changes_on_both_sides() -> None:
    node = SelfJoin()
    assert changed(node, [(1, 1), (1, 2), (2, 3)]) == [(1, 1), (1, 2), (1, 3)]
    assert changed(node, [(3, 1)], [(1, 1)]) == [(1, 3), (2, 1), (3, 2)]
    assert changed(node, [(1, 1)], [(3, 1)]) == [(1, 1), (1, 2), (1, 3)]


class Given(Base):
    """A kept view that rows are also inserted into, from outside and by <+."""

    @bloom
    def rules(self) -> None:
        self.out <= self.a
        self.out <+ self.i


def test_inserted_rows_last_one_step() -> None:
    node = Given()
    node.out.insert((1, 1), (2, 2))
    node.i.insert((5, 5))
    assert changed(node, [(1, 1)]) == [(1, 1), (2, 2)]
    assert changed(node) == [(1, 1), (5, 5)]
    assert changed(node) == [(1, 1)]


class Timed(Base):
    timer = periodic(1)
    best = scratch("x", "y")

    @bloom
    def rules(self) -> None:
        self.out <= self.a.notin(self.i, k="k")
        self.best <= (self.timer * self.out).pairs(lambda t, o: (o.x, t.key))


def test_what_arrives_is_gone_after_the_step() -> None:
    node = Timed()
    assert changed(node, [(1, 1), (2, 2)]) == [(1, 1), (2, 2)]
    node.i.insert((1, 7))
    node.machine.deliver("timer", (9, 0.5))
    assert changed(node) == [(2, 2)]
    assert list(node.best) == [(2, 9)]
    assert changed(node) == [(1, 1), (2, 2)]
    assert list(node.best) == []


# -- keys --------------------------------------------------------------------------------------------------------


class Keyed(Base):
    one = scratch("x", val=["y"])
    stored = table("x", val=["y"])

    @bloom
    def rules(self) -> None:
        self.one <= self.a
        self.stored <= self.a.group(["k"], agg.max("v"))


def refused(stepped: Any) -> list[str]:
    return [f"{r.collection}: {r.message}" for r in stepped.refused]


def test_conflicts_of_keys_are_reported_in_every_step_and_end_with_their_rows() -> None:
    node = Keyed()
    node.a.insert((1, 5), (1, 3))
    lost = "one: (1, 5) has the same key as (1, 3), which is kept"
    assert refused(node.tick()) == [lost]
    assert (list(node.one), list(node.stored)) == ([(1, 3)], [(1, 5)])
    assert refused(node.tick()) == [lost]
    # A smaller one replaces the row that was kept, and what is inserted from outside comes before both.
    node.a.insert((1, 2))
    node.one.insert((1, 9))
    kept = ["one: (1, 2) has the same key as (1, 9), which is kept"]
    assert refused(node.tick()) == [*kept, kept[0].replace("2", "3", 1), kept[0].replace("2", "5", 1)]
    node.machine.delete("a", [(1, 5), (1, 3)])
    blocked = "stored: (1, 2) has the same key as (1, 5), which is kept"
    for _ in range(2):
        assert refused(node.tick()) == [blocked]
        assert (list(node.one), list(node.stored)) == ([(1, 2)], [(1, 5)])
    node.machine.delete("stored", [(1, 5)])
    assert refused(node.tick()) == []
    assert list(node.stored) == [(1, 2)]


class Paths(Base):
    path = scratch("x", val=["y"])

    @bloom
    def rules(self) -> None:
        self.path <= self.a
        self.path <= (self.a * self.path).pairs(lambda a, p: (a.k, p.y), v="x")


def test_conflicts_within_a_recursion_come_and_go() -> None:
    node = Paths()
    node.a.insert((1, 2))
    assert refused(node.tick()) == []
    node.a.insert((2, 3))
    conflict = ["path: (1, 3) has the same key as (1, 2), which is kept"]
    for _ in range(3):
        assert refused(node.tick()) == conflict
        assert list(node.path) == [(1, 2), (2, 3)]
    node.machine.delete("a", [(1, 2)])
    assert refused(node.tick()) == []
    assert list(node.path) == [(2, 3)]
    node.a.insert((4, 5))
    assert refused(node.tick()) == []
    assert list(node.path) == [(2, 3), (4, 5)]


# -- recursion ---------------------------------------------------------------------------------------------------


class Reach(Base):
    @bloom
    def rules(self) -> None:
        self.out <= self.a
        self.out <= (self.a * self.out).pairs(lambda a, o: (a.k, o.y), v="x")


def closure(links: set[tuple[int, int]]) -> list[tuple[int, int]]:
    found = set(links)
    while more := {(p, s) for p, q in links for r, s in found if q == r} - found:
        found |= more
    return sorted(found)


@pytest.mark.parametrize("seed", range(6))
def test_paths_along_circles_are_taken_back(seed: int) -> None:
    """Rows of a circle give each other, and must not stay because of that."""
    chance = random.Random(seed)
    node, links = Reach(), set[tuple[int, int]]()
    for _ in range(60):
        add = {(chance.randrange(12), chance.randrange(12)) for _ in range(chance.choice([0, 1, 2]))}
        remove = {link for link in sorted(links) if chance.random() < 0.15}
        links = (links - remove) | add
        assert changed(node, sorted(add), sorted(remove)) == closure(links)


class Held(Base):
    """A row of ``a`` is held by another one that is held."""

    @bloom
    def rules(self) -> None:
        self.out <= self.i
        self.out <= (self.a * self.out).lefts(k="y")


def test_a_row_that_is_left_to_hold_itself_goes() -> None:
    node = Held()
    node.i.insert((4, 2))
    assert changed(node, [(2, 2), (7, 4)]) == [(2, 2), (4, 2)]
    assert changed(node) == []
    node.i.insert((0, 7))
    assert changed(node) == [(0, 7), (7, 4)]


def test_much_is_derived_anew_rather_than_taken_away() -> None:
    """One link less, of a circle with shortcuts, on which all paths rest."""
    node, circle = Reach(), [(k, (k + step) % 40) for k in range(40) for step in (1, 7)]
    assert len(changed(node, circle)) == 1600
    assert changed(node, remove=[(0, 1)]) == closure({*circle} - {(0, 1)})
    assert changed(node, [(0, 1)], circle[::2]) == closure({*circle[1::2], (0, 1)})


# -- functions ---------------------------------------------------------------------------------------------------


class Calls(Base):
    """Counts how often functions are called: ``pure`` needs only its row, ``noted`` is none."""

    def __init__(self) -> None:
        super().__init__()
        self.noted: list[Any] = []

    other = scratch("x", "y")

    @bloom
    def rules(self) -> None:
        def note(row: Any) -> Any:
            self.noted.append(row)
            return (row.k, len(self.noted))

        self.out <= self.a(lambda r: (r.k, len(str(r.v))))
        self.other <= self.a(note)


def test_a_function_that_need_not_give_the_same_twice_is_called_in_every_step() -> None:
    node = Calls()
    assert changed(node, [(1, 10)]) == [(1, 2)]
    assert list(node.other) == [(1, 1)]
    node.tick()
    assert list(node.other) == [(1, 2)]


class Looks(Base):
    @bloom
    def rules(self) -> None:
        self.out <= self.a(lambda r: (r.k, len(self.b)))


def test_a_function_that_looks_into_a_collection_is_called_when_that_changes() -> None:
    node = Looks()
    assert changed(node, [(1, 1), (2, 2)]) == [(1, 0), (2, 0)]
    assert changed(node, [(7, 7)], into="b") == [(1, 1), (2, 1)]
    assert changed(node, [(3, 3)], [(1, 1)]) == [(2, 1), (3, 1)]
    assert changed(node, remove=[(7, 7)], into="b") == [(2, 0), (3, 0)]


class Threshold:
    """What a rule uses, and somebody changes from elsewhere."""

    least = 1


LEAST = 1


def least_of_all(value: int) -> int:
    return max(value, LEAST)


class Changed(Base):
    stored = table("x", "y")
    seen = lset()

    @bloom
    def rules(self) -> None:
        self.out <= self.a(lambda r: (r.k, max(r.v, Threshold.least)))
        self.out <= self.b(lambda r: (r.k, least_of_all(r.v)))
        self.stored <= self.out.argmax(["x"], "y")
        self.seen <= self.out.project("y")


def test_what_a_function_uses_may_be_changed_from_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    node = Changed()
    assert changed(node, [(1, 0), (2, 0)]) == [(1, 1), (2, 1)]
    monkeypatch.setattr(Threshold, "least", 5)
    assert changed(node) == [(1, 5), (2, 5)]
    assert list(node.stored) == [(1, 1), (1, 5), (2, 1), (2, 5)]
    assert node.seen.value.elements() == ((1,), (5,))
    assert changed(node, remove=[(1, 0)]) == [(2, 5)]
    assert changed(node, remove=[(2, 0)]) == []
    assert changed(node, [(3, 0)], into="b") == [(3, 1)]
    monkeypatch.setitem(globals(), "LEAST", 7)
    node.out.insert((9, 9))
    assert changed(node) == [(3, 7), (9, 9)]
    assert changed(node) == [(3, 7)]
    monkeypatch.delattr(Threshold, "least")
    node.a.insert((4, 0))
    assert [r.message.partition(":")[0] for r in node.tick().refused] == ["a function raised AttributeError"]
    assert changed(node, remove=[(4, 0)]) == [(3, 7)]


class Raises(Base):
    @bloom
    def rules(self) -> None:
        self.out <= self.a(lambda r: (r.k, 6 // r.v))


def test_a_row_for_which_a_function_raises_is_reported_while_it_is_there() -> None:
    node = Raises()
    node.a.insert((1, 0), (2, 3))
    said = ["out: a function raised ZeroDivisionError: integer division or modulo by zero for the row (1, 0)"]
    for _ in range(3):
        assert refused(node.tick()) == said
    assert list(node.out) == [(2, 2)]
    node.machine.delete("a", [(1, 0)])
    assert refused(node.tick()) == []


class Sums(Base):
    @bloom
    def rules(self) -> None:
        self.out <= self.a.group([], agg.sum("v"), agg.count())


def test_a_sum_that_cannot_be_computed_is_reported_until_it_can() -> None:
    node = Sums()
    assert changed(node, [(1, 1), (2, 2)]) == [(3, 2)]
    node.a.insert((3, "x"))
    assert [r.message.partition(":")[0] for r in node.tick().refused] == [
        "sum, count of the group () cannot be computed"
    ]
    assert list(node.out) == []
    assert changed(node, [(4, 0.5)], [(3, "x")]) == [(3.5, 3)]
    assert changed(node, remove=[(1, 1), (2, 2), (4, 0.5)]) == []


def test_sums_of_floats_are_those_of_their_order_and_not_of_their_arrival() -> None:
    node, values = Sums(), [1e16, 1.0, -1e16, 3.5, 1e-3, 2.25]
    for number, value in enumerate(values):
        changed(node, [(number, value)])
    changed(node, [(9, 1e300)])
    ((total, count),) = changed(node, remove=[(9, 1e300)])
    assert (total, count) == (sum(values), len(values))


# -- rows that are equal, and spelled differently ----------------------------------------------------------------


class Spelled(Base):
    """A text shows how a value is spelled, so that what was added must be taken back in the same spelling."""

    either = scratch("k", "v")
    left = scratch("k", "v")
    joined = scratch("x", "y")

    @bloom
    def rules(self) -> None:
        self.either <= self.a
        self.either <= self.b
        self.out <= self.either.map(lambda r: (r.k, str(r.v)))
        self.left <= self.a.notin(self.b).map(lambda r: (r.k, str(r.v)))
        self.joined <= (self.a * self.i).outer(lambda p, q: (p.k, str(q.v)), k="k")


def test_a_row_is_deleted_however_it_is_spelled() -> None:
    node = Spelled()
    assert changed(node, [(1, 1.0), (2, True)]) == [(1, "1.0"), (2, "True")]
    assert changed(node, remove=[(1, True), (2.0, 1)]) == []
    assert list(node.left) == list(node.joined) == []


def test_a_row_keeps_its_spelling_until_nothing_gives_it() -> None:
    node = Spelled()
    assert changed(node, [(1, 1)]) == [(1, "1")]
    assert changed(node, [(1, 1.0)], into="b") == [(1, "1")]
    assert changed(node, remove=[(1, 1)]) == [(1, "1")]
    assert changed(node, remove=[(1, 1.0)], into="b") == []
    assert changed(node, [(1, 1.0)], into="b") == [(1, "1.0")]


def test_a_row_that_is_deleted_and_inserted_again_keeps_its_spelling() -> None:
    node = Spelled()
    changed(node, [(1, 1.0)])
    assert changed(node, [(1, True)], [(1, 1)]) == [(1, "1.0")]
    assert [*map(repr, node.a)] == ["(1, 1.0)"]
    assert changed(node, remove=[(1, True)]) == []


def test_a_row_comes_back_as_it_is_spelled_on_the_left() -> None:
    node = Spelled()
    changed(node, [(1, 1.0)])
    changed(node, [(1, 1)], into="b")
    assert list(node.left) == []
    changed(node, remove=[(1, 1)], into="b")
    assert list(node.left) == [(1, "1.0")]
    changed(node, remove=[(1, 1)])
    assert list(node.left) == []


def test_rows_of_one_step_keep_their_spelling_over_steps() -> None:
    node = Spelled()
    changed(node, [(1, 0)])
    seen = []
    for value in (1, 1.0, True, 2):
        node.i.insert((1, value))
        node.tick()
        seen += list(node.joined)
    # The first three are one row, which never went.
    assert seen == [(1, "1"), (1, "1"), (1, "1"), (1, "2")]
    node.tick()
    assert list(node.joined) == [(1, "None")]


def test_a_sum_does_not_change_its_kind_with_the_spelling() -> None:
    node = Sums()
    assert changed(node, [(1, 1), (2, 5)]) == [(6, 2)]
    assert changed(node, remove=[(1, 1.0)]) == [(5, 1)]
    assert changed(node, [(3, 2.5)]) == [(7.5, 2)]
    assert changed(node, remove=[(2, 5.0), (3, 2.5)]) == []


class Natural(Base):
    some = lpset()

    @bloom
    def rules(self) -> None:
        self.some <= self.a.project("v")


def test_a_lattice_takes_the_spelling_that_it_can_take() -> None:
    """A lpset refuses 1.0, and takes 1 all the same."""
    node = Natural()
    node.a.insert((9, 9))
    node.tick()
    node.a.insert((1, 1.0), (2, 1))
    node.machine.delete("a", [(9, 9)])
    node.tick()
    assert node.some.value.elements() == ((1,), (9,))


class Circle(Base):
    """A row of a recursion comes back, when it has been taken away, from another one that is equal to it."""

    shown = scratch("x", "y")

    @bloom
    def rules(self) -> None:
        self.out <= self.a
        self.out <= (self.b * self.out).pairs(lambda b, o: (o.x, b.v), k="y")
        self.shown <= self.out.map(lambda o: (o.x, str(o.y)))


def test_a_row_of_a_recursion_that_comes_back_keeps_its_spelling() -> None:
    node = Circle()
    changed(node, [(7, 1.0), (7, 2)])
    changed(node, [(2, 1), (1, 3)], into="b")
    assert list(node.shown) == [(7, "1.0"), (7, "2"), (7, "3")]
    changed(node, remove=[(7, 1)])
    assert list(node.shown) == [(7, "1.0"), (7, "2"), (7, "3")]
    changed(node, remove=[(2, 1)], into="b")
    assert list(node.shown) == [(7, "2")]


# -- lattices ----------------------------------------------------------------------------------------------------


class Grown(Base):
    seen = lset()
    top = lmax()

    @bloom
    def rules(self) -> None:
        self.seen <= self.a.project("k")
        self.top <= self.seen.size()
        self.out <= self.top.gt_eq(2).when_true(self.a)
        self.out <= self.top.lt(2).when_true([("few", "few")])


def test_lattices_keep_what_they_were_given() -> None:
    node = Grown()
    assert changed(node, [(1, 1)]) == [("few", "few")]
    assert changed(node, [(2, 2)], [(1, 1)]) == [(2, 2)]
    assert changed(node, remove=[(2, 2)]) == []
    assert node.top.value.elements() == ((2,),)


class Folded(Base):
    names = lset()

    @bloom
    def rules(self) -> None:
        self.names <= self.a.notin(self.a).project("k")


def test_a_row_that_only_comes_and_goes_is_merged_into_nothing() -> None:
    node = Folded()
    changed(node, [(1, 1), (2, 2)])
    changed(node, [(3, 3)], [(1, 1)])
    assert node.names.value.elements() == ()


# -- steps that fail ---------------------------------------------------------------------------------------------


class Endless(Base):
    count = scratch("n")
    start = interface.input("n")

    @bloom
    def rules(self) -> None:
        self.out <= self.a.group(["k"], agg.count())
        self.count <= self.start
        self.count <= (self.count * self.out).pairs(lambda c, o: (c.n + 1,))


def test_a_step_after_one_that_failed_is_as_if_it_had_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endless, "MOST_COMPUTED", 100)
    node = Endless()
    assert changed(node, [(1, 1)]) == [(1, 1)]
    node.start.insert((0,))
    node.a.insert((1, 2), (2, 2))
    with pytest.raises(EndlessStepError):
        node.tick()
    assert changed(node) == [(1, 2), (2, 1)]
    assert changed(node, [(2, 3)], [(1, 1)]) == [(1, 1), (2, 2)]


class Filled(Base):
    """Rows that are kept of rows that are kept."""

    best = scratch("k", "v")

    @bloom
    def rules(self) -> None:
        self.best <= self.a.argmax(["k"], "v")
        self.out <= self.best.group(["k"], agg.accum("v"), agg.count()).map(lambda r: (r[0], r[2]))


def test_a_step_that_fails_at_its_end_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a store is compared with after such a step is not what it held before it."""
    node = Filled()
    assert changed(node, [(1, 1), (2, 1), (3, 1)]) == [(1, 1), (2, 1), (3, 1)]
    node.a.insert((1, 2), (4, 1))
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(node.machine, "_collect_sent", interrupt)
        node.tick()
    assert changed(node, remove=[(2, 1)]) == [(1, 1), (3, 1), (4, 1)]
    assert list(node.best) == [(1, 2), (3, 1), (4, 1)]
    assert changed(node, [(2, 3)], [(4, 1)]) == [(1, 1), (2, 1), (3, 1)]
    assert changed(node, remove=[(1, 2), (2, 3), (3, 1)]) == [(1, 1)]


def interrupt(_: Any) -> None:
    raise KeyboardInterrupt


# -- what is kept ------------------------------------------------------------------------------------------------


class Everything(Base):
    groups = scratch("k", val=["n", "most", "total"])
    best = scratch("k", "v")
    rest = scratch("k", "v")
    both = scratch("k", "v", "w")
    reach = scratch("k", "v")

    @bloom
    def rules(self) -> None:
        self.groups <= self.a.group(["k"], agg.count(), agg.max("v"), agg.sum("v"))
        self.best <= self.a.argmin(["k"], "v")
        self.rest <= self.a.notin(self.b, k="k")
        self.both <= (self.a * self.b).pairs(lambda p, q: (p.k, p.v, q.v), k="k")
        self.reach <= self.a
        self.reach <= (self.reach * self.b).pairs(lambda p, q: (p.k, q.v), v="k")


def size_of(value: Any, seen: set[int]) -> int:
    """How many rows, keys and numbers can be reached from what a node keeps."""
    if id(value) in seen or isinstance(value, str | int | float | type(None)) or callable(value):
        return 0
    seen.add(id(value))
    if isinstance(value, dict):
        return len(value) + sum(size_of(one, seen) for pair in value.items() for one in pair)
    if isinstance(value, tuple | list | set | frozenset):
        return len(value) + sum(size_of(one, seen) for one in value)
    slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
    held = [getattr(value, name) for name in slots if hasattr(value, name)]
    return sum(size_of(one, seen) for one in [*held, *getattr(value, "__dict__", {}).values()])


def test_what_is_kept_is_given_back() -> None:
    """After as many deletions as insertions, a node holds what it held before, and no trace of the rows."""
    node = Everything()
    rows = [(k % 7, k) for k in range(300)]

    def fill_and_empty() -> int:
        for start in range(0, 300, 60):
            node.a.insert(*rows[start : start + 60])
            node.b.insert(*rows[start : start + 10])
            node.tick()
        for start in range(0, 300, 60):
            node.machine.delete("a", rows[start : start + 60])
            node.machine.delete("b", rows[start : start + 10])
            node.tick()
        node.tick()
        assert [len(view) for view in (node.groups, node.best, node.rest, node.both, node.reach)] == [0] * 5
        return size_of(node.machine, set())

    assert fill_and_empty() == fill_and_empty()
