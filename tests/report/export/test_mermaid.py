"""Sequence diagrams: every line is one that Mermaid has, and no label is anything else than a label.

The table of labels was rendered by Mermaid 11.17, and each was drawn as it is written here.
"""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.report.export.events import NOWHERE, Event, Kind, Trace, Unit
from clew.report.export.formats.mermaid import escape, write_mermaid
from long_mode import few
from report.export.traces import TRACES

#: What may stand in a text: nothing that ends it, and no sign that means something without its number.
_TEXT = r"(?:[A-Za-z0-9_ .()=,:]|#\d+;)+"
_NAME = r"(?:[A-Za-z0-9_ ]|#\d+;)+"
#: The lines of a diagram, as far as they are used here.
LINES = [
    r"    %% [^%\n]*",
    rf"    (?:participant|actor) p\d+ as {_NAME}",
    rf"    p\d+(?:->>|--x|--\))p\d+: {_TEXT}",
    rf"    Note over p\d+(?:,p\d+)?: {_TEXT}",
    r"    rect rgb\(255, 235, 215\)",
    r"    end",
]
GRAMMAR = re.compile("|".join(LINES))
_KEYWORDS = re.compile(r"\b(?:end|style|classdef|wrap|nowrap)\b", re.IGNORECASE)

LABELS = [
    *("end", "a;b", "#35;", "x\ny", '"q"', "end of END", "<b>x</b>", "%%{init: {}}%%", "style a:#fff;"),
    *("classDef x:#1;", "wrap:foo", "->>b: c", "a--xb", "é→…", "p1", "rect", "  lead", "note over p1: x"),
    *("$$x^2$$", "a<br/>b", "{}[]|\\`~!@^&*", "loop", "participant p9", "\u2028u", "&amp;", "ﬂ°°59¶ß", "", "box"),
]


def check_grammar(text: str) -> None:
    """Check a diagram line by line: only participants that are declared, and each band closed."""
    first, *lines = text.splitlines()
    assert first == "sequenceDiagram" and text.endswith("\n")
    declared: set[str] = set()
    depth = 0
    for line in lines:
        assert GRAMMAR.fullmatch(line), line
        words = line.split()
        if words[0] in ("participant", "actor"):
            declared.add(words[1])
        elif not line.startswith("    %%"):
            head = line.partition(": ")[0]
            assert set(re.findall(r"\bp\d+", head)) <= declared, line
            assert line.strip() == "end" or not _KEYWORDS.search(line.partition(": ")[2]), line
        depth += words[0] == "rect"
        depth -= line.strip() == "end"
        assert 0 <= depth <= 1
    assert depth == 0


def decode(text: str) -> str:
    """Return what Mermaid draws for a text."""
    return re.sub(r"#(\d+);", lambda code: chr(int(code[1])), text)


@pytest.mark.parametrize("name", TRACES)
def test_every_line_is_one_that_mermaid_has(name: str) -> None:
    check_grammar(write_mermaid(TRACES[name]()))


@pytest.mark.parametrize("label", LABELS)
def test_labels_are_drawn_as_they_are(label: str) -> None:
    assert decode(escape(label)) == (label.strip() or " ")
    assert re.fullmatch(_TEXT, escape(label))
    check_grammar(write_mermaid(labelled(label)))


@given(st.text() | st.lists(st.sampled_from(LABELS)).map(" ".join))
@few(60)
def test_no_label_breaks_out(label: str) -> None:
    assert decode(escape(label)) == (label.strip() or " ")
    check_grammar(write_mermaid(labelled(label)))


def labelled(label: str) -> Trace:
    """Return a trace in which everything is called the same."""
    node = label or "a"
    events = (
        Event(node, 1, Kind.SEND, label, source=node, target="b"),
        Event("b", 2, Kind.RECEIVE, label, label, (0,), node, "b"),
        Event(node, 3, Kind.TIMER, label, remarks=(label,)),
        Event(NOWHERE, 3, Kind.PARTITION, label, cut=True),
        Event(node, 4, Kind.SEND, label, source=node, target="b"),
        Event(NOWHERE, 4, Kind.LOST, label, label, (4,), node, "b"),
        Event(node, 5, Kind.VIOLATION, label),
    )
    return Trace(label, Unit.EVENT, (node, "b"), events, (), (label,), (label,))


def parted(count: int) -> Trace:
    """Return a trace with a partition from the second event to the last but one, and messages in it."""
    middle = [Event("a", k, Kind.LOCAL, f"event {k}") for k in range(count)]
    begin, end = (Event(NOWHERE, 0, kind, kind.value, cut=cut) for kind, cut in _BAND)
    return Trace("parted", Unit.EVENT, ("a",), (middle[0], begin, begin, *middle[1:], end, middle[0]), ())


_BAND = ((Kind.PARTITION, True), (Kind.HEAL, False))


@pytest.mark.parametrize("most", [0, 1, 30, 60, 100, 120, 150, 200, 230, 260, 300, 400, 10_000])
def test_of_a_long_execution_the_end_is_drawn_and_the_cut_is_stated(most: int) -> None:
    trace = parted(6)
    text = write_mermaid(trace, most=most)
    check_grammar(text)
    notes = [line for line in text.splitlines() if line.startswith("    Note")]
    left_out = re.search(r"%% the first (\d+) of 10 events are left out", text)
    assert len(notes) == len(trace.events) - (int(left_out[1]) if left_out else 0)
    assert sum(len(line) + 1 for line in notes) <= most
    assert (left_out is None) == (most >= 300)


def test_a_message_that_arrives_twice_and_one_that_is_under_way() -> None:
    events = (
        Event("a", 1, Kind.SEND, "m", source="a", target="b"),
        Event("b", 2, Kind.RECEIVE, "m", "", (0,), "a", "b"),
        Event("b", 3, Kind.RECEIVE, "m", "", (0,), "a", "b"),
        Event("b", 4, Kind.SEND, "n", source="b", target="a"),
    )
    lines = write_mermaid(Trace("twice", Unit.EVENT, ("a", "b"), events, ())).splitlines()
    assert lines[-3:] == ["    p1->>p2: m", "    p1->>p2: m (again)", "    p2--)p1: n (still under way)"]
