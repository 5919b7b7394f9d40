"""Deliveries and events from outside are the same numbers wherever a recording is spoken of."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import clew
from clew.minimization.minimizing import Minimized
from clew.simulation.execution.steps import Act, Do, Size, size_of
from clew.simulation.execution.trace import Execution
from scenario_files import TOKENS, scenario_file
from simulated import drawn, everything


def page_size(page: str) -> Size:
    """What the header of a page says."""
    facts = dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", page))
    return Size(int(facts["deliveries"]), int(facts["events from outside"]))


def page_stages(page: str) -> list[Size]:
    """What the table of a page says, stage by stage."""
    rows = re.findall(r'<tr><td>[a-zA-Z]+</td><td class="figure">(\d+)</td><td class="figure">(\d+)</td>', page)
    return [Size(int(deliveries), int(externals)) for deliveries, externals in rows]


def table(text: str) -> list[Size]:
    """What the table in the terminal says."""
    rows = re.findall(r"(?m)^\w+ +(\d+) +(\d+) +\d+$", text.partition("schedules\n")[2])
    return [Size(int(deliveries), int(externals)) for deliveries, externals in rows]


def written(result: clew.Result, folder: Path) -> str:
    clew.write_report(result, folder / "page.html")
    return (folder / "page.html").read_text(encoding="utf-8")


def test_header_table_terminal_and_json_count_alike(tmp_path: Path) -> None:
    """The scenario loses and copies messages, and has messages from outside that do not arrive."""
    scenario = scenario_file(tmp_path, TOKENS)
    fuzzed = clew.fuzz(scenario, at_least=25)
    assert fuzzed.recording is not None
    steps = fuzzed.recording.steps
    acts = [step for step in steps if isinstance(step, Act)]
    assert any(act.do is not Do.DELIVER for act in acts)
    small = clew.minimize(fuzzed.recording, time_limit=2, in_process=True)
    replayed = clew.replay(fuzzed.recording)
    recorded = small.stages[0].size
    assert fuzzed.recording.size == recorded == replayed.execution.size
    assert page_size(written(fuzzed, tmp_path)) == page_size(written(replayed, tmp_path)) == recorded
    assert f"after {recorded.deliveries} deliveries" in str(fuzzed)
    assert f"after {recorded.deliveries} deliveries" in str(replayed)
    check_minimized(small, written(small, tmp_path))


def check_minimized(small: Minimized, page: str) -> None:
    document = json.loads(small.to_json())
    assert page_size(page) == small.size == small.recording.size == small.execution.size
    assert page_stages(page) == [stage.size for stage in small.stages] == table(str(small))
    assert page_stages(page)[-1] == small.size
    assert Size(document["deliveries"], document["externals"]) == small.size
    assert f": {small.size.deliveries} deliver" in " ".join(str(small).split())


@pytest.mark.parametrize("execution", [everything(), *(drawn(seed) for seed in range(8))])
def test_an_execution_is_as_big_as_its_schedule(execution: Execution) -> None:
    delivered = [moment for moment in execution.moments if moment.happened.fate == "deliver"]
    assert execution.size == size_of(moment.step for moment in execution.moments)
    assert execution.deliveries == len(delivered)
