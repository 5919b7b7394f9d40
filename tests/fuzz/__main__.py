"""Long runs of the fuzzers: ``PYTHONPATH=tests python -m fuzz``.

The inputs have numbers, and the same number is the same input everywhere: a long run is resumed with ``--from``,
and a finding is repeated with ``--reader NAME --from NUMBER --inputs 1``, its input printed with ``--show``.
Several processes share the work if each has a ``--shard``.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
import traceback
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from fuzz.readers import READERS, Reader, input_of
from fuzz.running import Finding, Tally, distinct, fuzz_reader
from fuzz.wire_checks import WIRE_CHECKS

#: So many inputs of a reader in turn: readers take between a fifth of a millisecond and fifty for one.
_STEPS = {"bloom": 250, "checkpoint": 100, "command": 400, **dict.fromkeys(WIRE_CHECKS, 5000)}
_STEP = 1000


def run() -> int:
    """Fuzz what the command line says; return 1 if there is a finding."""
    known = {reader.name: reader for reader in READERS}
    names = [*known, *WIRE_CHECKS]
    parser = argparse.ArgumentParser(prog="python -m fuzz")
    parser.add_argument("--reader", choices=names, help="only this one")
    parser.add_argument("--from", dest="first", type=int, default=0, help="the number of the first input")
    parser.add_argument("--inputs", type=int, default=1000, help="how many, for each reader")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin nothing after so many seconds")
    parser.add_argument("--shard", default="0/1", metavar="I/N", help="one part of so many, from 0")
    parser.add_argument("--log", type=Path, help="append what was counted to a file, an object a line")
    parser.add_argument("--show", action="store_true", help="print the inputs instead")
    asked = parser.parse_args()
    chosen = [name for name in names if asked.reader in (None, name)]
    numbers = range(asked.first, asked.first + asked.inputs)
    if asked.show:
        for name in chosen:
            if name in known:
                _show(known[name], numbers)
        return 0
    shard, shards = map(int, asked.shard.split("/"))
    begun, findings = time.monotonic(), 0
    turns = -(-asked.inputs // (min(_STEPS.get(name, _STEP) for name in chosen) * shards))
    for turn in range(turns):
        for name in chosen:
            step = _STEPS.get(name, _STEP)
            start = numbers.start + (turn * shards + shard) * step
            part = range(start, min(start + step, numbers.stop))
            if part and time.monotonic() - begun <= asked.seconds:
                findings += _fuzz(name, known.get(name), part, asked.log)
    print(f"{findings} findings")
    return 1 if findings else 0


def _fuzz(name: str, reader: Reader | None, part: range, log: Path | None) -> int:
    """Give a reader a part of its inputs, tell what became of them, and return how many are findings."""
    before = _processor_seconds()
    tally = _check(name, part) if reader is None else fuzz_reader(reader, part)
    taken = _processor_seconds() - before
    codes = ", ".join(f"{code}: {count}" for code, count in sorted(tally.codes.items()))
    rate = f"{tally.inputs / max(taken, 0.001):.0f} a second of the processor"
    print(f"{name} {part.start}-{part.stop - 1}: {rate}{codes and f'; exit codes {codes}'}", flush=True)
    if tally.ended:
        print(f"  ended from outside, at their limit: {tally.ended}", flush=True)
    for what, same in distinct(tally.findings).items():
        print(f"  FINDING {[f.number for f in same][:10]} ({len(same)}): {what}", flush=True)
    if log is not None:
        with log.open("a", encoding="utf-8") as file:
            told = {"reader": name, "first": part.start, "seconds": round(taken, 3), **asdict(tally)}
            file.write(json.dumps(told) + "\n")
    return len(tally.findings)


def _check(name: str, part: Sequence[int]) -> Tally:
    """Check packets in this process: nothing that is read of them is executed."""
    tally = Tally(0, {}, [], [])
    for number in part:
        tally.inputs += 1
        try:
            WIRE_CHECKS[name](number)
        except Exception:
            tally.findings.append(Finding(name, number, traceback.format_exc()[-3000:]))
    return tally


def _processor_seconds() -> float:
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def _show(reader: Reader, numbers: range) -> None:
    for number in numbers:
        given = input_of(reader, number)
        print(f"{reader.name}/{number}: {given.arguments}")
        for name, content in given.files.items():
            print(f"--- {name}\n{content.decode('utf-8', 'replace')}")


if __name__ == "__main__":
    sys.exit(run())
