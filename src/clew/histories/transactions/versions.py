"""What the reads say by themselves: in which order each list grew, and what no order of transactions explains.

Since lists only grow, a read tells the whole history of its key: the longest read has the order of the appends,
and every other read is a beginning of it (Kingsbury and Alvaro, *Elle*, VLDB 2020, section 4.3).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from clew.histories.operations import Outcome
from clew.histories.transactions.parsing import Step, Transaction
from clew.histories.values import Value, show_value


class Flaw(NamedTuple):
    """Something that a read shows; ``transactions``: who is involved."""

    name: str
    what: str
    transactions: tuple[Transaction, ...]


class Read(NamedTuple):
    """What a committed transaction read."""

    transaction: Transaction
    key: Value
    values: tuple[Value, ...]


@dataclass(frozen=True)
class Versions:
    """``writers``: by key and value, who appended it.  ``orders``: by key, the longest list that was read.

    ``reads``: of committed transactions.  ``unsound``: keys whose reads contradict each other.
    """

    writers: dict[tuple[Value, Value], Transaction]
    longest_reads: dict[Value, Read]
    orders: dict[Value, tuple[Value, ...]]
    reads: list[Read]
    unsound: set[Value] = field(default_factory=set)
    flaws: list[Flaw] = field(default_factory=list)


def infer_versions(transactions: Sequence[Transaction]) -> Versions:
    """Return in which order each list grew, and every flaw that shows already."""
    writers = {(s.key, s.value): t for t in transactions for s in t.steps if s.is_append}
    reads = [
        Read(transaction, step.key, step.values)
        for transaction in transactions
        for step in transaction.steps
        if step.values is not None
    ]
    longest: dict[Value, Read] = {}
    for read in reads:
        known = longest.get(read.key)
        # Of equally long ones the first: the same one every time.
        if known is None or len(read.values) > len(known.values):
            longest[read.key] = read
    versions = Versions(writers, longest, {key: read.values for key, read in longest.items()}, reads)
    for flaw in _flaws(versions, transactions):
        versions.flaws.append(flaw)
    return versions


def _flaws(versions: Versions, transactions: Sequence[Transaction]) -> Iterator[Flaw]:
    for transaction in transactions:
        yield from _internal(transaction)
    versions.unsound.update(key for key, order in versions.orders.items() if len(set(order)) < len(order))
    for read in versions.reads:
        yield from _of_lists(read, versions)
    suspects = _first_suspects(versions)
    for read in versions.reads:
        yield from _of_writers(read, versions, suspects)
    yield from _of_orders(versions)
    yield from _lost_updates(transactions)


def _internal(transaction: Transaction) -> Iterator[Flaw]:
    """Compare what a transaction reads with what it has read and appended itself."""
    before: dict[Value, tuple[Value, ...]] = {}
    own: dict[Value, tuple[Value, ...]] = {}
    appends = [step for step in transaction.steps if step.is_append]
    for step in transaction.steps:
        appended = own.get(step.key, ())
        if step.is_append:
            own[step.key] = (*appended, step.value)
        elif step.values is not None:
            expected = before.get(step.key)
            rest = step.values[: len(step.values) - len(appended)]
            later = next((s.value for s in appends if s.key == step.key and s.value in rest), None)
            if (*rest, *appended) != step.values or (expected is not None and rest != expected):
                did = [f"reading {show_value(expected)}"] if expected is not None else []
                did += [f"appending {show_value(appended)}"] if appended else []
                yield _internal_flaw(transaction, step.key, step.values, f"after {' and '.join(did)} itself")
            elif later is not None:
                what = f"before it appended {show_value(later)} itself"
                yield _internal_flaw(transaction, step.key, step.values, what)
            # What was there before this transaction; its own appends stand behind it in every later read.
            before[step.key] = rest


def _internal_flaw(transaction: Transaction, key: Value, values: tuple[Value, ...], what: str) -> Flaw:
    return Flaw("internal", f"{transaction.name} read {_told(key, values)} {what}", (transaction,))


def _read(read: Read) -> str:
    return f"{read.transaction.name} read {_told(read.key, read.values)}"


def _told(key: Value, values: tuple[Value, ...]) -> str:
    return f"{show_value(key)} as {_shorten(values)}"


def _shorten(values: tuple[Value, ...]) -> str:
    if len(values) <= 8:
        return show_value(values)
    return f"[... {', '.join(map(show_value, values[-6:]))}] of {len(values)}"


def _of_lists(read: Read, versions: Versions) -> Iterator[Flaw]:
    """Compare a list with the longest one of its key."""
    longest = versions.orders.get(read.key, ())
    if longest[: len(read.values)] == read.values and read.key not in versions.unsound:
        return
    if len(set(read.values)) < len(read.values):
        twice = next(v for v, number in Counter(read.values).items() if number > 1)
        yield Flaw("duplicate-elements", f"{_read(read)}, with {show_value(twice)} twice", (read.transaction,))
    elif longest[: len(read.values)] != read.values:
        other = versions.longest_reads[read.key].transaction
        what = f"{_read(read)}, which is no beginning of {_shorten(longest)}, which {other.name} read"
        versions.unsound.add(read.key)
        yield Flaw("incompatible-order", what, (read.transaction, other))


def _of_writers(read: Read, versions: Versions, suspects: dict[Value, int]) -> Iterator[Flaw]:
    """Look who wrote what was read: nobody, somebody who gave up, or somebody who was not done yet.

    ``suspects``: by key, the place of the first value in its order that nobody committed.
    """
    if not read.values:
        return
    if read.key in versions.unsound or len(read.values) > suspects.get(read.key, len(read.values)):
        for value in read.values:
            writer = versions.writers.get((read.key, value))
            if writer is None:
                yield Flaw("phantom", f"{_read(read)}; nobody appended {show_value(value)}", (read.transaction,))
            elif writer.outcome is Outcome.FAIL:
                what = f"{_read(read)}; {writer.name}, which appended {show_value(value)}, was aborted"
                yield Flaw("G1a", what, (writer, read.transaction))
    writer = versions.writers.get((read.key, read.values[-1]))
    if writer is not None and writer is not read.transaction:
        last = writer.last_append(read.key)
        if last != read.values[-1]:
            what = f"{_read(read)}; {writer.name} appended {show_value(last)} after that"
            yield Flaw("G1b", what, (writer, read.transaction))


def _first_suspects(versions: Versions) -> dict[Value, int]:
    """Return where in the order of each key the first value is that nobody committed."""
    # Looked up once for each key, not for each read: lists are long, and most of them are read often.
    found: dict[Value, int] = {}
    for key, order in versions.orders.items():
        for place, value in enumerate(order):
            writer = versions.writers.get((key, value))
            if writer is None or writer.outcome is Outcome.FAIL:
                found[key] = place
                break
    return found


def _of_orders(versions: Versions) -> Iterator[Flaw]:
    """Look at the order in which each list grew, against who appended what."""
    for key, order in versions.orders.items():
        last_of: dict[int, tuple[int, Value]] = {}
        aborted: tuple[Value, Transaction] | None = None
        for value in order:
            writer = versions.writers.get((key, value))
            if writer is None:
                continue
            place = _place_in(writer, key, value)
            earlier = last_of.get(writer.number)
            if earlier is not None and earlier[0] > place:
                versions.unsound.add(key)
                what = f"{writer.name} appended {show_value(value)} before {show_value(earlier[1])} to"
                what += f" {show_value(key)}, where they are the other way round"
                yield Flaw("incompatible-order", what, (writer,))
            last_of[writer.number] = (place, value)
            # One pair is told for each run of aborted values: the others show the same.
            if writer.outcome is Outcome.FAIL:
                aborted = aborted or (value, writer)
            elif aborted is not None:
                what = f"{writer.name} appended {show_value(value)} to {show_value(key)} after"
                what += f" {show_value(aborted[0])} of {aborted[1].name}, which was aborted"
                yield Flaw("dirty-update", what, (aborted[1], writer))
                aborted = None


def _place_in(writer: Transaction, key: Value, value: Value) -> int:
    return next(k for k, s in enumerate(writer.steps) if s.is_append and s.key == key and s.value == value)


def _lost_updates(transactions: Sequence[Transaction]) -> Iterator[Flaw]:
    """Find two committed transactions that read the same version of a key and then both appended to it."""
    updates: dict[tuple[Value, tuple[Value, ...]], Transaction] = {}
    for transaction in transactions:
        if transaction.outcome is not Outcome.OK:
            continue
        for key, values in _updated(transaction.steps):
            first = updates.setdefault((key, values), transaction)
            if first is not transaction:
                what = (
                    f"{first.name} and {transaction.name} both read {_told(key, values)}, and both appended to it"
                )
                yield Flaw("lost-update", what, (first, transaction))


def _updated(steps: Sequence[Step]) -> Iterator[tuple[Value, tuple[Value, ...]]]:
    """Yield what a transaction read of each key before it appended to it."""
    read: dict[Value, tuple[Value, ...]] = {}
    appended: set[Value] = set()
    for step in steps:
        if not step.is_append:
            if step.values is not None and step.key not in appended:
                read[step.key] = step.values
        elif step.key not in appended:
            appended.add(step.key)
            if step.key in read:
                yield step.key, read[step.key]
