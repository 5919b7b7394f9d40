"""What a search sees of those that work for it: requests go out under a number, and come back under it."""

from __future__ import annotations

from types import TracebackType
from typing import Any, NamedTuple, Protocol, Self

from clew.errors import ClewError


class Spent(NamedTuple):
    """The value of a process that must not be asked again: work that was given up still goes on in it."""

    value: Any


class Done(NamedTuple):
    """What became of a request, and how many seconds it took.

    ``failure``: why there is no value: the process died, or refuses the request.  Whoever asked finds out what is
    behind it by doing the same again, here.
    """

    number: int
    value: Any
    seconds: float
    failure: ClewError | None = None


class Crew(Protocol):
    """Several workers; leaving the context ends what they do."""

    @property
    def block_seconds(self) -> float:
        """Return how many seconds of work are worth handing out at once."""

    @property
    def room(self) -> int:
        """Return how many more requests can be handed out now."""

    def ask(self, number: int, request: Any) -> None:
        """Hand out a request."""

    def collect(self, seconds: float) -> list[Done]:
        """Return what is done, and wait for at most so long if nothing is."""

    def describe(self) -> str:
        """Say who works, for progress; "" if that is nothing to tell."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
