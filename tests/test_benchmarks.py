"""The benchmarks run: the quick form of Figure 12, with the published numbers beside ours."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_figure_12_is_regenerated(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--quick", "--only", "fig12"],
        cwd=ROOT,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for name in ("simple-deliv", "retry-deliv", "classic-deliv", "2pc", "2pc-ctp", "3pc", "kafka"):
        assert f"| {name} " in done.stdout
    assert "(1183.12)" in done.stdout
    table = json.loads((ROOT / "benchmarks" / "out" / "fig12.json").read_text(encoding="utf-8"))
    assert table
