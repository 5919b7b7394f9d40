"""What the end of a command means."""

from __future__ import annotations

import pytest

from clew.cli.process.ending import conclude
from clew.cli.process.state import CommandState


class Interrupted:
    """Ctrl-C comes while a class gives its attributes their names, as dataclasses do during imports."""

    def __set_name__(self, owner: type, name: str) -> None:
        raise KeyboardInterrupt


def make_class() -> None:
    type("Made", (), {"attribute": Interrupted()})


def test_ctrl_c_while_a_class_is_made_is_an_interrupt(capfd: pytest.CaptureFixture[str]) -> None:
    assert conclude(make_class, CommandState()) == 3
    assert capfd.readouterr().err == "interrupted\n"
