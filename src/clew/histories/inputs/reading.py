"""Read a history from a file: JSON lines, or EDN as Jepsen writes it.

A line of JSON is an event, or a whole operation with the times of its ends:

    {"process": 0, "type": "invoke", "f": "write", "value": 1, "key": "x", "time": 10}
    {"process": 0, "type": "ok", "f": "write", "argument": 1, "result": 1, "start": 10, "end": 12}

A file has lines of one of these forms.  Nothing in it is trusted: its size, its nesting and each field are
checked.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from clew.errors import Position, UsageError
from clew.files.reading import IRREGULAR_REMEDY, IrregularFileError, read_input
from clew.histories.inputs.edn import EdnReader
from clew.histories.inputs.events import Source, make_event
from clew.histories.inputs.whole import make_operation
from clew.histories.operations import History, order_operations
from clew.histories.pairing import Event, pair_events
from clew.histories.values import Pairs, Symbol, freeze_json

#: A hundred thousand transactions take some twenty megabytes.
LARGEST_HISTORY = 200_000_000

_REMEDY = "each line is a JSON object; docs/histories.md describes its fields"


def read_history(file: str | Path, *, keyed: bool = False) -> History:
    """Return the operations in a file; ``keyed``: its values are pairs of a key and a value.

    What ends in ``.edn`` is read as EDN, everything else as JSON lines.
    """
    text = _read_text(str(file))
    source = Source(str(file), keyed)
    if str(file).endswith(".edn"):
        return pair_events(_edn_events(text, source), source.file)
    lines = list(_json_lines(text, source.file))
    # The first line decides: a file of mixed forms has two clocks, and one of them would be ignored.
    if lines and "start" in lines[0][1]:
        return order_operations((make_operation(fields, line, source) for line, fields in lines), source.file)
    events = (make_event(fields, line, source) for line, fields in lines)
    return pair_events((event for event in events if event is not None), source.file)


def _read_text(file: str) -> str:
    try:
        data = read_input(file, LARGEST_HISTORY, given_open=True)
    except FileNotFoundError:
        raise UsageError(f"{file}: no such file", remedy="name the file of a history") from None
    except IrregularFileError as error:
        raise UsageError(f"{file}: is {error.kind}, not a regular file", remedy=IRREGULAR_REMEDY) from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"{file}: cannot be read ({why})", remedy="check the path and its permissions") from None
    if len(data) > LARGEST_HISTORY:
        size = LARGEST_HISTORY // 1_000_000
        raise UsageError(f"{file}: is larger than {size} MB", remedy="give a part of it: its beginning")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"{file}: not UTF-8 text, from byte {error.start} on"
        raise UsageError(message, remedy="give JSON lines, or EDN in a file whose name ends in .edn") from None


# -- JSON --------------------------------------------------------------------------------------------------------


def _json_lines(text: str, file: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the object of each line that is not empty."""
    # Not ``splitlines``, which also splits at characters that JSON strings may contain.
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            found = json.loads(line, parse_constant=_refuse_constant, object_pairs_hook=_refuse_twice)
            if not isinstance(found, dict):
                raise ValueError("expected an object")
            yield number, {name: freeze_json(value) for name, value in found.items()}
        except json.JSONDecodeError as error:
            where = Position(file, number, error.colno)
            problem = f"not JSON: {error.msg[0].lower()}{error.msg[1:]}"
            raise UsageError(problem, position=where, remedy=_REMEDY) from None
        except RecursionError:
            raise UsageError("nested too deeply", position=Position(file, number, 1), remedy=_REMEDY) from None
        except ValueError as error:
            raise UsageError(str(error), position=Position(file, number, 1), remedy=_REMEDY) from None


def _refuse_constant(text: str) -> object:
    raise ValueError(f"{text} is no number that JSON has")


def _refuse_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # Readers differ in which of two equal names they take, so neither is.
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a field stands there twice")
    return made


# -- EDN ---------------------------------------------------------------------------------------------------------


def _edn_events(text: str, source: Source) -> Iterator[Event]:
    for line, value in EdnReader(text, source.file).members():
        if not isinstance(value, Pairs):
            source.refuse(line, "expected a map for each event", "give the history as Jepsen writes it")
        fields = {name.text.removeprefix(":"): item for name, item in value.items if isinstance(name, Symbol)}
        event = make_event(fields, line, source)
        if event is not None:
            yield event
