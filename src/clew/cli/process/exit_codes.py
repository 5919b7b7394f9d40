"""What the commands tell their caller.

0, 1 and 3 are answers, and only a command that has come to one chooses them.  Everything else that can happen is 2
or 4: an exception must never be read as a counterexample.
"""

from __future__ import annotations

from clew.search.verdict import Answer

HOLDS = 0
VIOLATED = 1
BAD_INPUT = 2
INCOMPLETE = 3
FAILED = 4

OF_ANSWER = {Answer.CERTIFIED: HOLDS, Answer.COUNTEREXAMPLE: VIOLATED, Answer.INCOMPLETE: INCOMPLETE}
