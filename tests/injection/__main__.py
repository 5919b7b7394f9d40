"""The long comparison: ``PYTHONPATH=tests python -m injection --systems 20000 --log injection.jsonl``.

Systems have numbers, and the same number is the same system everywhere.  What is done is noted in the log, so that
the same command goes on where it was ended; ``--shard 0/2`` and ``--shard 1/2`` share the numbers between two
processes, each with a log of its own.  A disagreement is repeated with ``--from NUMBER --systems 1``, and its
system printed with ``--show``.
"""

from __future__ import annotations

import argparse
import json
import pprint
import sys
import tempfile
import traceback
from dataclasses import asdict
from pathlib import Path

from injection.comparing import Counts, DisagreementError, compare
from injection.systems import draw_system

#: So many are noted in the log together.
BATCH = 100


def run() -> int:
    """Compare systems; return 1 if there is a disagreement."""
    asked = _read_arguments()
    numbers = range(asked.first, asked.first + asked.systems)
    if asked.show:
        for number in numbers:
            pprint.pprint(draw_system(number), width=140)
        return 0
    counts, findings, done = _read_log(asked.log)
    share, shares = map(int, asked.shard.split("/"))
    with tempfile.TemporaryDirectory() as folder:
        for first in range(numbers.start - numbers.start % BATCH, numbers.stop, BATCH):
            if first // BATCH % shares != share or first in done:
                continue
            part = range(max(first, numbers.start), min(first + BATCH, numbers.stop))
            more, found = _compare_batch(part, Path(folder))
            counts.add(more)
            findings += found
            if asked.log is not None and len(part) == BATCH:
                with asked.log.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"from": first, "counts": asdict(more), "findings": found}) + "\n")
            print(f"{part.start}-{part.stop - 1}: {counts}; {len(findings)} disagreements", flush=True)
    return 1 if findings else 0


def _read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m injection")
    parser.add_argument("--from", dest="first", type=int, default=0, help="the number of the first system")
    parser.add_argument("--systems", type=int, default=BATCH, help="how many")
    parser.add_argument("--shard", default="0/1", metavar="K/N", help="of N processes, this is number K from 0 on")
    parser.add_argument("--log", type=Path, help="where whole batches are noted, and what is not done again")
    parser.add_argument("--show", action="store_true", help="print the systems instead")
    return parser.parse_args()


def _read_log(log: Path | None) -> tuple[Counts, list[str], set[int]]:
    counts, findings, done = Counts(), list[str](), set[int]()
    for line in log.read_text(encoding="utf-8").splitlines() if log is not None and log.exists() else ():
        noted = json.loads(line)
        counts.add(Counts(**noted["counts"]))
        findings += noted["findings"]
        done.add(noted["from"])
    return counts, findings, done


def _compare_batch(numbers: range, folder: Path) -> tuple[Counts, list[str]]:
    counts, findings = Counts(), []
    for number in numbers:
        try:
            counts.add(compare(number, folder))
        except DisagreementError as difference:
            findings.append(f"{number}: {difference}")
        except Exception:
            findings.append(f"{number}: {traceback.format_exc()}")
    for finding in findings:
        print(f"DISAGREEMENT {finding}", flush=True)
    return counts, findings


if __name__ == "__main__":
    sys.exit(run())
