"""Read from a saved check or run of code what its execution is made from: the faults, and when it ends."""

from __future__ import annotations

from collections.abc import Sequence

from clew.files.json_document import Item
from clew.injection.faults import CodeFault
from clew.injection.written import flag_reader
from clew.simulation.scenario import Scenario

#: The longest execution, in seconds: nobody writes a longer one.
_MOST_SECONDS = 1e9


def read_faults(found: Item, scenario: Scenario) -> Sequence[CodeFault]:
    """Read the faults of a counterexample or a run, with the scenario whose nodes they name."""
    read = flag_reader(scenario)
    return [read(item.member("flag")) for item in found.member("faults").items()]


def read_until(document: Item) -> float:
    """Read how many seconds of virtual time were simulated at most."""
    item = document.member("bounds").member("until")
    value = item.value
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= _MOST_SECONDS:
        item.refuse("a number of seconds, larger than 0")
    return float(value)
