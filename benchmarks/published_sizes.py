"""What the second paper printed (DEMi): its Tables 1, 2 and 3, measured in 2016 on a 2.8 GHz processor."""

from __future__ import annotations

from dataclasses import dataclass

from clew.simulation.execution.steps import Size


@dataclass(frozen=True)
class Cost:
    """What a stage took."""

    seconds: int
    schedules: int


@dataclass(frozen=True)
class PublishedBug:
    """One row of Tables 1 and 2; ``optimal`` is the smallest execution that its authors could make by hand."""

    name: str
    initial: Size
    provenance: Size
    stssched: Size
    tfb: Size
    optimal: Size
    stssched_cost: Cost
    tfb_cost: Cost

    @property
    def scenario(self) -> str:
        """Which scenario of the examples has this bug."""
        folder = self.name.partition("-")[0]
        return f"{folder}/{folder}_bugs.py:{self.name.replace('-', '')}"


def _bug(name: str, sizes: str, costs: str) -> PublishedBug:
    """``sizes`` as deliveries/externals after each stage, ``costs`` as seconds/schedules."""
    initial, provenance, stssched, tfb, optimal = (Size(*_pair(text)) for text in sizes.split())
    of_stssched, of_tfb = (Cost(*_pair(text)) for text in costs.split())
    return PublishedBug(name, initial, provenance, stssched, tfb, optimal, of_stssched, of_tfb)


def _pair(text: str) -> tuple[int, int]:
    first, _, second = text.partition("/")
    return int(first), int(second)


BUGS = (
    _bug("raft-45", "2160/108 2138/108 1183/8 23/8 22/8", "56/594 114/2854"),
    _bug("raft-46", "1250/108 1243/108 674/8 35/8 23/6", "73/384 209/4518"),
    _bug("raft-56", "2380/108 2376/108 1427/8 82/8 21/8", "54/524 2078/31149"),
    _bug("raft-58a", "2850/108 2824/108 953/32 226/31 51/11", "137/624 43345/834972"),
    _bug("raft-58b", "1500/208 1496/208 164/13 40/8 28/8", "23/340 31/1747"),
    _bug("raft-42", "1710/208 1695/208 1093/39 180/21 39/16", "118/568 10558/176517"),
    _bug("raft-66", "400/68 392/68 262/23 77/15 29/10", "14/192 334/10334"),
    _bug("spark-2294", "1000/30 886/30 43/3 40/3 25/1", "330/248 97/78"),
    _bug("spark-3150", "600/20 536/20 18/3 14/3 11/3", "219/174 26/21"),
    _bug("spark-9256", "300/20 256/20 11/1 11/1 11/1", "96/73 0/0"),
)


@dataclass(frozen=True)
class PublishedShrinking:
    """A column of Table 3: raft-45 with nine members; deliveries, and how many bootstrap messages they include."""

    deliveries: int
    bootstraps: int


TABLE_3_INITIAL = PublishedShrinking(360, 9)
TABLE_3_WITHOUT = PublishedShrinking(81, 8)
TABLE_3_WITH = PublishedShrinking(51, 5)
