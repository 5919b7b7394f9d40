"""A node in a process of its own: ``node.py CLASS [DATA]`` prints its address and runs until a signal."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path


def main(name: str, data: str | None = None) -> None:
    sys.path.insert(0, str(Path(__file__).parents[1]))
    node = getattr(importlib.import_module("network_programs"), name)(data=data)
    node.run(ready=lambda: print(node.ip_port, flush=True))
    print("ended", sorted(node.garbage.items()), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
