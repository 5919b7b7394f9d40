"""A synthesized program is a Bloom program like any other: ``clew check`` sees what has been repaired."""

from __future__ import annotations

from pathlib import Path

from command import clew

ADS = "tests/coordination/checked_ads.py"
REGISTERS = "tests/coordination/checked_registers.py"
PYTHONPATH = str(Path(__file__).parents[1])


def test_the_network_as_it_is_gives_wrong_answers() -> None:
    """Nobody waits for the clicks of an ad server that crashes."""
    done = clew("check", f"{ADS}:Uncoordinated", PYTHONPATH=PYTHONPATH)
    assert done.returncode == 1, done.stderr
    found, faults, violated, *_ = done.stdout.splitlines()
    assert found == "COUNTEREXAMPLE: 1 fault, within EOT 7, EFF 4, 1 crash, nodes ads1, ads2, report."
    assert faults == "  ads1 crashes at time 1"
    assert violated == "  violates pre(report, ads2, car, spring): it is in 'pre' and not in 'post'"


def test_sealed_it_gives_no_wrong_answer_whatever_fails() -> None:
    done = clew("check", f"{ADS}:Sealed", PYTHONPATH=PYTHONPATH)
    assert done.returncode == 0, done.stderr
    said = "CERTIFIED: no counterexample exists within EOT 7, EFF 4, 1 crash, nodes ads1, ads2, report."
    assert done.stdout.splitlines()[0] == said
    assert "Beware" not in done.stdout, "there are right answers"


def test_replicas_without_an_order_end_apart() -> None:
    done = clew("check", f"{REGISTERS}:Uncoordinated", PYTHONPATH=PYTHONPATH)
    assert done.returncode == 1, done.stderr
    assert done.stdout.splitlines()[:2] == [
        "COUNTEREXAMPLE: 1 fault, within EOT 13, EFF 4, 0 crashes, nodes a, b, s.",
        "  the message from b to a at time 3 is lost",
    ]


def test_replicas_with_an_order_agree_whatever_is_lost() -> None:
    done = clew("check", f"{REGISTERS}:WithOrder", PYTHONPATH=PYTHONPATH)
    assert done.returncode == 0, done.stderr
    said = "CERTIFIED: no counterexample exists within EOT 13, EFF 4, 0 crashes, nodes a, b, s."
    assert done.stdout.splitlines()[0] == said
    assert "Beware" not in done.stdout, "the replicas have something"
