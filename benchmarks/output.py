"""Results as Markdown for people and JSON for machines, in ``benchmarks/out``."""

from __future__ import annotations

import enum
import importlib.metadata
import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import floor, log10
from pathlib import Path
from typing import Any

from benchmarks.effort import Effort, say

OUT = Path(__file__).parent / "out"

#: Numbers from here on are written with a power of ten.
_LARGE = 1000


@dataclass(frozen=True)
class Table:
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    remarks: Sequence[str] = ()

    def markdown(self) -> str:
        """Padded, so that it can also be read as it is; the first column to the left, numbers to the right."""
        lines = [self.columns, *self.rows]
        widths = [max(3, *(len(line[i]) for line in lines)) for i in range(len(self.columns))]
        rule = "|".join(("-" * (w + 2)) if i == 0 else ("-" * (w + 1) + ":") for i, w in enumerate(widths))
        header, *body = (
            "| " + " | ".join(_padded(c, w, i) for i, (c, w) in enumerate(zip(line, widths, strict=True))) + " |"
            for line in lines
        )
        remarks = "".join(f"\n{remark}\n" for remark in self.remarks)
        return f"## {self.title}\n\n" + "\n".join((header, f"|{rule}|", *body)) + "\n" + remarks


def _padded(cell: str, width: int, column: int) -> str:
    return cell.ljust(width) if column == 0 else cell.rjust(width)


def several(number: float) -> str:
    """A count that may be astronomically large, also beyond what a float can hold: 24, 4.10e3, 6.20e76."""
    if number < _LARGE:
        return f"{number:.0f}"
    exponent = floor(log10(number))
    mantissa = number / 10**exponent if isinstance(number, int) else number / 10.0**exponent
    return f"{mantissa:.2f}e{exponent}"


@dataclass(frozen=True)
class Machine:
    """What the numbers depend on."""

    cores: int
    architecture: str
    system: str
    python: str
    clingo: str

    @staticmethod
    def here() -> Machine:
        return Machine(
            os.cpu_count() or 1,
            platform.machine(),
            platform.system(),
            platform.python_version(),
            importlib.metadata.version("clingo"),
        )

    def __str__(self) -> str:
        software = f"{self.system}, Python {self.python}, clingo {self.clingo}"
        return f"{self.cores} cores ({self.architecture}), {software}"


def publish(name: str, table: Table, results: Sequence[Any], effort: Effort) -> None:
    """Print the table, and write it and the results (dataclasses) it was made from."""
    OUT.mkdir(exist_ok=True)
    machine = Machine.here()
    text = f"{table.markdown()}\n{effort.name.capitalize()} measurement on {machine}.\n"
    document = {"effort": asdict(effort), "machine": asdict(machine), name: [asdict(r) for r in results]}
    (OUT / f"{name}.md").write_text(text, encoding="utf-8")
    (OUT / f"{name}.json").write_text(json.dumps(document, indent=2, default=_plain) + "\n", encoding="utf-8")
    print(text, flush=True)
    say(f"written: benchmarks/out/{name}.md and .json")


def _plain(value: object) -> object:
    if isinstance(value, enum.Enum):
        return value.value
    raise TypeError(f"no JSON for {value!r}")
