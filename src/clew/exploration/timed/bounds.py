"""How far an exploration in virtual time goes: which latencies and speeds it tries, of all that there are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from clew.errors import UsageError
from clew.simulation.pool import OUTSIDE, Link
from clew.simulation.scenario import Scenario
from clew.simulation.timing import Clock, show_time, to_ticks

#: The least and the most, and the slowest and the fastest.
DEFAULT_LATENCIES = DEFAULT_CLOCKS = 2
#: More are a slip: the number of executions grows with it to the power of the number of messages.
_MOST = 1000


@dataclass(frozen=True)
class TimedBounds:
    """What is tried of what is open.

    ``latencies``: of messages on each link, in microseconds.  ``speeds``: of the clock of each node.  ``drawn``:
    that the speeds are those of a seed.  ``losses``, ``duplicates``: how often each link loses or duplicates a
    message.  ``until``: when executions end, in microseconds.
    """

    latencies: Mapping[Link, tuple[int, ...]]
    speeds: Mapping[str, tuple[float, ...]]
    drawn: int | None
    losses: int
    duplicates: int
    until: int

    def __str__(self) -> str:
        return ", ".join(
            (
                *self._tell_latencies(),
                *self._tell_clocks(),
                _tell_most(self.losses, "loss", "losses"),
                _tell_most(self.duplicates, "duplicate", "duplicates"),
                f"until {show_time(self.until)}",
                "every order of what is due at one time",
            )
        )

    @property
    def leaves_out(self) -> str:
        """Say what of that which is open is not tried; "" if nothing is left out."""
        spread = any(len(ticks) > 1 for ticks in self.latencies.values())
        drifts = self.drawn is not None or any(len(speeds) > 1 for speeds in self.speeds.values())
        return " and ".join(["other latencies between these"] * spread + ["other speeds of clocks"] * drifts)

    def group_links(self) -> list[tuple[tuple[int, ...], list[Link]]]:
        """Return the links by their latencies: first those that most links have."""
        by_latency: dict[tuple[int, ...], list[Link]] = {}
        for link, ticks in self.latencies.items():
            by_latency.setdefault(ticks, []).append(link)
        return sorted(by_latency.items(), key=lambda group: -len(group[1]))

    def _tell_latencies(self) -> Iterable[str]:
        told = 0
        for ticks, links in self.group_links():
            # A message to oneself takes no time, unless somebody says so: not worth a word.
            named = [link for link in links if link[0] != link[1] or ticks != (0,)]
            if named:
                where = ", ".join(f"{source or 'outside'} to {target}" for source, target in named)
                yield f"{f'from {where}' if told else 'messages'} take {_tell_times(ticks)}"
                told += 1

    def _tell_clocks(self) -> Iterable[str]:
        if self.drawn is not None:
            speeds = ", ".join(f"{node} {one:.6g}" for node, (one,) in self.speeds.items())
            yield f"clocks as drawn from seed {self.drawn} ({speeds})"
            return
        by_speeds: dict[tuple[float, ...], list[str]] = {}
        for node, some in self.speeds.items():
            by_speeds.setdefault(some, []).append(node)
        if list(by_speeds) == [(1.0,)]:
            yield "clocks that are right"
            return
        for some, nodes in by_speeds.items():
            # One that is right needs no word, where others are not.
            if some != (1.0,):
                whose = "clocks" if len(by_speeds) == 1 else f"clocks of {', '.join(nodes)}"
                yield f"{whose} at the speed {_join_or(f'{speed:.6g}' for speed in some)}"


def choose_bounds(
    scenario: Scenario, seed: int, *, latencies: int, clocks: int, losses: int, duplicates: int
) -> TimedBounds:
    """Return what is tried: so many values of each latency and of each clock; of 0 clocks, those of the seed."""
    _check_numbers(latencies, clocks, losses, duplicates)
    assert scenario.time is not None
    clock = Clock(scenario.time, seed)
    names = tuple(scenario.nodes)
    links = [(source, target) for source in (OUTSIDE, *names) for target in names]
    speeds: dict[str, tuple[float, ...]] = {}
    drift = scenario.time.drift
    # A scenario whose clocks are all given, or do not drift, draws none: its answer holds for every seed.
    is_drawn = bool(drift) and not clocks and any(node not in scenario.time.clocks for node in names)
    for node in names:
        if not drift or not clocks or node in scenario.time.clocks:
            speeds[node] = (clock.speed(node),)
        else:
            speeds[node] = _spread_speeds(drift, clocks)
    return TimedBounds(
        {link: _spread(*clock.window(*link), latencies) for link in links},
        speeds,
        seed if is_drawn else None,
        losses,
        duplicates,
        to_ticks(scenario.time.until),
    )


def _check_numbers(latencies: int, clocks: int, losses: int, duplicates: int) -> None:
    if not 2 <= latencies <= _MOST:
        raise UsageError(
            f"latencies is {latencies}", remedy=f"give 2 for the least and the most, or up to {_MOST} between them"
        )
    if clocks == 1 or not 0 <= clocks <= _MOST:
        raise UsageError(
            f"clocks is {clocks}",
            remedy="give 2 for the slowest and the fastest, 3 for the right one, too, or 0 for those of the seed",
        )
    for name, number in (("losses", losses), ("duplicates", duplicates)):
        if number < 0:
            raise UsageError(f"{name} is {number}", remedy="give a number that is at least 0")


def _spread(least: int, most: int, number: int) -> tuple[int, ...]:
    """Return so many times from the least to the most, evenly spaced; fewer, where that are not so many."""
    return tuple(dict.fromkeys(least + (most - least) * place // (number - 1) for place in range(number)))


def _spread_speeds(drift: float, number: int) -> tuple[float, ...]:
    # From the middle, so that the right one is exactly that.
    return tuple(1.0 + drift * (2 * place - (number - 1)) / (number - 1) for place in range(number))


def _tell_times(ticks: tuple[int, ...]) -> str:
    texts = [show_time(each).removesuffix(" s") for each in ticks]
    return f"{_join_or(texts)} s"


def _join_or(texts: Iterable[str]) -> str:
    *others, last = texts
    if len(others) > 4:  # evenly spaced: the ends and the number say it
        return f"{len(others) + 1} values from {others[0]} to {last}"
    return f"{', '.join(others)} or {last}" if others else last


def _tell_most(number: int, one: str, several: str) -> str:
    return f"at most {number} {one if number == 1 else several} a link" if number else f"no {several}"
