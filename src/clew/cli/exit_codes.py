"""What the commands tell their caller."""

from __future__ import annotations

from clew.search.verdict import Answer

HOLDS = 0
VIOLATED = 1
BAD_INPUT = 2
INCOMPLETE = 3

OF_ANSWER = {Answer.CERTIFIED: HOLDS, Answer.COUNTEREXAMPLE: VIOLATED, Answer.INCOMPLETE: INCOMPLETE}
