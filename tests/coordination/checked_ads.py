"""The ad network to be checked, as it is and sealed: an ad that has three clicks must not be reported as poor.

With faults, too: a message that is lost must not make an answer wrong, only missing.
"""

from __future__ import annotations

from typing import Any

from clew.bloom import bloom, checked, outcome, scratch, table
from clew.files.python_module import import_file
from command import ROOT

_ads: Any = import_file(ROOT / "examples" / "blazes" / "ad_network.py")

_CLICKS1 = [("spring", 1, "car", 1), ("spring", 1, "car", 2)]
_CLICKS2 = [("spring", 1, "car", 3), ("spring", 1, "tea", 4)]
_REPORTERS = {"reporters": [("report",)]}
_ENDED = {"clicks_ended": [("spring",)]}
_PRODUCERS = {"report.click_seals.producers": [(("spring",), "ads1"), (("spring",), "ads2")]}


def _setting(ended: dict[str, Any], known: dict[str, Any]) -> Any:
    given = {
        "ads1": {"clicks": _CLICKS1, **_REPORTERS, **ended},
        "ads2": {"clicks": _CLICKS2, "requests": [("car",), ("tea",)], **_REPORTERS, **ended},
        "report": known,
    }
    return checked(nodes=["ads1", "ads2", "report"], eot=7, eff=4, crashes=1, given=given)


class Uncoordinated(_ads.SmallAds):  # type: ignore[misc]
    setting = _setting({}, {})
    told = table("client", "id", "part")
    pre = scratch("node", "client", "id", "part")
    post = scratch("node", "client", "id", "part")

    @bloom
    def remember(self) -> None:
        self.told <= self.report.response

    @outcome
    def nothing_wrong_is_told(self) -> None:
        self.pre <= self.everywhere.told
        self.post <= self.everywhere.told.filter(lambda t: t.id == "tea")


class Sealed(Uncoordinated, _ads.SealedAds):  # type: ignore[misc]
    setting = _setting(_ENDED, _PRODUCERS)
