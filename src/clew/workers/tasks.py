"""What is sent to an executor, and the one function that is executed there.

Sent are functions of Clew, by their names, with plain values: where the file is that the user named, digests of
the code, or texts that the user named.  Nothing is sent that a document chose.  ``perform`` is called by whatever
the executor is made of, and pickled by it; whoever may talk to such workers can make them execute anything, with
Clew or without (SECURITY.md).

Each worker says first whether it is fit: it must have the same Clew, Python and files, or its answers would be
about something else.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import socket
import sys
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

from clew.errors import UsageError
from clew.files.reading import read_source
from clew.workers.crew import Spent
from clew.workers.fresh import FreshProcess
from clew.workers.processes import Serve, WorkerDiedError, wait_for_replies
from clew.workers.serving import Outcome, Refusal

#: Opens a job in a process: given what was sent, and the folder with the files if these were sent, too.
Opener = Callable[[Any, str | None], Serve]

_POLL_SECONDS = 0.05
#: What knows its time limit itself has something to say when it is over.
_PATIENCE_SECONDS = 3.0
#: So many jobs may have a process of their own in one worker: searches of several users, in turn.
_MOST_KEPT = 4


class Build(NamedTuple):
    """What must be the same here and at the worker."""

    clew: str
    python: str

    def difference_from(self, other: Build) -> str | None:
        """Say how this build differs from another; None if it does not."""
        if self.python != other.python:
            return f"it has Python {self.python}, and here it is {other.python}"
        if self.clew != other.clew:
            return f"it has Clew {self.clew}, and here it is {other.clew}"
        return None


@cache
def own_build() -> Build:
    """Return the versions of this process; that of Clew with a digest, for not every change is a version."""
    try:
        number = version("clew")
    except PackageNotFoundError:
        number = "unknown"
    digest = hashlib.sha256()
    # Half a hundredth of a second, once for each process: a checkout that differs by a line has the same number.
    root = Path(__file__).parents[1]
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + read_source(path) + b"\0")
    # The last part of the version of Python changes nothing of what is executed: random numbers, order, floats.
    return Build(f"{number} ({digest.hexdigest()[:12]})", "{}.{}".format(*sys.version_info))


@dataclass(frozen=True)
class Job:
    """What all requests of a search have in common.

    ``key``: the same for the same job, so that a process that has opened it is used again.
    ``files``: those of the user, if they are sent.
    """

    opener: Opener
    given: Any
    files: Mapping[str, bytes] | None = None
    build: Build = field(default_factory=own_build)
    key: str = ""

    @staticmethod
    def of(opener: Opener, given: Any) -> Job:
        """Return a job that is opened by a function of Clew's, with plain values."""
        try:
            packed = pickle.dumps((opener, given))
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            raise UsageError(
                f"this cannot be sent to the workers of an executor: {error}",
                remedy="--workers N uses several processes of this machine",
            ) from None
        return Job(opener, given, key=hashlib.sha256(packed).hexdigest())


class Reply(NamedTuple):
    """What a worker says.

    ``unfit``: it cannot do this job at all, because of ``where`` it is.  ``needs_files``: it has not those of the
    job.  ``died``: the process for the user's code did not come back; ``how`` it ended, None if it was stuck.
    """

    value: Any = None
    seconds: float = 0.0
    where: str = ""
    unfit: Refusal | None = None
    needs_files: bool = False
    refused: Refusal | None = None
    failed: str | None = None
    died: Refusal | None = None
    how: str | None = None


def perform(job: Job, request: Any, seconds: float | None, turn: str) -> Reply:
    """Do a request in a process below this one, for at most so long.

    ``turn`` makes each call another one: an executor may take equal calls for one.
    """
    where = f"{socket.gethostname()}, process {os.getpid()}"
    difference = own_build().difference_from(job.build)
    if difference is not None:
        remedy = "install the same Clew, with the same Python, wherever there are workers"
        return Reply(where=where, unfit=Refusal(difference, None, remedy))
    started = time.monotonic()
    # Once more if the process had left at this very moment.
    for _ in range(2):
        try:
            opened = _processes().open(job)
            if isinstance(opened, Reply):
                return opened._replace(where=where)
            outcome = _ask(opened, request, None if seconds is None else started + seconds + _PATIENCE_SECONDS)
        except WorkerDiedError as death:
            # That one left is no loss: it had not begun with this request.
            if _processes().drop(job):
                continue
            return Reply(where=where, died=Refusal(death.message, death.position, death.remedy), how=death.how)
        value = outcome.value
        # Work that was given up goes on there, and would take the time of whatever came next.
        if isinstance(value, Spent):
            _processes().drop(job)
            value = value.value
        return Reply(value, time.monotonic() - started, where, None, False, outcome.refused, outcome.failed)
    raise RuntimeError("the process left twice")


def _ask(process: FreshProcess, request: Any, latest: float | None) -> Outcome:
    process.ask(request)
    while not wait_for_replies([process], _POLL_SECONDS):
        if latest is not None and time.monotonic() > latest:
            raise WorkerDiedError("the time was over", "give more time")
    outcome: Outcome = process.reply()
    return outcome


class _Kept:
    """The processes of a thread, by the key of their job.

    Of a thread, because they end with the thread that has started them (``die_with``).
    """

    def __init__(self) -> None:
        self._by_key: dict[str, FreshProcess] = {}
        # When the thread is over, or this process.
        weakref.finalize(self, _end_all, self._by_key)

    def open(self, job: Job) -> FreshProcess | Reply:
        """Return a process that has opened a job; a reply if that cannot be."""
        process = self._by_key.get(job.key)
        if process is not None and not process.has_ended:
            return process
        self.drop(job)
        # The oldest goes: searches take turns, and whoever was not heard of for longest is probably over.
        while len(self._by_key) >= _MOST_KEPT:
            self._by_key.pop(next(iter(self._by_key))).end()
        process = self._by_key[job.key] = FreshProcess()
        try:
            folder = None if job.files is None else process.place_files(job.files)
        except OSError as error:
            self.drop(job)
            return Reply(unfit=Refusal(f"the files cannot be written there ({error.strerror})", None, None))
        outcome = _ask(process, (job.opener, job.given, folder), None)
        if outcome.refused is None and outcome.failed is None:
            return process
        # A process that could not open the job has perhaps imported half of it.
        self.drop(job)
        if outcome.needs_files and job.files is None:
            return Reply(needs_files=True)
        return Reply(unfit=outcome.refused, failed=outcome.failed)

    def drop(self, job: Job) -> bool:
        """End the process of a job; True if it had left by itself."""
        process = self._by_key.pop(job.key, None)
        if process is None:
            return False
        left = process.has_left
        process.end()
        return left


def _end_all(processes: dict[str, FreshProcess]) -> None:
    for process in processes.values():
        process.end()


class _OfThread(threading.local):
    def __init__(self) -> None:
        self.kept = _Kept()


_of_thread = _OfThread()


def _processes() -> _Kept:
    return _of_thread.kept
