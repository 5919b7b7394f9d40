"""What a collection is: its kind, its columns, and where it was declared."""

from __future__ import annotations

import enum
import keyword
from collections.abc import Sequence
from dataclasses import dataclass, field

from clew.errors import Position, ProgramError


class Kind(enum.Enum):
    """The types of collections (figure 3.1 of the thesis); the values are what error messages call them."""

    TABLE = "table"
    SCRATCH = "scratch"
    CHANNEL = "channel"
    LOOPBACK = "loopback"
    PERIODIC = "periodic"
    INPUT = "input interface"
    OUTPUT = "output interface"
    TEMP = "temp"
    STDIO = "stdio"
    LATTICE = "lattice"
    DIE = "die"

    @property
    def persists(self) -> bool:
        return self in (Kind.TABLE, Kind.LATTICE)

    @property
    def is_sent(self) -> bool:
        """Tell whether rows reach it with ``<~``, at another time."""
        return self in (Kind.CHANNEL, Kind.LOOPBACK, Kind.STDIO)

    @property
    def arrives(self) -> bool:
        """Tell whether rows appear in it that no rule of the same step derived."""
        return self in (Kind.CHANNEL, Kind.LOOPBACK, Kind.PERIODIC, Kind.STDIO)


@dataclass(frozen=True)
class Schema:
    """Named columns; ``keys`` of them come first and determine the others.

    ``location`` is the column of a channel that says where a row goes.  Without keys there is at most one row.
    """

    # Keys first, as in Bloom's [keys] => [values]: so a key is a prefix of the row.
    keys: tuple[str, ...]
    values: tuple[str, ...] = ()
    location: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        return self.keys + self.values

    def index(self, column: str) -> int:
        return self.columns.index(column)


#: What a collection has when nothing is said.
DEFAULT = Schema(("key",), ("val",))


@dataclass(frozen=True)
class Collection:
    """A collection of a program, under the name that the whole program knows it by.

    ``period`` (periodic): seconds between two rows.  ``durable`` (table): its rows survive the process.
    ``lattice``: the name of the lattice type.  ``module``: the class that declares it.
    """

    name: str
    kind: Kind
    schema: Schema
    module: str
    period: float | None = None
    durable: bool = False
    lattice: str | None = None
    position: Position | None = field(default=None, compare=False, repr=False)


def parse_schema(
    keys: Sequence[str], values: Sequence[str] | None, *, located: bool, position: Position | None
) -> Schema:
    """Parse the columns of a declaration; ``@`` marks the column that says where a row goes."""
    # Bloom's default; and a channel cannot have it, because nothing says where its rows go.
    if not keys and values is None:
        return DEFAULT if not located else _refuse_no_location((), position)
    names, location = [], None
    for spelled in (*keys, *(values or ())):
        name = _column_name(spelled, position)
        if spelled.startswith("@"):
            if location is not None:
                raise ProgramError(
                    f"two columns are marked with @: '{location}' and '{name}'",
                    position=position,
                    remedy="mark the one that holds the address of the node a row goes to",
                )
            location = name
        if name in names:
            message = f"the column '{name}' is declared twice"
            raise ProgramError(message, position=position, remedy="give every column its own name")
        names.append(name)
    if located and location is None:
        return _refuse_no_location(names, position)
    return Schema(tuple(names[: len(keys)]), tuple(names[len(keys) :]), location)


def _refuse_no_location(names: Sequence[str], position: Position | None) -> Schema:
    example = f'channel("@{names[0] if names else "dst"}", ...)'
    raise ProgramError(
        "a channel has no column that says where its rows go",
        position=position,
        remedy=f"mark the column with the address: {example}",
    )


def _column_name(spelled: object, position: Position | None) -> str:
    name = spelled.removeprefix("@") if isinstance(spelled, str) else ""
    # Rows have columns as attributes, and names with an underscore are those of namedtuple itself.
    if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
        raise ProgramError(
            f"{spelled!r} is not a name for a column",
            position=position,
            remedy="columns are named like variables, and not with a leading underscore",
        )
    return name
