"""The command as a user runs it: a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def clew(
    *arguments: str, cwd: Path = ROOT, seconds: float = 120, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run ``clew`` with these arguments; keyword arguments go into its environment."""
    return subprocess.run(
        [sys.executable, "-m", "clew", *arguments],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=seconds,
        check=False,
    )
