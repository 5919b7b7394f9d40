"""The side of a fresh process: it opens the job that it is given first, and answers requests until nobody asks.

Started with the numbers of two open files, and of the process, of who starts it (``fresh``).
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, NamedTuple, NoReturn

from clew.budgets.whereabouts import Whereabouts, die_with, set_whereabouts
from clew.errors import BudgetExhaustedError, ClewError, Position, UsageError
from clew.workers.processes import Serve

#: After so long without a request, nobody will ask any more.
_IDLE_SECONDS = 20.0


class Refusal(NamedTuple):
    """An error of the user's, as it is sent."""

    message: str
    position: Position | None
    remedy: str | None


class FilesNeededError(UsageError):
    """The files of the job are not where they are at the process that handed it out, or not the same."""


class Outcome(NamedTuple):
    """A value, or why there is none: ``refused`` by Clew, or ``failed``, which is a defect of Clew's."""

    value: Any = None
    refused: Refusal | None = None
    failed: str | None = None
    needs_files: bool = False


def main(connection: Connection) -> None:
    """Open a job and answer requests, until the other side has gone or nobody asks."""
    serves: list[Serve] = []
    connection.send(_try(lambda: serves.append(_open(connection))))
    while serves and connection.poll(_IDLE_SECONDS):
        request = connection.recv()
        connection.send(_try(lambda: serves[0](request)))  # noqa: B023  # called at once


def _open(connection: Connection) -> Serve:
    """Open the job that the other side sends."""
    try:
        opener, given, folder = connection.recv()
    except (ImportError, AttributeError) as error:
        raise UsageError(
            f"what was sent cannot be loaded there: {error}",
            remedy="functions of yours cannot be sent; --workers N uses several processes of this machine",
        ) from None
    serve: Serve = opener(given, folder)
    return serve


def _try(work: Callable[[], Any]) -> Outcome:
    try:
        return Outcome(work())
    except FilesNeededError as error:
        return Outcome(refused=Refusal(error.message, error.position, error.remedy), needs_files=True)
    except ClewError as error:
        return Outcome(refused=Refusal(error.message, error.position, error.remedy))
    # Memory ran out, mostly: whoever asked does it again, and sees whether it does so there.
    except BudgetExhaustedError as limit:
        return Outcome(refused=Refusal(str(limit), None, None))
    except Exception:
        return Outcome(failed=traceback.format_exc())


def begin() -> NoReturn:
    """Serve in this process, which was started for it."""
    connection, page, parent = map(int, sys.argv[1:])
    # First of all: whoever started it may be gone already, and then nobody would ever end it.
    die_with(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    whereabouts = Whereabouts(page)
    set_whereabouts(whereabouts)
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        main(Connection(connection))
    # So that it is not taken for a death: nobody had asked for anything.
    whereabouts.finish(0)
    sys.stdout.flush()
    os._exit(0)
