"""The examples import each other by name, as scripts in one folder do."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "bytewax"))
