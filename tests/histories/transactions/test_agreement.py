"""Serializability against all orders of the transactions, tried one by one."""

from __future__ import annotations

from clew.histories.transactions.checking import check_transactions
from histories.drawn_transactions import draw_transactions, is_fully_observed, is_serializable

FEW, MANY = 300, 30_000


def test_every_anomaly_is_one_and_what_is_fully_observed_has_no_other(thorough: bool) -> None:
    seen: set[str] = set()
    for seed in range(MANY if thorough else FEW):
        operations = draw_transactions(seed, 6 if thorough else 5)
        for model, real in (
            ("serializable", {}),
            ("session-serializable", {"process": True}),
            ("strict-serializable", {"realtime": True}),
        ):
            anomalies = check_transactions(operations, model).anomalies
            is_right = is_serializable(operations, **real)
            seen.update(anomaly.name for anomaly in anomalies)
            if anomalies:
                assert not is_right, (seed, model)
            elif is_fully_observed(operations):
                assert is_right, (seed, model)
    assert seen >= {"internal", "G0", "G1a", "G1b", "G1c", "G-single", "G2-item", "phantom"}
