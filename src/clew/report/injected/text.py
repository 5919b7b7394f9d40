"""A check of simulated code for the terminal: the answer, the faults, the run that matters, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import TextWrapper

from clew.injection.result import CodeCounterexample, CodeVerdict
from clew.names import harmless
from clew.report.diagrams.lamport_events_text import event_lines
from clew.report.injected.words import (
    difference_text,
    effort_text,
    headline,
    moments_text,
    run_command,
    struck_text,
    undone_lines,
)
from clew.report.simulated.diagram import run_diagram
from clew.report.simulated.run import keep_events, story_of
from clew.report.text.plain import pluralize
from clew.search.verdict import Answer


def code_verdict_text(
    verdict: CodeVerdict, *, then: Sequence[str] = (), width: int = 100, ascii_only: bool = False
) -> str:
    """Return what the terminal shows; ``then`` are lines that follow a counterexample."""
    return harmless("".join(f"{line}\n" for line in _lines(verdict, then, width, ascii_only)))


def _lines(verdict: CodeVerdict, then: Sequence[str], width: int, ascii_only: bool) -> Iterator[str]:
    yield headline(verdict)
    found = verdict.counterexample
    if found is not None:
        yield from _counterexample_lines(verdict, found, then, width, ascii_only)
    elif verdict.answer is Answer.CERTIFIED:
        names = [*verdict.promises, *verdict.invariants]
        yield f"  holds: {', '.join(names)}" if names else "  no handler raises"
        if said := moments_text(verdict.bounds):
            yield f"  tried: {said}"
    for caution in verdict.cautions:
        yield f"  Beware: {caution}."
    if found is not None and verdict.reason is not None:
        yield f"  {verdict.reason}"
    yield f"  {effort_text(verdict)}"


def _counterexample_lines(
    verdict: CodeVerdict, found: CodeCounterexample, then: Sequence[str], width: int, ascii_only: bool
) -> Iterator[str]:
    for fault, time in zip(found.faults, found.struck, strict=True):
        yield f"  {struck_text(fault, time)}"
    yield f"  breaks {found.broken}"
    # One that ends its process is replayed up to there from its recording.
    if verdict.scenario and not (found.recording and found.recording.ends_process):
        yield f"  replay: {run_command(verdict, found)}"
    yield from then
    yield from _diagram_lines(found, width, ascii_only)
    for line in why_lines(found):
        yield from _fold(line, width)
    yield ""


def _diagram_lines(found: CodeCounterexample, width: int, ascii_only: bool) -> Iterator[str]:
    if found.execution is None:
        return
    story = story_of(found.execution)
    shown = keep_events(story, None if found.explanation is None else found.explanation.relevant)
    yield ""
    if len(shown.events) < len(story.events):
        of_all = f"{len(shown.events)} of {pluralize(len(story.events), 'event')}"
        yield f"{of_all}: the faults, and what the outcome rests on"
    yield from event_lines(run_diagram(shown), width=width, ascii_only=ascii_only)


def _fold(line: str, width: int) -> list[str]:
    """Fold a line that is too wide; what follows is indented further."""
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    # Not within words: names of messages and nodes would not be found again.
    wrap = TextWrapper(width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return wrap.wrap(line) or [""]


def why_items(found: CodeCounterexample) -> Iterator[str]:
    """Say what each fault cut, each in one piece."""
    if found.explanation is None:
        return
    for undone in found.explanation.undone:
        yield " ".join(line.strip() for line in undone_lines(undone))
    if found.explanation.difference is not None:
        yield difference_text(found.explanation.difference)


def why_lines(found: CodeCounterexample) -> Iterator[str]:
    """Say what each fault cut."""
    explanation = found.explanation
    if explanation is None:
        return
    yield ""
    yield "Why: each fault is needed."
    for undone in explanation.undone:
        yield from (f"  {line}" for line in undone_lines(undone))
    if explanation.difference is not None:
        yield f"  {difference_text(explanation.difference)}"
