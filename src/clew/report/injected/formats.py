"""What documents about simulated code under faults call themselves, and the versions of their shapes."""

from __future__ import annotations

VERDICT_FORMAT, VERDICT_VERSION = "clew check of code", 1
