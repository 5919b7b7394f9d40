"""Of faults that break something, those that are needed are left."""

from __future__ import annotations

from clew.faults import FaultsOf
from clew.injection.bounds import InjectionBounds
from clew.injection.faults import CodeFault, MessageLoss, MessageName, NodeCrash
from clew.injection.searching.shrinking import shrink_faults
from clew.injection.searching.system import CodeSystem
from clew.search.verdict import LedgerOf
from injection.relay import relay

COPY = MessageLoss(MessageName("server", "backup", "Copy", 1))
CRASH = NodeCrash("server", 1)


def shrunk(*faults: CodeFault, within: int = 1_000_000) -> tuple[list[CodeFault], int]:
    bounds = InjectionBounds(("client", "server", "backup"), 1_000_000, within, losses=3, crashes=3)
    ledger: LedgerOf[CodeFault] = LedgerOf()
    system = CodeSystem(relay(), bounds)
    kept = shrink_faults(system.execute, within, FaultsOf.of(faults), "stored_somewhere", ledger)
    return list(kept), ledger.runs


def test_what_is_not_needed_is_left_out_and_each_step_is_an_execution() -> None:
    idle = MessageLoss(MessageName("backup", "server", "Done", 1))
    assert shrunk(COPY, idle, CRASH) == ([COPY, CRASH], 3)


def test_what_is_needed_stays() -> None:
    assert shrunk(COPY, CRASH) == ([COPY, CRASH], 2)


def test_a_crash_of_the_backup_makes_the_loss_of_its_copy_needless() -> None:
    found, _ = shrunk(COPY, CRASH, NodeCrash("backup", 0))
    assert found == [NodeCrash("backup", 0), CRASH]
