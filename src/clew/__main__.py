"""``python -m clew``: the same as the ``clew`` command."""

from __future__ import annotations

from clew.cli.process.entry import run

run()
