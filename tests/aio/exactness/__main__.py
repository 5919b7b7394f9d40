"""The long comparison: ``PYTHONPATH=tests python -m aio.exactness --programs 5000``.

Programs have numbers, and the same number is the same program everywhere; a disagreement is repeated with ``--from
NUMBER --programs 1``, and its program printed with ``--show``.
"""

from __future__ import annotations

import argparse
import pprint
import sys
import traceback

from aio.exactness.comparing import Counts, DisagreementError, compare
from aio.exactness.programs import draw_program


def run() -> int:
    """Compare programs; return 1 if there is a disagreement."""
    parser = argparse.ArgumentParser(prog="python -m aio.exactness")
    parser.add_argument("--from", dest="first", type=int, default=0, help="the number of the first program")
    parser.add_argument("--programs", type=int, default=100, help="how many")
    parser.add_argument("--most-sets", type=int, default=400, help="sets of faults that are executed, at most")
    parser.add_argument("--show", action="store_true", help="print the programs instead")
    asked = parser.parse_args()
    counts, findings = Counts(), 0
    for number in range(asked.first, asked.first + asked.programs):
        if asked.show:
            pprint.pprint(draw_program(number), width=140)
            continue
        try:
            counts.add(compare(number, most_sets=asked.most_sets))
        except DisagreementError as difference:
            findings += 1
            print(f"DISAGREEMENT {number}: {difference}", flush=True)
        except Exception:
            findings += 1
            print(f"DISAGREEMENT {number}: {traceback.format_exc()}", flush=True)
        if number % 100 == 99:
            print(f"up to {number}: {counts}; {findings} disagreements", flush=True)
    print(f"{counts}; {findings} disagreements")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(run())
