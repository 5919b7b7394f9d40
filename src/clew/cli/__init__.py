"""The command line.

A command lives for a moment: collecting garbage while it starts would take a twentieth of that.
"""

from __future__ import annotations

import gc

gc.set_threshold(50_000, 20, 20)
