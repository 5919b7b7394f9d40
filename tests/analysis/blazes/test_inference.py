"""Rules 1 to 4 of figure 4.6, rule p, and what an order does to them."""

from __future__ import annotations

import pytest

from analysis.blazes.dataflows import annotation
from clew.analysis.blazes import Label, Ordering
from clew.analysis.blazes.annotations import ASYNC, INST, RUN, SPLIT, TAINT, nd_read, seal
from clew.analysis.blazes.inference import infer

A = frozenset({"a"})
AB = frozenset({"a", "b"})

#: The input, the annotation of the path, the rule, and what it gives.
RULES: list[tuple[Label, str, str, tuple[Label, ...]]] = [
    (ASYNC, "OR:a", "1", (nd_read(A),)),
    (ASYNC, "OR*", "1", (nd_read(None),)),
    (RUN, "OR:a,b", "1", (nd_read(AB), RUN)),
    (ASYNC, "OW:a", "2", (TAINT,)),
    (RUN, "OW:a", "2", (TAINT,)),
    (ASYNC, "OW*", "2", (TAINT,)),
    (INST, "CW", "3", (TAINT,)),
    (INST, "OW:a", "3", (TAINT,)),
    (seal("b"), "OW:a", "4", (TAINT,)),
    (seal("a", "b"), "OW:c", "4", (TAINT,)),
    (seal(["a", "b"]), "OW:a", "4", (TAINT,)),
    (seal("a"), "OW*", "4", (TAINT,)),
    (seal("b"), "OR:a", "4", (nd_read(A),)),
    (seal("a"), "OR*", "4", (nd_read(None),)),
    (seal("a"), "OW:a", "p", (seal("a"),)),
    (seal("a"), "OW:a,b", "p", (seal("a"),)),
    (seal(["a", "b"]), "OW:a,b", "p", (seal(["a", "b"]),)),
    (seal("b", "a"), "OW:a", "p", (seal("b", "a"),)),
    (seal("a"), "OR:a,b", "p", (seal("a"),)),
    (ASYNC, "CR", "p", (ASYNC,)),
    (ASYNC, "CW", "p", (ASYNC,)),
    (RUN, "CR", "p", (RUN,)),
    (RUN, "CW", "p", (RUN,)),
    (INST, "CR", "p", (INST,)),
    (INST, "OR:a", "p", (INST,)),
    (seal("b"), "CR", "p", (seal("b"),)),
    (seal("b"), "CW", "p", (seal("b"),)),
    *((SPLIT, text, "p", (SPLIT,)) for text in ("CR", "CW", "OR:a", "OW:a", "OR*", "OW*")),
]


def _shown(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


@pytest.mark.parametrize(("label", "path", "rule", "gives"), RULES, ids=_shown)
def test_a_rule(label: Label, path: str, rule: str, gives: tuple[Label, ...]) -> None:
    inferred = infer(label, annotation(path))
    assert (inferred.rule.value, inferred.labels) == (rule, gives)


@pytest.mark.parametrize("path", ["OR:a", "OW:a", "OW*"])
@pytest.mark.parametrize("label", [ASYNC, RUN, seal("b")], ids=str)
def test_an_order_for_all_runs_leaves_nothing_to_be_sensitive_to(label: Label, path: str) -> None:
    inferred = infer(label, annotation(path), Ordering.SEQUENCE)
    assert (inferred.rule.value, inferred.labels) == ("o", (label,))


@pytest.mark.parametrize("path", ["OR:a", "OW:a", "OW*"])
@pytest.mark.parametrize("label", [ASYNC, RUN, seal("b")], ids=str)
def test_an_order_that_is_decided_in_a_run_differs_between_runs(label: Label, path: str) -> None:
    inferred = infer(label, annotation(path), Ordering.DYNAMIC)
    assert (inferred.rule.value, inferred.labels) == ("o", (RUN,))


@pytest.mark.parametrize("ordering", list(Ordering))
def test_no_order_makes_different_contents_the_same(ordering: Ordering) -> None:
    inferred = infer(INST, annotation("OW:a"), ordering)
    assert (inferred.rule.value, inferred.labels) == ("3", (TAINT,))
