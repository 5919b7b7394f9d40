"""The pages that are tested, one for each kind of verdict and of run, and how to read one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from clew import Execution, Fault, Loss, Verdict, check, parse_program, run
from clew.budgets.deadline import Deadline
from clew.explain.explainer import Explainer
from clew.faults import Crash, Delay
from clew.report.verdict.page import run_page, verdict_page

KAFKA: list[Fault] = [Loss("b", "Z", 1), Loss("c", "Z", 1), Crash("a", 4)]

PERSISTENT = """
    start(a, x)@1;  peer(a, b)@1;
    got(M, V)@async :- start(N, V), peer(N, M);
    got(N, V)@next :- got(N, V);
"""
VACUOUS = """
    start(a, x)@1;  start(N, V)@next :- start(N, V);  gone(M, V)@async :- nothing(N, V), start(N, M);
    nothing(N, V)@next :- nothing(N, V);  pre(N, V) :- nothing(N, V);  post(N, V) :- start(N, V);
"""
BROKEN_ALREADY = """
    start(a, x)@1;  start(N, V)@next :- start(N, V);  peer(a, b)@1;
    got(M, V)@async :- start(N, V), peer(N, M);
    pre(N, V) :- start(N, V);  post(N, V) :- got(N, V);
"""
#: It recovers after 70 steps, longer than a sweep follows a run.
LATE = """
    peer(a, b); peer(X, Y)@next :- peer(X, Y); hello(a, b)@1;
    clock(a, 0); clock(X, T + 1)@next :- clock(X, T);
    got(Y, X)@async :- hello(X, Y); got(Y, X)@async :- peer(X, Y), clock(X, 70); got(X, Y)@next :- got(X, Y);
    pre(Y, X) :- peer(X, Y); post(X, Y) :- got(X, Y);
"""
BOUNDS: dict[str, Any] = {"nodes": ["a", "b"], "eot": 4, "eff": 2, "crashes": 1}


# -- reading a page ---------------------------------------------------------------------------------------------


@dataclass
class Read(HTMLParser):
    """The page taken apart: its elements, scripts, and the text of each element that has an id or a class."""

    html: str
    tags: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    scripts: list[tuple[dict[str, str | None], str]] = field(default_factory=list)
    texts: dict[str, list[str]] = field(default_factory=dict)
    _open: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.feed(self.html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "link", "input", "path", "br"):
            self._open.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append((dict(attrs), ""))

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not self._open:
            return
        tag, attributes = self._open[-1]
        if tag == "script":
            self.scripts[-1] = (self.scripts[-1][0], self.scripts[-1][1] + data)
        for name in (attributes.get("id"), *(attributes.get("class") or tag).split()):
            if name:
                self.texts.setdefault(name, []).append(data)

    @property
    def data(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.scripts[0][1])
        return found

    def elements(self, tag: str, **wanted: str) -> list[dict[str, str | None]]:
        return [a for t, a in self.tags if t == tag and all(a.get(k) == v for k, v in wanted.items())]

    def text(self, name: str) -> str:
        return " ".join(self.texts.get(name, []))


def explainer_of(result: Verdict | Execution, deadline: Deadline | None = None) -> Explainer:
    assert result.program is not None
    return Explainer(result.program, result.spec, deadline or Deadline(None))


def page_of(verdict: Verdict, files: Sequence[str] = ("examples/x.ded",)) -> str:
    return verdict_page(verdict, files, explainer_of(verdict), lambda stage: None)


def page_of_run(execution: Execution) -> str:
    return run_page(execution, ("examples/x.ded",), explainer_of(execution), lambda stage: None)


@cache
def checked(name: str, **options: Any) -> Verdict:
    return check(Path("examples") / f"{name}.ded", **options)


VERDICTS = {
    "counterexample": lambda: checked("kafka"),
    "all counterexamples": lambda: checked("classic-deliv", find_all=True),
    "certified": lambda: checked("ack-deliv"),
    "incomplete": lambda: checked("redun-deliv", strategy="random", max_runs=12),
    "sweep": lambda: checked("ack-deliv", effort=0.01),
    "stopped sweep": lambda: checked("ack-deliv", strategy="lineage", effort=1, max_runs=20),
    "candidate": lambda: check(parse_program(LATE), crashes=0),
    "lineage": lambda: checked("retry-deliv", strategy="lineage"),
    "lineage certified": lambda: checked("redun-deliv", strategy="lineage", eot=6, eff=5),
    "exhaustive": lambda: checked("simple-deliv", strategy="exhaustive", find_all=True),
    "delays": lambda: checked("simple-deliv", eff=0, delays=1, find_all=True),
    "kept away": lambda: checked("bully-le-lossy"),
    "no assertions": lambda: check(parse_program(PERSISTENT), **BOUNDS),
    "vacuous": lambda: check(parse_program(VACUOUS), **BOUNDS, allow_hollow=True),
    "hollow": lambda: check(parse_program(VACUOUS), **BOUNDS),
    "no fault needed": lambda: check(parse_program(BROKEN_ALREADY), **BOUNDS),
    "no fault possible": lambda: checked("simple-deliv", eff=0, crashes=0),
    "one step": lambda: check(parse_program(PERSISTENT), nodes=["a", "b"], eot=1, eff=1, crashes=1),
    "one node": lambda: check(parse_program(PERSISTENT), nodes=["a"], eot=3, eff=2, crashes=1),
    "numbers": lambda: check(
        parse_program(PERSISTENT.replace("(a, b)", "(1, 2)").replace("(a, x)", "(1, -7)")),
        nodes=[1, 2], eot=3, eff=2, crashes=1,
    ),
}  # fmt: skip
RUNS = {
    "good run": lambda: run("examples/kafka.ded"),
    "violated run": lambda: run("examples/kafka.ded", KAFKA),
    "good run with faults": lambda: run("examples/ack-deliv.ded", [Loss("a", "b", 1), Crash("b", 4)]),
    "late run": lambda: run("examples/simple-deliv.ded", [Delay("a", "b", 1, 3)]),
    "broken already": lambda: run(parse_program(BROKEN_ALREADY), nodes=["a", "b"], eot=3),
    "without assertions": lambda: run(parse_program(PERSISTENT), [Crash("a", 1)], nodes=["a", "b"], eot=3),
}


@cache
def html(name: str) -> str:
    return page_of(VERDICTS[name]()) if name in VERDICTS else page_of_run(RUNS[name]())


@cache
def read(name: str) -> Read:
    return Read(html(name))


EVERY = pytest.mark.parametrize("name", [*VERDICTS, *RUNS])
