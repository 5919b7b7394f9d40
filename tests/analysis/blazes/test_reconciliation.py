"""The label of an output, from those that arrive there."""

from __future__ import annotations

import pytest

from analysis.blazes.dataflows import annotation
from clew.analysis.blazes import Annotation, Behaviour, Label, LabelKind, Ordering
from clew.analysis.blazes.annotations import ASYNC, INST, RUN, SPLIT, TAINT, nd_read, seal
from clew.analysis.blazes.reconciliation import Arriving, is_protected, reconcile
from clew.analysis.blazes.seals import Dependency, Gate, Lineage

A = nd_read(frozenset({"a"}))
B = nd_read(frozenset({"b"}))
STAR = nd_read(None)

#: What arrives; the label without and with replication.
TABLE: list[tuple[list[Label], Label, Label]] = [
    ([ASYNC], ASYNC, ASYNC),
    ([TAINT], RUN, SPLIT),
    ([TAINT, ASYNC], RUN, SPLIT),
    ([TAINT, INST], INST, SPLIT),
    ([A], RUN, INST),
    ([A, A], RUN, INST),
    ([STAR], RUN, INST),
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
    arriving = [_arriving(label) for label in labels]
    assert reconcile(arriving, replicated=False) == single
    assert reconcile(arriving, replicated=True) == several


def _arriving(label: Label, written: str = "CW") -> Arriving:
    """Reads come by a path that reads, all else by one that writes."""
    reads = label.kind is LabelKind.ND_READ
    return Arriving(label, Annotation(Behaviour.OR, label.gate) if reads else annotation(written))


def _is_protected(gate: Gate, labels: list[Label], written: str = "CW") -> bool:
    return is_protected(gate, [_arriving(label, written) for label in labels])


def test_protected() -> None:
    gate = frozenset({"a", "b"})
    assert _is_protected(gate, [nd_read(gate), seal("a"), seal(["a", "b"])])
    assert _is_protected(gate, [nd_read(gate), nd_read(gate), seal("a")])
    assert not _is_protected(gate, [nd_read(gate)])
    assert not _is_protected(gate, [nd_read(gate), nd_read(gate)])
    assert not _is_protected(gate, [nd_read(gate), nd_read(frozenset({"a"})), seal("a")])
    assert not _is_protected(gate, [nd_read(gate), seal("c")])
    assert not _is_protected(None, [nd_read(None), seal("a")])


def test_a_read_is_protected_by_what_it_can_meet_not_by_another_read() -> None:
    """A count of sealed rows does not complete another count of rows that are not sealed."""
    gate = frozenset({"a"})
    for written, is_met in (("CR", False), ("OR:a", False), ("CW", True), ("OW:a", True)):
        assert _is_protected(gate, [nd_read(gate), seal("a")], written) is is_met


def test_a_single_instance_that_stores_what_differs_shows_it_on() -> None:
    """The conclusion of rule 3 is added to the label of the input, as section 4.4 says; it does not replace it."""
    for path in ("CW", "OW:a"):
        stored = Arriving(TAINT, annotation(path), before=INST)
        assert reconcile([stored], replicated=False) == INST
        assert reconcile([stored], replicated=True) == SPLIT


def test_a_sealed_read_races_with_what_is_written_and_is_not_sealed() -> None:
    """Requests that are complete still race with clicks that are not; what is stored then stays different."""
    for path, several in (("OR:a", INST), ("OW:a", SPLIT)):
        _check_races(Arriving(seal("a"), annotation(path)), several)


def _check_races(read: Arriving, several: Label) -> None:
    for other in (Arriving(ASYNC, annotation("CW")), Arriving(seal("b"), annotation("CW"))):
        assert reconcile([read, other], replicated=True) == several
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
