"""Fuzzing at the workers of an executor: what they are sent, and what they make of it.

Before a worker counts, it has executed one run and come to the same as the process that hands out: other
libraries, other data or code that is not deterministic show there, and not in an answer that nobody doubts.
"""

from __future__ import annotations

import dataclasses
import hashlib
from dataclasses import dataclass

from clew.budgets.deadline import Deadline
from clew.errors import UsageError
from clew.files.json_document import json_line
from clew.simulation.execution.isolation import call_in_child
from clew.simulation.execution.watchdog import step_limit
from clew.simulation.fuzzing.random_run import random_run
from clew.simulation.fuzzing.search import Search
from clew.simulation.loading import LoadedScenario
from clew.simulation.recordings.replaying import attempt
from clew.simulation.sending import SentScenario, open_scenario, send_scenario
from clew.workers.blocks import Block
from clew.workers.processes import Serve
from clew.workers.tasks import Job


@dataclass(frozen=True)
class FuzzJob:
    """What the runs of a search have in common; ``sample`` is a digest of the run with the number ``first``."""

    scenario: SentScenario
    steps: int
    seed: int
    at_least: int
    first: int
    sample: str


def make_job(loaded: LoadedScenario, seed: int, at_least: int, first: int, *, in_process: bool) -> Job:
    """Return what workers are sent; the run ``first`` has come to its end here."""
    scenario = loaded.scenario
    sample = (
        _sample(loaded, seed + first) if in_process else call_in_child(lambda tell: _sample(loaded, seed + first))
    )
    return Job.of(open_fuzzing, FuzzJob(send_scenario(loaded), scenario.steps, seed, at_least, first, sample))


def open_fuzzing(job: FuzzJob, folder: str | None) -> Serve:
    """Load the scenario at a worker, and return what executes blocks of runs there."""
    loaded = open_scenario(job.scenario, folder)
    loaded = dataclasses.replace(loaded, scenario=dataclasses.replace(loaded.scenario, steps=job.steps))
    seed = job.seed + job.first
    if _sample(loaded, seed) != job.sample:
        raise UsageError(
            f"the run with seed {seed} is not the same there as here",
            remedy="install the same libraries there; the code must depend on state, message and context only",
        )

    def serve(block: Block) -> object:
        # Each time anew: nobody knows whether what it said last has arrived.
        search = Search(loaded, job.seed, 0, job.at_least, Deadline(None), None, in_process=True)
        return search.serve(block)

    return serve


def _sample(loaded: LoadedScenario, seed: int) -> str:
    """Return a digest of all that a recording would have of a run."""
    scenario = dataclasses.replace(loaded.scenario, check_every=1)
    with step_limit(scenario.step_seconds):
        run = random_run(scenario, seed, recording=True)
        digests = attempt(scenario, seed, run.steps).digests
    return hashlib.sha256(json_line([str(digest) for digest in digests]).encode()).hexdigest()
