"""The examples of Dedalus, with verdicts and explanations that are computed once for all tests of a process."""

from __future__ import annotations

from functools import cache

from clew import Verdict, check
from clew.budgets.deadline import Deadline
from clew.explain.explainer import Explainer
from command import ROOT

EXAMPLES = ROOT / "examples"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.ded"))


def verdict_of(
    name: str, *, strategy: str = "exact", find_all: bool = False, delays: int | None = None
) -> Verdict:
    """Check an example within its own bounds, but for delays."""
    return _verdict_of(name, strategy, find_all, delays)  # one key for one question, however it is put


@cache
def _verdict_of(name: str, strategy: str, find_all: bool, delays: int | None) -> Verdict:
    return check(EXAMPLES / f"{name}.ded", strategy=strategy, find_all=find_all, delays=delays)


def explainer_of(name: str, delays: int | None = None) -> Explainer:
    """Explain an example within its own bounds, but for delays."""
    return _explainer_of(name, delays)


@cache
def _explainer_of(name: str, delays: int | None) -> Explainer:
    found = verdict_of(name, delays=delays)
    assert found.program is not None
    return Explainer(found.program, found.spec, Deadline(None))
