"""A label is a promise about behaviour: drawn programs run in drawn orders and batchings, and keep it.

Nothing here knows how the analysis comes to its labels.  ``pytest --thorough -s`` tries 20,000 programs and prints
how many outputs without a promise were not seen to differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from analysis.calm.drawn_generation import drawn
from analysis.calm.drawn_oracle import FREE, Disagreement, Tried, disagreements, read, shrunk
from analysis.calm.drawn_schedules import NO_END
from analysis.calm.drawn_workloads import workloads
from clew.bloom.runtime import endless
from long_mode import first_of

_SHARDS = first_of(range(8), 3)
_PROGRAMS, _SCHEDULES = 40, 7
_THOROUGH_PROGRAMS, _THOROUGH_SCHEDULES = 2500, 12
#: So many are shrunk and shown; the rest is counted.
_SHOWN = 3


@pytest.mark.parametrize("shard", _SHARDS)
def test_what_a_label_promises_is_kept(shard: int, tmp_path: Path, thorough: bool) -> None:
    programs = _THOROUGH_PROGRAMS if thorough else _PROGRAMS
    schedules = range(_THOROUGH_SCHEDULES if thorough else _SCHEDULES)
    total, broken, unreadable = Tried(), list[tuple[int, Disagreement]](), 0
    for seed in range(shard * programs, (shard + 1) * programs):
        program = drawn(seed)
        subject = read(program, tmp_path)
        if subject is None:
            unreadable += 1
            continue
        given = workloads(program, seed)
        broken += [(seed, found) for found in disagreements(subject, given, schedules, alarms=thorough)]
        total.add(subject.tried)
        for file in tmp_path.iterdir():
            file.unlink()
    if thorough:
        print(_said(total, programs - unreadable))
    assert not broken, _shown(broken, tmp_path, schedules)
    promised = sum(total.outputs[label] for label in FREE)
    assert unreadable < programs / 3
    assert promised > programs / 5
    assert sum(total.spoiled.values()) < total.runs / 3


def test_a_program_whose_step_has_no_end_has_no_outcome(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``s0 <= s0(remembered)`` with a function that gives another row every time it is asked."""
    monkeypatch.setattr(endless, "MOST_COMPUTED", 2_000)
    seed = 20835
    program = drawn(seed)
    subject = read(program, tmp_path)
    assert subject is not None
    assert list(disagreements(subject, workloads(program, seed), range(3), alarms=True)) == []
    assert subject.tried.spoiled[NO_END] > 0


def _said(total: Tried, programs: int) -> str:
    lines = [f"{programs} programs, {total.runs} runs, of which say nothing: {dict(total.spoiled)}"]
    for label in sorted(total.outputs.keys() - set(FREE)):
        alarms = total.outputs[label] - total.differing[label]
        lines.append(f"  {label}: {total.outputs[label]} outputs, {alarms} of them not seen to differ")
    return "\n".join(lines)


def _shown(broken: Sequence[tuple[int, Disagreement]], folder: Path, schedules: Sequence[int]) -> str:
    texts = [f"program {seed}: {shrunk(found, folder, schedules)}" for seed, found in broken[:_SHOWN]]
    return "\n\n".join([f"{len(broken)} labels promise too much: programs {[s for s, _ in broken]}", *texts])
