"""The label of an output, from those that arrive there."""

from __future__ import annotations

import pytest

from clew.consistency.blazes import Label, Ordering
from clew.consistency.blazes.annotations import ASYNC, INST, RUN, SPLIT, TAINT, nd_read, seal
from clew.consistency.blazes.reconciliation import Arriving, protected, reconcile
from clew.consistency.blazes.seals import Dependency, Lineage
from consistency.blazes.dataflows import annotation

A = nd_read(frozenset({"a"}))
B = nd_read(frozenset({"b"}))
STAR = nd_read(None)

#: What arrives; the label without and with replication.
TABLE: list[tuple[list[Label], Label, Label]] = [
    ([ASYNC], ASYNC, ASYNC),
    ([TAINT], RUN, SPLIT),
    ([TAINT, ASYNC], RUN, SPLIT),
    ([TAINT, INST], INST, SPLIT),
    ([A], ASYNC, ASYNC),
    ([A, A], ASYNC, ASYNC),
    ([STAR], ASYNC, ASYNC),
    ([A, seal("a")], ASYNC, ASYNC),
    ([A, seal("b", "a")], ASYNC, ASYNC),
    ([A, seal("b")], RUN, INST),
    ([STAR, seal("a")], RUN, INST),
    ([A, ASYNC], RUN, INST),
    ([A, RUN], RUN, INST),
    ([A, B], RUN, INST),
    ([A, TAINT], RUN, SPLIT),
    ([A, SPLIT], SPLIT, SPLIT),
    ([RUN, ASYNC], RUN, RUN),
    ([INST, RUN], INST, INST),
    ([seal("a"), ASYNC], ASYNC, ASYNC),
    ([seal("a"), seal("a")], seal("a"), seal("a")),
    ([seal("a"), seal("b")], ASYNC, ASYNC),
    ([seal("a", "b"), seal("b")], seal("b"), seal("b")),
    ([], ASYNC, ASYNC),
]


@pytest.mark.parametrize(("labels", "single", "several"), TABLE, ids=lambda v: str(v) if v else "nothing")
def test_the_label_of_an_output(labels: list[Label], single: Label, several: Label) -> None:
    arriving = [Arriving(label, annotation("CW")) for label in labels]
    assert reconcile(arriving, replicated=False) == single
    assert reconcile(arriving, replicated=True) == several


def test_protected() -> None:
    gate = frozenset({"a", "b"})
    assert protected(gate, [nd_read(gate), seal("a"), seal(["a", "b"])])
    assert not protected(gate, [nd_read(gate), nd_read(frozenset({"a"}))])
    assert not protected(gate, [nd_read(gate), seal("c")])
    assert not protected(None, [nd_read(None), seal("a")])


def test_a_sealed_read_races_with_what_is_written_and_is_not_sealed() -> None:
    """Requests that are complete still race with clicks that are not."""
    read = Arriving(seal("a"), annotation("OR:a"))
    for other in (Arriving(ASYNC, annotation("CW")), Arriving(seal("b"), annotation("CW"))):
        assert reconcile([read, other], replicated=True) == INST
        assert reconcile([read, other], replicated=False) == RUN
        assert reconcile([read, other], True, Ordering.DYNAMIC) == RUN
        assert reconcile([read, other], True, Ordering.SEQUENCE) == ASYNC
    assert reconcile([read, Arriving(seal("a"), annotation("CW"))], replicated=True) == seal("a")
    assert reconcile([read, Arriving(ASYNC, annotation("CR"))], replicated=True) == ASYNC


def test_a_gate_is_about_the_attributes_of_the_input() -> None:
    """The key protects the read although no attribute of the output shows it any more."""
    drops = Lineage(False, ())
    arriving = [Arriving(A, annotation("OR:a"), drops), Arriving(seal("a"), annotation("CW"), drops)]
    assert reconcile(arriving, True) == ASYNC


def test_a_seal_goes_on_under_the_name_that_its_key_has_behind_the_path() -> None:
    renames = Lineage(False, (Dependency(frozenset({"a"}), frozenset({"x"})),))
    label = reconcile([Arriving(seal("a"), annotation("CR"), renames)])
    assert str(label) == "Seal[a]"
    assert label.completes(frozenset({"x"}))
    assert not label.completes(frozenset({"a"}))
    assert reconcile([Arriving(seal("a"), annotation("CR"), Lineage(False, ()))]) == ASYNC
