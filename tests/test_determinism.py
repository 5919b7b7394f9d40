"""Same input, same seed, same bytes: whatever PYTHONHASHSEED is."""

from __future__ import annotations

import json

import pytest

from command import clew

COMMANDS = [
    ["check", "examples/kafka.ded"],
    ["check", "examples/kafka.ded", "--all"],
    ["check", "examples/3pc.ded", "--strategy", "lineage"],
    [
        "check",
        "examples/ack-deliv.ded",
        "--strategy",
        "lineage",
        "--negation",
        "conservative",
        "--eot",
        "5",
        "--eff",
        "4",
    ],
    ["check", "examples/ack-deliv.ded", "--strategy", "lineage", "--symmetry"],
    ["check", "examples/retry-deliv.ded", "--strategy", "lineage", "--all"],
    ["check", "examples/retry-deliv.ded", "--strategy", "exhaustive", "--all"],
    ["check", "examples/retry-deliv.ded", "--strategy", "random", "--seed", "7"],
    ["check", "examples/simple-deliv.ded", "--delays", "1", "--eff", "0", "--all"],
    ["check", "examples/paxos-synod.ded", "--effort", "0.1"],
    ["check", "examples/paxos-synod.ded", "--effort", "0.1", "--strategy", "lineage"],
    ["check", "examples/redun-deliv-late.ded", "--effort", "0.05"],
    ["check", "examples/redun-deliv-late.ded", "--effort", "0.05", "--strategy", "exhaustive"],
    ["check", "examples/2pc.ded", "--effort", "1"],
    ["check", "examples/simple-deliv.ded", "--grid", "eff=0..2", "--grid", "crashes=0..4", "--workers", "2"],
    ["run", "examples/kafka.ded", "--lose", "b,Z,1", "--lose", "c,Z,1", "--crash", "a,4"],
]


def _output(arguments: list[str], hash_seed: str) -> str:
    done = clew(*arguments, PYTHONHASHSEED=hash_seed)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_output_does_not_depend_on_the_hash_seed(arguments: list[str]) -> None:
    first, second = _output(arguments, "1"), _output(arguments, "2")
    assert first == second
    assert first


def test_json_does_not_depend_on_the_hash_seed() -> None:
    documents = [json.loads(_output(["check", "examples/kafka.ded", "--all", "--json", "-"], s)) for s in "34"]
    for document in documents:
        del document["seconds"]
    assert documents[0] == documents[1]
