"""What the tests of pages share."""

from __future__ import annotations

import pytest

from command import ROOT


@pytest.fixture
def at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that files are named as a user names them."""
    monkeypatch.chdir(ROOT)
