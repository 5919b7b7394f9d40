"""What is left of an execution after a message became smaller, to the letter."""

from __future__ import annotations

import pytest

from clew.minimization.minimizing import minimize
from clew.simulation.events import Send
from clew.simulation.fuzzing.fuzz import record
from clew.simulation.loading import load_scenario
from command import ROOT

ORDERS = load_scenario(str(ROOT / "benchmarks/systems/orders.py:early"))


@pytest.mark.parametrize("seed", [5, 8, 9])
def test_items_go_together_with_the_messages_that_they_cause(seed: int) -> None:
    """Of an order such as w, p, q, w nothing can go alone: each of p and q costs a question and an answer."""
    found = minimize(record(ORDERS, seed), ORDERS, in_process=True)
    assert found.size.deliveries == 3
    (order,) = [step.message for step in found.recording.steps if isinstance(step, Send)]
    assert len(order.lines) == 2
    assert order.lines[0].item == order.lines[1].item
