"""Long runs of the fuzzers: ``PYTHONPATH=tests python -m fuzz``.

The inputs have numbers, and the same number is the same input everywhere: a long run is resumed with ``--from``,
and a finding is repeated with ``--reader NAME --from NUMBER --inputs 1``, its input printed with ``--show``.
"""

from __future__ import annotations

import argparse
import sys
import time

from fuzz.readers import READERS, input_of
from fuzz.running import distinct, fuzz_reader

_STEP = 1000


def run() -> int:
    """Fuzz what the command line says; return 1 if there is a finding."""
    parser = argparse.ArgumentParser(prog="python -m fuzz")
    parser.add_argument("--reader", choices=[reader.name for reader in READERS], help="only this one")
    parser.add_argument("--from", dest="first", type=int, default=0, help="the number of the first input")
    parser.add_argument("--inputs", type=int, default=1000, help="how many, for each reader")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin nothing after so many seconds")
    parser.add_argument("--show", action="store_true", help="print the inputs instead")
    asked = parser.parse_args()
    readers = [reader for reader in READERS if asked.reader in (None, reader.name)]
    numbers = range(asked.first, asked.first + asked.inputs)
    if asked.show:
        for reader in readers:
            for number in numbers:
                given = input_of(reader, number)
                print(f"{reader.name}/{number}: {given.arguments}")
                for name, content in given.files.items():
                    print(f"--- {name}\n{content.decode('utf-8', 'replace')}")
        return 0
    begun, findings = time.monotonic(), []
    for start in range(numbers.start, numbers.stop, _STEP):
        for reader in readers:
            if time.monotonic() - begun > asked.seconds:
                continue
            part, at = range(start, min(start + _STEP, numbers.stop)), time.monotonic()
            tally = fuzz_reader(reader, part)
            rate = tally.inputs / (time.monotonic() - at)
            codes = ", ".join(f"{code}: {count}" for code, count in sorted(tally.codes.items()))
            print(
                f"{reader.name} {part.start}-{part.stop - 1}: {rate:.0f} a second; exit codes {codes}", flush=True
            )
            if tally.ended:
                print(f"  ended from outside, at their limit: {tally.ended}", flush=True)
            for what, same in distinct(tally.findings).items():
                print(f"  FINDING {[f.number for f in same][:10]} ({len(same)}): {what}", flush=True)
            findings += tally.findings
    print(f"{len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(run())
