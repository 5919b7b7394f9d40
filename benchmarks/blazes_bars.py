"""The bars of Blazes: sealing costs little, ordering costs more, and the more the more ad servers there are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.bars import Bar
from benchmarks.blazes_evaluation import Measured, found, growth, ratio
from benchmarks.blazes_servers import Variant

#: How many times as long as the uncoordinated network one with seals may take.
SEALED_RATIO = 1.3
_SEALED = (Variant.SEALED, Variant.INDEPENDENT)


def of_blazes(measured: Sequence[Measured]) -> list[Bar]:
    numbers = sorted({m.ad_servers for m in measured})
    return [
        _complete(measured),
        _consistent(measured),
        *(_near_uncoordinated(measured, variant, number) for number in numbers for variant in _SEALED),
        *(_before_ordered(measured, variant, number) for number in numbers for variant in _SEALED),
        *_growth(measured, numbers),
    ]


def _complete(measured: Sequence[Measured]) -> Bar:
    """Speed counts only if nothing is lost."""
    missing = sum(run.records - run.processed for m in measured for run in m.runs)
    runs = sum(len(m.runs) for m in measured)
    return Bar(
        f"blazes: clicks that a report server did not process, in {runs} runs", str(missing), "0", missing == 0
    )


def _consistent(measured: Sequence[Measured]) -> Bar:
    runs = [run for m in measured for run in m.runs if m.variant is not Variant.UNCOORDINATED]
    differing = sum(not run.agreed for run in runs)
    name = f"blazes: coordinated runs in which report servers gave different answers, of {len(runs)}"
    return Bar(name, str(differing), "0", differing == 0)


def _near_uncoordinated(measured: Sequence[Measured], variant: Variant, number: int) -> Bar:
    times = ratio(measured, variant, number)
    ours, free = (found(measured, v, number).seconds for v in (variant, Variant.UNCOORDINATED))
    return Bar(
        f"blazes: {number} ad servers, {variant.value}, beside uncoordinated",
        f"{times:.2f} times ({ours:.2f} s / {free:.2f} s)",
        f"{SEALED_RATIO:g} times",
        times <= SEALED_RATIO,
    )


def _before_ordered(measured: Sequence[Measured], variant: Variant, number: int) -> Bar:
    ours, ordered = (found(measured, v, number).seconds for v in (variant, Variant.ORDERED))
    return Bar(
        f"blazes: {number} ad servers, {variant.value}, beside ordered",
        f"{ordered / ours:.2f} times faster ({ours:.2f} s, {ordered:.2f} s)",
        "faster",
        ours < ordered,
    )


def _growth(measured: Sequence[Measured], numbers: Sequence[int]) -> Iterator[Bar]:
    ordered = growth(measured, Variant.ORDERED)
    for variant in (Variant.UNCOORDINATED, *_SEALED):
        other = growth(measured, variant)
        yield Bar(
            f"blazes: time with {numbers[-1]} ad servers beside {numbers[0]}, ordered and {variant.value}",
            f"{ordered:.2f} times and {other:.2f} times",
            "ordered most",
            ordered > other,
        )
