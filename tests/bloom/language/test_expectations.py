"""What a Bloom class says that its check comes to."""

from __future__ import annotations

from typing import Any

import pytest

import clew
from clew.bloom import Bloom, bloom, channel, checked, outcome, scratch, table
from clew.errors import ProgramError
from clew.expectation import Expectation


class Sends(Bloom):
    """One message, which may be lost."""

    given = scratch("payload")
    chan = channel("@peer", "payload")
    sent = table("payload")
    log = table("payload")
    pre = scratch("payload")
    post = scratch("payload")
    setting = checked(nodes=["a", "b"], eot=3, eff=2, given={"a": {"given": [("m",)]}}, expect="certified")

    @bloom
    def send(self) -> None:
        self.sent <= self.given
        self.chan <~ self.given.map(lambda row: ("b", row.payload))
        self.log <= self.chan.map(lambda row: (row.payload,))

    @outcome
    def arrives(self) -> None:
        self.pre <= self.everywhere.sent.project("payload")
        self.post <= self.everywhere.log.project("payload")


class Inheriting(Sends):
    """Has the setting of its parent, which speaks of the parent only."""


def test_a_difference_is_a_notice() -> None:
    verdict = clew.check(Sends)
    assert verdict.answer is clew.Answer.COUNTEREXAMPLE
    (notice,) = verdict.notices
    assert notice.message == "the program expects 'certified', and the answer is 'counterexample, 1 fault'"
    assert clew.check(Inheriting).notices == ()


def test_what_a_setting_expects() -> None:
    assert checked(nodes=["a"]).expectation is None
    expected = checked(nodes=["a"], expect="counterexample", faults=3).expectation
    assert expected == Expectation("counterexample", 3)


@pytest.mark.parametrize(
    ("stated", "message", "remedy"),
    [
        ({"expect": "certifed"}, "checked(...): unknown answer 'certifed'", "did you mean 'certified'?"),
        ({"expect": "violation"}, "checked(...): unknown answer 'violation' is expected", "use one of "),
        ({"faults": 1}, "checked(...): 'faults' is the size of a counterexample", "state expect=counterexample"),
        ({"expect": "counterexample", "faults": "1"}, "checked(...): 'faults' is '1'", "give a whole number"),
    ],
)
def test_what_cannot_be_expected_is_refused(stated: dict[str, Any], message: str, remedy: str) -> None:
    with pytest.raises(ProgramError) as caught:
        checked(nodes=["a"], **stated)
    assert caught.value.message.startswith(message)
    assert (caught.value.remedy or "").startswith(remedy)
    assert caught.value.position is not None
    assert caught.value.position.file == __file__
