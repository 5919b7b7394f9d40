"""Which attributes of nodes are read and replaced, whatever reads them."""

from __future__ import annotations

from typing import Any

from clew.injection.execution.reading import Attributes, begin_noting, end_noting, note_reads


class Account:
    kind = "account"

    def __init__(self) -> None:
        self.balance = 3
        self.owner = "x"

    @property
    def is_rich(self) -> bool:
        return self.balance > 100

    def pay(self, amount: int) -> None:
        self.balance += amount

    def __len__(self) -> int:
        return len(self.owner)


def read_by(look: Any) -> set[str]:
    account = Account()
    with note_reads({"n": account}) as read:
        look(account)
    assert type(account) is Account
    return {attribute for _, attribute in read}


def test_what_is_read_is_noted_and_what_the_class_has_is_not() -> None:
    assert read_by(lambda n: n.balance) == {"balance"}
    assert read_by(lambda n: n.kind) == set()


def test_properties_methods_and_operators_read_what_they_need() -> None:
    assert read_by(lambda n: n.is_rich) == {"balance"}
    assert read_by(lambda n: n.pay(2)) == {"balance"}
    assert read_by(len) == {"owner"}


def test_who_looks_at_all_attributes_reads_them_all() -> None:
    assert read_by(vars) == {"balance", "owner"}


def test_the_class_seems_to_be_the_same() -> None:
    account = Account()
    with note_reads({"n": account}):
        assert isinstance(account, Account)
        assert (type(account).__name__, type(account).__module__) == ("Account", Account.__module__)


def test_what_is_bound_without_having_been_read_is_replaced() -> None:
    account = Account()
    read: Attributes = set()
    replaced: Attributes = set()
    assert begin_noting(account, "n", read, replaced)
    account.owner = "y"
    account.balance += 1
    _ = account.owner  # what it has been given just now says nothing about before
    end_noting(account)
    assert (read, replaced) == ({("n", "balance")}, {("n", "owner")})


def test_objects_that_cannot_change_their_class_cannot_be_seen() -> None:
    assert not begin_noting(object(), "n", set(), set())


def test_nothing_is_noted_any_more_afterwards() -> None:
    account = Account()
    with note_reads({"n": account}) as read:
        pass
    _ = account.balance
    assert read == set()
