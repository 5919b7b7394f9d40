"""Shows what ``clew.minimize`` returns: text, JSON, JUnit and the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from clew.minimization.minimizing import Minimized
from clew.minimization.searching.stages import Stage
from clew.names import in_one_line
from clew.report.renderers import PageOptions
from clew.report.simulated.text import run_text
from clew.report.simulated.violations import UNNAMED, recording_fields, replay_line
from clew.report.text.json_text import json_text as write_json
from clew.report.text.json_text import result_fields
from clew.simulation.execution.steps import Size

#: What the document calls itself, and the version of its shape.
FORMAT, VERSION = "clew minimize", 1


def text(found: Minimized) -> str:
    """Return what the terminal shows, but for what to do with the recording."""
    return minimize_text(found)


def minimize_text(
    found: Minimized, *, then: Sequence[str] = (), ascii_only: bool = False, brief: bool = False
) -> str:
    """Return the smallest execution and what each stage left; ``then`` are the last lines.

    ``brief``: show the diagram and the table, not what each event did.
    """
    name = found.recording.scenario or "the scenario"
    lines = [run_text(name, found.execution, ascii_only=ascii_only, brief=brief), *stage_table(found.stages)]
    if found.reason is not None:
        lines.append(f"INCOMPLETE: {found.reason}; this is the best so far.")
    return "".join(f"{line}\n" for line in [*lines, *then])


def minimize_next_steps(found: Minimized, recorded_in: str | None) -> list[str]:
    """Say what to do with the recording of the smallest execution, or how to get it."""
    if recorded_in is None:
        return ["  not recorded: to keep it, run the same command with -o min.json"]
    replay = replay_line(recorded_in, found.recording.scenario)
    return [f"  recorded in {in_one_line(recorded_in)}", f"  replay:   {replay} --step"]


def stage_table(stages: Sequence[Stage]) -> Iterator[str]:
    """Show what each stage left, and how many schedules it tried: table 1 of the paper, for one recording."""
    yield "stage         deliveries  externals  schedules"
    for stage in stages:
        size = stage.size
        yield f"{stage.name:12}  {size.deliveries:10}  {size.externals:9}  {stage.schedules:9}"


# -- for machines ------------------------------------------------------------------------------------------------


def json_text(found: Minimized) -> str:
    """Return what ``--json`` writes."""
    return write_json(minimize_document(found))


def minimize_document(found: Minimized) -> dict[str, Any]:
    """Return a minimization as an object; ``docs/json.md`` documents its fields."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "scenario": found.recording.scenario,
        **result_fields(found),
        "seed": found.recording.seed,
        "violation": recording_fields(found.recording, found.execution),
        **_size_fields(found.size),
        # Without the seconds of each: the same recording gives the same bytes.
        "stages": [{"name": s.name, **_size_fields(s.size), "schedules": s.schedules} for s in found.stages],
        "warnings": [str(notice) for notice in found.notices],
    }


def _size_fields(size: Size) -> dict[str, int]:
    return {"deliveries": size.deliveries, "externals": size.externals}


def junit(found: Minimized) -> str:
    """Return what ``--junit`` writes: a case that passes if the search came to its end."""
    from clew.report.text.junit import junit_xml, result_case

    name = found.recording.scenario or UNNAMED
    return junit_xml([result_case(found, name, "minimize", found.reason or "", text(found))], found.notices)


def page(found: Minimized, options: PageOptions) -> str:
    """Return what ``--report`` writes: the smallest execution, event by event, and how it was found."""
    from clew.report.simulated.page import run_page

    return run_page(
        found.recording.scenario or UNNAMED,
        found.execution,
        replay=replay_line(options.recorded_in, found.recording.scenario),
        stages=found.stages,
        facts=[("seed", str(found.recording.seed))],
        cautions=[f"The search was stopped: {found.reason}."] if found.reason else [],
    )
