"""Read from a saved check or run of code what its execution is made from: the faults, and when it ends."""

from __future__ import annotations

from collections.abc import Sequence

from clew.errors import UsageError
from clew.files.json_document import Item
from clew.injection.faults import CODE_KINDS, CodeFault
from clew.injection.written import read_code_fault
from clew.simulation.scenario import Scenario

#: The longest execution, in seconds: nobody writes a longer one.
_MOST_SECONDS = 1e9


def read_faults(found: Item, scenario: Scenario) -> Sequence[CodeFault]:
    """Read the faults of a counterexample or a run, with the scenario whose nodes they name."""
    return [_read_fault(item, scenario) for item in found.member("faults").items()]


def _read_fault(item: Item, scenario: Scenario) -> CodeFault:
    name = item.member("kind").one_of(kind.name for kind in CODE_KINDS)
    (kind,) = (each for each in CODE_KINDS if each.name == name)
    written = item.member("flag")
    flag, _, value = written.text().partition(" ")
    if flag != kind.kind.flag:
        written.refuse(f'a text that begins with "{kind.kind.flag} "')
    try:
        return read_code_fault(kind, value, scenario)
    except UsageError as error:
        raise written.problem(error.message) from None


def read_until(document: Item) -> float:
    """Read how many seconds of virtual time were simulated at most."""
    item = document.member("bounds").member("until")
    value = item.value
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= _MOST_SECONDS:
        item.refuse("a number of seconds, larger than 0")
    return float(value)
