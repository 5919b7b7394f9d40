"""What extraction calls consistent is so: never milder than calm, nor than the behaviour of drawn programs.

Programs and schedules come from ``consistency.drawn_*``, which know nothing of either analysis.  No stream is
sealed: then a sink that is Async promises one outcome for every order and batching of rows, messages and steps.
``pytest --thorough`` tries 20,000 programs.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.calm.drawn_generation import drawn
from analysis.calm.drawn_oracle import read
from analysis.calm.drawn_workloads import workloads
from clew.analysis.blazes import derive
from clew.analysis.blazes.derivation import sink_label
from clew.analysis.blazes.extraction.system import extract
from clew.bloom import Bloom
from clew.errors import ProgramError
from long_mode import first_of

_SHARDS = first_of(range(8), 3)
_PROGRAMS, _SCHEDULES = 40, 10
_THOROUGH_PROGRAMS, _THOROUGH_SCHEDULES = 2500, 12
_SHOWN = 3


def labels_of_sinks(module: type[Bloom]) -> dict[str, str]:
    """Return the label of every output that an input leads to, by the name of the collection."""
    try:
        labelled = derive(extract(module).dataflow)
    except ProgramError as error:
        assert "has no path from an input to an output" in error.message
        return {}
    return {
        sink.source.interface: str(sink_label(labelled.label(sink)))
        for sink in labelled.dataflow.sinks
        if sink.source is not None
    }


@pytest.mark.parametrize("shard", _SHARDS)
def test_an_output_that_is_async_without_seals(shard: int, tmp_path: Path, thorough: bool) -> None:
    programs = _THOROUGH_PROGRAMS if thorough else _PROGRAMS
    schedules = range(_THOROUGH_SCHEDULES if thorough else _SCHEDULES)
    milder: list[str] = []
    consistent, differing = 0, 0
    for seed in range(shard * programs, (shard + 1) * programs):
        program = drawn(seed)
        subject = read(program, tmp_path)
        if subject is None:
            continue
        labels = labels_of_sinks(type(subject.nodes["a"]))
        kept = [name for name, label in labels.items() if label == "Async"]
        diverging = [name for name, label in subject.labels.items() if label == "D"]
        consistent += len(kept)
        differing += len(diverging)
        milder += (
            f"program {seed}: calm calls {name} D, blazes {labels.get(name)}\n{subject.program.text}"
            for name in diverging
            if labels.get(name, "Async") == "Async"
        )
        given = workloads(program, seed)
        milder += (
            f"program {seed}, {found.output} is Async: {found}"
            for found in subject.differing(kept, given, schedules, steps_given=False)
        )
        for file in tmp_path.iterdir():
            file.unlink()
    assert not milder, "\n\n".join([f"{len(milder)} labels promise too much", *milder[:_SHOWN]])
    assert consistent > programs / 6
    assert differing > programs / 6
