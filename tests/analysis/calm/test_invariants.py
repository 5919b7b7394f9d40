"""What CALM says of ``die``: whether order can break an invariant, apart from the answer about the program."""

from __future__ import annotations

import json
from pathlib import Path

import clew
from clew.analysis.calm.analysis import CalmVerdict, Label, verdict_of
from clew.bloom import Bloom, agg, bloom, channel, interface, table

# mypy: disable-error-code="operator"


class Counting(Bloom):
    """Keeps what it is told; of its invariants, one depends on the order of messages."""

    tell = interface.input("to", "what")
    told = channel("@to", "what")
    kept = table("what")

    @bloom
    def rules(self) -> None:
        self.told <~ self.tell
        self.kept <= self.told.payloads()

    @bloom
    def invariants(self) -> None:
        self.die <= self.kept.filter(lambda k: k.what == "bad")
        self.die <= self.kept.group([], n=agg.count()).filter(lambda g: g.n == 3)


class OnlyDies(Bloom):
    tell = interface.input("what")

    @bloom
    def invariants(self) -> None:
        self.die <= self.tell.filter(lambda k: k.what == "bad")


def test_invariants_are_labelled_and_no_outputs() -> None:
    analysis = clew.calm(Counting).analysis
    assert [(output.name, output.label) for output in analysis.outputs] == [("kept", Label.ASYNCHRONOUS)]
    assert [(one.name, one.label, len(one.points)) for one in analysis.invariants] == [
        ("die", Label.ASYNCHRONOUS, 0),
        ("die_2", Label.DIVERGES, 1),
    ]
    assert verdict_of(analysis) is CalmVerdict.CONSISTENT
    assert clew.calm(Counting).exit_code == 0
    assert verdict_of(clew.calm(OnlyDies).analysis) is CalmVerdict.CONSISTENT
    assert clew.calm(OnlyDies).analysis.outputs == ()


def test_every_form_tells_them(tmp_path: Path) -> None:
    result = clew.calm(Counting)
    text = str(result)
    assert "Invariants (the answer is about executions in which they hold):" in text
    assert "die_2: D, order can decide whether it is broken" in text
    assert "die: A, inputs and messages in any order break it, or in none" in text
    assert [one["label"] for one in json.loads(result.to_json())["invariants"]] == ["A", "D"]
    clew.write_report(result, tmp_path / "page.html")
    assert "order can decide whether it is broken" in (tmp_path / "page.html").read_text(encoding="utf-8")
