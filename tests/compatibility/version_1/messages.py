from dataclasses import dataclass
from enum import Enum


class Colour(Enum):
    RED = 1
    BLUE = 2


@dataclass(frozen=True)
class Token:
    number: int
    colour: Colour
    seen: tuple[str, ...] = ()


@dataclass
class Hello:
    names: set[str]
    notes: dict[str, list[float]]
