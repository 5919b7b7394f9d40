"""What must meet in one step and arrives when it likes, and what only looks like it."""

from __future__ import annotations

import pytest

from analysis.calm.analysis import labels, of_class
from clew.bloom import bloom, channel, interface, periodic, table
from clew.bloom.language.module import Module


class Parts(Module):
    arriving = channel("@dst", "val")
    kept = table("dst", "val")
    asked = interface.input("dst", "val")
    noted = table("dst", "val")
    settings = table("dst", "val")
    clock = periodic(1)
    out = interface.output("dst", "val")

    @bloom
    def keep(self) -> None:
        self.kept <= self.arriving
        self.noted <= self.asked


class InputMeetsWhatArrived(Parts):
    @bloom
    def rules(self) -> None:
        self.out <= (self.asked * self.kept).lefts(val="val")


class MessageMeetsLocalTable(Parts):
    """The table is filled from an input, and it is open whether that comes before the message."""

    @bloom
    def rules(self) -> None:
        self.out <= (self.arriving * self.noted).lefts(val="val")


class MessageMeetsFixedTable(Parts):
    @bloom
    def rules(self) -> None:
        self.out <= (self.arriving * self.settings).lefts(val="val")


class MessageMeetsItself(Parts):
    """Each message meets itself only, so there is no race, and one is reported: see the comment below."""

    @bloom
    def rules(self) -> None:
        self.temp.copy <= self.arriving(lambda a: (a.dst, a.val))
        self.out <= (self.arriving * self.temp.copy).lefts(val="val")


class MessagesMeetEachOther(Parts):
    @bloom
    def rules(self) -> None:
        self.temp.copy <= self.arriving(lambda a: (a.dst, a.val))
        self.out <= (self.arriving * self.temp.copy).pairs(lambda a, b: (a.dst, b.val))


class ClockSaysWhen(Parts):
    @bloom
    def rules(self) -> None:
        self.out <= (self.kept * self.clock).lefts()


class ClockIsRead(Parts):
    @bloom
    def rules(self) -> None:
        self.out <= (self.kept * self.clock).pairs(lambda k, c: (k.dst, c.val))


class FixedAbsence(Parts):
    """What never changes may be absent."""

    @bloom
    def rules(self) -> None:
        self.out <= self.arriving.notin(self.settings)


@pytest.mark.parametrize(
    ("program", "label", "races"),
    [
        (InputMeetsWhatArrived, "D", [("arriving", "asked")]),
        (MessageMeetsLocalTable, "D", [("arriving", "asked")]),
        (MessageMeetsFixedTable, "A", []),
        # A false alarm on purpose: no example or listing needs the law that would tell rows made of one message
        # from others, and such a law can be wrong.  A false D costs a look, a false A costs the data.
        (MessageMeetsItself, "D", [("arriving", "arriving")]),
        (MessagesMeetEachOther, "D", [("arriving", "arriving")]),
        (ClockSaysWhen, "A", []),
        (ClockIsRead, "D", [("arriving", "clock")]),
        (FixedAbsence, "A", []),
    ],
)
def test_races(program: type[Module], label: str, races: list[tuple[str, str]]) -> None:
    analysis = of_class(program)
    assert labels(analysis)["out"] == label
    assert [(race.first, race.second) for race in analysis.races] == races
