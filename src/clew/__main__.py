"""``python -m clew``: the same as the ``clew`` command."""

from __future__ import annotations

from clew.cli.main import main

main()
