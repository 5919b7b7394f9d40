"""Jobs for tests of crews: what a process below a worker opens, by name."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from clew.errors import Position, UsageError
from clew.workers.crew import Spent
from clew.workers.serving import FilesNeededError


def open_answering(given: Any, folder: str | None) -> Callable[[Any], Any]:
    """Open what answers as requests say."""
    if given == "refused":
        raise UsageError("not here", remedy="go elsewhere")
    if given == "defective":
        raise KeyError("defect")
    if given == "files" and folder is None:
        raise FilesNeededError("there are none")
    process, served = os.getpid(), [0]

    def serve(request: Any) -> Any:
        served[0] += 1
        match request:
            case "pid":
                return process
            case "count":
                return served[0]
            case "spent":
                return Spent(process)
            case "die":
                os._exit(9)
            case "sleep":
                time.sleep(60)
            case "refuse":
                raise UsageError("no", position=Position("a.py", 1, 2), remedy="ask for less")
            case "fail":
                raise ValueError("defect")
            case ("read", name):
                assert folder is not None
                return (Path(folder) / name).read_bytes()
        return request

    return serve
