"""Table 2.1: what the script counts is what the programs have."""

from __future__ import annotations

from benchmarks.multipaxos_idioms import (
    ALL,
    IDIOMS,
    PUBLISHED,
    count_durable,
    count_rest,
    count_volatile,
    table_of_idioms,
)

from clew.bloom.language.module import program_of
from clew.multipaxos import Multipaxos
from command import ROOT


def test_every_rule_is_of_one_idiom() -> None:
    """As in the published table, whose numbers add up, too."""
    for counted in (PUBLISHED, count_volatile(), count_durable()):
        for phase in range(3):
            assert counted[ALL][phase] == sum(counted[idiom][phase] for idiom in IDIOMS)


def test_no_rule_of_the_module_is_left_out() -> None:
    counted = sum(count_durable()[ALL]) + sum(count_rest().values())
    assert counted == len(program_of(Multipaxos).rules)


def test_the_idioms_that_the_thesis_names_are_where_it_names_them() -> None:
    for counted in (count_volatile(), count_durable()):
        for idiom in ("multicast", "barrier"):
            assert counted[idiom][0] >= 1
            assert counted[idiom][1] >= 1
        assert counted["choice"][1] >= 1
        assert counted["sequence"][2] >= 1
        assert counted["timeout"][2] >= 2


def test_the_page_shows_the_table_as_it_is_counted() -> None:
    assert table_of_idioms() in (ROOT / "docs" / "multipaxos.md").read_text(encoding="utf-8")
