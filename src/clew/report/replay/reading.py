"""A verdict read back from the JSON that ``clew.report.verdict.document`` wrote.

Every value is checked, also those that are not used again: a document with a defect is not what was written.
``docs/verdict.schema.json`` says the same; the tests hold both against each other.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from clew.checker.answers import Standing
from clew.checker.bounds import LONGEST_EXECUTION
from clew.checker.strategies import STRATEGIES
from clew.checker.survey.promises import Part
from clew.duration import Persistence
from clew.engine.conditions import Occurrence
from clew.errors import UsageError
from clew.faults import FIRST_BOUNDS, FIRST_KINDS, KINDS, FailureSpec, Fault, FaultSet, NodeName
from clew.files.json_document import HugeInteger, Item, format_of, read_document, shorten
from clew.program.ir import Param
from clew.report.replay.parts import read_distinct, read_fault, read_node, read_value, read_violation
from clew.report.verdict.document import FORMAT, VERSION
from clew.search.verdict import Answer, Counterexample
from clew.violation import Violation

T = TypeVar("T")

_FIRST_FIELDS = (
    "format", "version", "files", "verdict", "strategy", "spec", "counterexamples", "runs", "combinations",
    "seconds", "reason", "vacuous", "warnings", "sweep",
)  # fmt: skip

#: What version 1 did not have.
_SURVEY = ("cautions", "remarks", "promises", "coverage")
_OF_SWEEPS = ("certified", "candidates")

#: Only of programs that state more than 'pre' and 'post'.
_ANSWERS = "answers"

#: The fields of each version that can be read.
_FIELDS = {1: _FIRST_FIELDS, VERSION: (*_FIRST_FIELDS, *_SURVEY, *_OF_SWEEPS)}

#: No search allows more faults of a kind that passes.
_MOST_PASSING = 1_000_000
_PASSING = "; a node has one fault at a time, and a message arrives twice only if it is on time"


@dataclass(frozen=True)
class SavedVerdict:
    """What a document tells that can be used again."""

    files: tuple[str, ...]
    nodes: tuple[NodeName, ...]
    eot: int
    eff: int
    crashes: int
    delays: int
    answer: Answer
    counterexamples: tuple[Counterexample, ...]
    candidates: tuple[Counterexample, ...] = ()
    duplicates: int = 0
    restarts: int = 0
    pauses: int = 0
    partitions: int = 0
    stops: int = 0
    inputs: int | None = None
    #: Only violations that last for ever were looked for.
    lasting: bool = False
    params: tuple[Param, ...] = ()

    @property
    def settings(self) -> dict[str, str | int]:
        """Return the params that were set; others have the default that the program has now."""
        return {param.name: param.value for param in self.params if param.given}

    @property
    def spec(self) -> FailureSpec:
        _, *numbers = FailureSpec.__match_args__
        return FailureSpec(self.nodes, **{name: getattr(self, name) for name in numbers})


def read_verdict(path: str | Path) -> SavedVerdict:
    """Return the verdict that a file holds."""
    return verdict_of(read_document(path))


def verdict_of(document: Item) -> SavedVerdict:
    """Return the verdict in a document, after checking all of it."""
    fields = _FIELDS[version := _version(document)]
    lasting = "lasting" in document.mapping()
    fields = (*fields, "lasting") if lasting else fields
    if version == VERSION and _ANSWERS in document.mapping():
        fields = (*fields, _ANSWERS)
    part = dict(zip(fields, document.members(*fields), strict=True))
    answer = _answer(part["verdict"])
    # A search at random rules nothing out: such a document was not written by Clew.
    if part["strategy"].one_of(STRATEGIES) == "random" and answer is Answer.CERTIFIED:
        part["strategy"].refuse("a strategy that can certify")
    spec = _spec(part["spec"])
    found = _counterexamples(part["counterexamples"], spec)
    # A verdict and its evidence go together, or one of them was edited.
    if (answer is Answer.COUNTEREXAMPLE) != bool(found):
        part["counterexamples"].refuse(f"{'some' if not found else 'none'} with the verdict {answer.value!r}")
    candidates = _candidates(part["candidates"], answer, spec) if "candidates" in part else ()
    if found or candidates:
        _check_bounds(part["spec"], spec)
    if lasting and part["lasting"].value is not True:
        part["lasting"].refuse("true, or no such field")
    settings = part["sweep"].items()
    _check_reason(part["reason"], answer, swept=bool(settings))
    _check_effort(part["runs"], part["combinations"], part["seconds"])
    if not isinstance(part["vacuous"].value, bool):
        part["vacuous"].refuse("true or false")
    for warning in part["warnings"].items():
        warning.text()
    if part.keys() >= set(_SURVEY):
        _check_survey(*(part[name] for name in _SURVEY))
    if _ANSWERS in part:
        _check_answers(part[_ANSWERS], found)
    for setting in settings:
        _check_setting(setting)
    if "certified" in part:
        _check_certified(part["certified"])
    if not settings:
        _check_no_sweep(part)
    files = tuple(_path(file) for file in part["files"].items())
    return SavedVerdict(
        files,
        spec.nodes,
        answer=answer,
        counterexamples=found,
        candidates=candidates,
        params=_params(part["spec"]),
        lasting=lasting,
        **spec.numbers,
    )


def _version(document: Item) -> int:
    if format_of(document) != FORMAT:
        document.member("format").refuse(f'"{FORMAT}"')
    version = document.member("version")
    if version.number(1) > VERSION:
        raise UsageError(
            f"{document.file}: version {version.value} is newer than version {VERSION}, which this clew reads",
            remedy="upgrade clew, or let this one check again and write it anew",
        )
    return version.number(1)


def _answer(item: Item) -> Answer:
    return Answer(item.one_of(answer.value for answer in Answer))


def _path(item: Item) -> str:
    path = item.text("the path of a file")
    try:
        encoded = os.fsencode(path)
    except UnicodeEncodeError:  # half a character that stands for no byte of a file name
        encoded = b""
    if not encoded or b"\0" in encoded:
        item.refuse("the path of a file")
    return path


def _spec(item: Item) -> FailureSpec:
    _, *every = FailureSpec.__match_args__
    further = [name for name in every if name not in FIRST_BOUNDS and name in item.mapping()]
    with_params = ("params",) if "params" in item.mapping() else ()
    nodes, eot, eff, crashes, delays, *others = item.members("nodes", *FIRST_BOUNDS, *further, *with_params)
    names = tuple(read_distinct(nodes, read_node))
    return FailureSpec(
        names,
        eot.number(1, LONGEST_EXECUTION),
        eff.number(0),
        crashes.number(0),
        delays.number(0, LONGEST_EXECUTION),
        **{
            # No input at all is a bound; no fault of another kind is what is not said.
            name: number.number(0 if name == "inputs" else 1, _MOST_PASSING)
            for name, number in zip(further, others, strict=False)
        },
    )


def _params(spec: Item) -> tuple[Param, ...]:
    if "params" not in spec.mapping():
        return ()
    items = spec.member("params")
    found = tuple(read_distinct(items, _param))
    if not found or len({param.name for param in found}) < len(found):
        items.refuse("some params, each once, or no such field")
    return found


def _param(item: Item) -> Param:
    name, value, given = item.members("name", "value", "set")
    if not isinstance(given.value, bool):
        given.refuse("true or false")
    return Param(name.text(), read_value(value), given.value is True)


def _check_bounds(item: Item, spec: FailureSpec) -> None:
    """Refuse bounds that no finished search has; one that ended before it knew its bounds may."""
    item.member("eff").number(0, spec.eot)
    item.member("crashes").number(0, len(spec.nodes))


def _counterexamples(items: Item, spec: FailureSpec) -> tuple[Counterexample, ...]:
    found: dict[FaultSet, Counterexample] = {}
    for item in items.items():
        _refuse_empty(item)
        kinds = [k for k in KINDS if k.kind.plural in FIRST_KINDS or k.kind.plural in item.mapping()]
        told = ["duration"] if "duration" in item.mapping() else []
        members = item.members(*(kind.kind.plural for kind in kinds), "violated", *told)
        lists, violated = members[: len(kinds)], members[len(kinds)]
        for duration in members[len(kinds) + 1 :]:
            _check_duration(duration)
        faults = FaultSet.of(
            f for kind, listed in zip(kinds, lists, strict=True) for f in _faults(listed, kind, spec)
        )
        if not spec.admits(faults):
            raise item.problem(
                "these faults are not possible together: "
                f"at most {spec.crashes} crash, each node once, and a message is lost or delayed once"
                f"{_PASSING if spec.halts or spec.duplicates else ''}"
            )
        if faults in found:
            raise item.problem("an earlier counterexample has the same faults")
        found[faults] = Counterexample(faults, _violations(violated))
    return tuple(found.values())


def _check_duration(item: Item) -> None:
    persistence, since, loop, followed, reason = item.members("persistence", "since", "loop", "followed", "reason")
    persistence.one_of(kind.value for kind in Persistence)
    followed.number(1)
    if since.value is not None:
        since.number(1)
    if reason.value is not None:
        reason.text("a string or null")
    if loop.value is not None:
        time, period, grows = loop.members("time", "period", "grows")
        time.number(1)
        period.number(1)
        if not isinstance(grows.value, bool):
            grows.refuse("true or false")


def _refuse_empty(item: Item) -> None:
    """Refuse an empty list of a kind that is listed only where it happens: two documents would say the same."""
    for kind in KINDS:
        plural = kind.kind.plural
        if plural not in FIRST_KINDS and plural in item.mapping() and not item.member(plural).items():
            item.member(plural).refuse(f"some {plural}, or no such field")


def _candidates(items: Item, answer: Answer, spec: FailureSpec) -> tuple[Counterexample, ...]:
    found = _counterexamples(items, spec)
    if found and answer is not Answer.INCOMPLETE:
        items.refuse(f"none with the verdict {answer.value!r}")
    return found


def _faults(items: Item, kind: type[Fault], spec: FailureSpec) -> list[Fault]:
    def within_bounds(item: Item) -> Fault:
        fault = read_fault(item, kind)
        if not spec.admits(FaultSet.of([fault])):
            raise item.problem(f"the fault {shorten(str(fault))} is not possible within the bounds of 'spec'")
        return fault

    return read_distinct(items, within_bounds)


def _violations(items: Item) -> tuple[Violation, ...]:
    found = read_distinct(items, read_violation)
    if not found:
        items.refuse("at least one violated row")
    return tuple(found)


def _check_reason(item: Item, answer: Answer, *, swept: bool) -> None:
    if answer is Answer.INCOMPLETE:
        item.text("a string: why the verdict is 'incomplete'")
    elif answer is Answer.CERTIFIED and not swept and item.value is not None:
        item.refuse("null with the verdict 'certified' and no sweep")
    elif item.value is not None:
        item.text("a string or null")


def _check_survey(cautions: Item, remarks: Item, promises: Item, coverage: Item) -> None:
    for text in (*cautions.items(), *remarks.items()):
        text.text()
    for promise in promises.items():
        _check_promise(promise)
    for covered in coverage.items():
        _check_covered(covered)


def _check_promise(item: Item) -> None:
    named = ["relation"] if "relation" in item.mapping() else []
    kind, name, place, applies, follows, *relation = item.members(
        "part", "name", "place", "applies", "follows_from_pre", *named
    )
    for of in relation:
        of.text("a relation")
    kind.one_of(part.value for part in Part)
    name.text()
    applies.one_of(when.value for when in Occurrence)
    _check_place(place)
    if follows.value is not None and not isinstance(follows.value, bool):
        follows.refuse("true, false or null")


def _check_answers(items: Item, found: tuple[Counterexample, ...]) -> None:
    if not items.items():
        items.refuse("an answer for each promise")
    for item in items.items():
        relation, post, answer, numbers, reason = item.members(
            "relation", "post", "answer", "counterexamples", "reason"
        )
        if post.value is not None:
            post.text("a relation or null")
        standing = answer.one_of(standing.value for standing in Standing)
        violating = [
            number
            for number, counterexample in enumerate(found, start=1)
            if any(violation.relation == relation.text() for violation in counterexample.violations)
        ]
        if [number.number(1) for number in numbers.items()] != violating:
            numbers.refuse(f"the counterexamples that violate it: {violating}")
        if (standing == Standing.VIOLATED.value) != bool(violating):
            answer.refuse("'violated' if, and only if, a counterexample violates it")
        if reason.value is not None:
            reason.text("a string or null")


def _check_covered(item: Item) -> None:
    rule, place, fires, times = item.members("rule", "place", "fires", "times")
    rule.text()
    fires.one_of(when.value for when in Occurrence)
    _check_place(place)
    if times.value is not None:
        times.number(0)


def _check_place(item: Item) -> None:
    if item.value is not None:
        item.text("FILE:LINE:COLUMN or null")


def _check_setting(item: Item) -> None:
    eot, eff, answer = item.members("eot", "eff", "verdict")
    eot.number(1, LONGEST_EXECUTION)
    eff.number(0)
    _answer(answer)


def _check_certified(item: Item) -> None:
    if item.value is not None:
        eot, eff = item.members("eot", "eff")
        eot.number(1, LONGEST_EXECUTION)
        eff.number(0)


def _check_no_sweep(part: Mapping[str, Item]) -> None:
    """Refuse what only a sweep can tell."""
    if "certified" in part and part["certified"].value is not None:
        part["certified"].refuse("null without a sweep")
    if "candidates" in part and part["candidates"].items():
        part["candidates"].refuse("none without a sweep")


def _check_effort(runs: Item, combinations: Item, seconds: Item) -> None:
    runs.number(0)
    total = combinations.value
    # Large bounds allow numbers of more digits than Python reads by default.
    huge = isinstance(total, HugeInteger) and not total.text.startswith("-")
    if not huge and (isinstance(total, bool) or not isinstance(total, int) or total < 0):
        combinations.refuse("an integer from 0 on")
    took = seconds.value
    if isinstance(took, bool) or not isinstance(took, int | float) or not 0 <= took < math.inf:
        seconds.refuse("a number of seconds from 0 on")
