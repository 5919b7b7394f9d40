"""``clew calm --try`` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command import clew

LAST_WORD = """
from clew.bloom import Bloom, bloom, channel, checked, interface, table

class LastWord(Bloom):
    setting = checked(nodes=["a", "b"], given={"b": {"say": [("a", "x")], 2: {"say": [("a", "y")]}}})
    say = interface.input("dst", "word")
    word = channel("@dst", "word")
    last = table(val=["word"])
    heard = table("word")

    @bloom
    def rules(self):
        self.word <~ self.say
        self.last <+ self.word(lambda w: (w.word,))
        self.last <- (self.last * self.word).lefts()
        self.heard <= self.word(lambda w: (w.word,))
"""

TRIED = """
heard (A): 40 orders, one outcome; 9 others left out, in which rows with the same key met

last (D): two orders end differently (found in 1 order)
  given:
    b, step 1: say ('a', 'x')
    b, step 2: say ('a', 'y')
  if nothing is late:
    a, step 2: word ('a', 'x')
    a, step 3: word ('a', 'y')
  if some things are late:
    (word ('a', 'x') from b is 2 rounds late)
    a, step 3: word ('a', 'y')
    a, step 4: word ('a', 'x')
  then last of a has
    only in time: ('y',)
    only late: ('x',)
"""


def test_a_pair_of_orders_is_shown(tmp_path: Path) -> None:
    file = tmp_path / "last_word.py"
    file.write_text(LAST_WORD, encoding="utf-8")
    done = clew("calm", f"{file}:LastWord", "--try", "40")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.endswith(TRIED)


def test_json_has_the_pair_of_orders(tmp_path: Path) -> None:
    file = tmp_path / "last_word.py"
    file.write_text(LAST_WORD, encoding="utf-8")
    done = clew("calm", str(file), "--try", "40", "--json", "-")
    assert (done.returncode, done.stderr) == (1, "")
    heard, last = json.loads(done.stdout)["trials"]
    assert heard == {
        "outputs": ["heard"],
        "steps_given": False,
        "orders": 40,
        "left_out": 9,
        "contradicts": False,
        "pair": None,
    }
    x = {"node": "a", "collection": "word", "row": "('a', 'x')"}
    y = {"node": "a", "collection": "word", "row": "('a', 'y')"}
    assert (last["outputs"], last["orders"], last["contradicts"]) == (["last"], 1, False)
    assert last["pair"] == {
        "seed": 0,
        "given": [
            {"node": "b", "step": 1, "collection": "say", "row": "('a', 'x')"},
            {"node": "b", "step": 2, "collection": "say", "row": "('a', 'y')"},
        ],
        "in_time": [{**x, "step": 2}, {**y, "step": 3}],
        "late": ["word ('a', 'x') from b is 2 rounds late"],
        "if_late": [{**y, "step": 3}, {**x, "step": 4}],
        "difference": {
            "node": "a",
            "collection": "last",
            "step": None,
            "only_in_time": ["('y',)"],
            "only_if_late": ["('x',)"],
        },
    }
    clew("calm", str(file), "--try", "40", "--json", str(tmp_path / "calm.json"))
    assert (tmp_path / "calm.json").read_text(encoding="utf-8") == done.stdout


def test_json_has_no_trials_without_orders() -> None:
    done = clew("calm", "examples/bloom/broadcast.py:Acknowledged", "--json", "-")
    assert json.loads(done.stdout)["trials"] == []


def test_the_same_whatever_the_hash_seed(tmp_path: Path) -> None:
    file = tmp_path / "last_word.py"
    file.write_text(LAST_WORD, encoding="utf-8")
    texts = {
        clew("calm", str(file), "--try", "10", "--seed", "5", PYTHONHASHSEED=hashed).stdout
        for hashed in ("1", "2")
    }
    assert len(texts) == 1
    assert "two orders end differently" in texts.pop()


def test_a_consistent_program_has_one_outcome() -> None:
    done = clew("calm", "examples/bloom/broadcast.py:Acknowledged", "--try", "20")
    assert done.returncode == 0
    assert done.stdout.endswith("\nlog (A), acked (A): 20 orders, one outcome\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tests/analysis/calm/programs.py:Absent", "--try", "5"], "Absent does not say what it runs with"),
        (["examples/simple-deliv.ded", "--try", "5"], "--try runs Bloom programs"),
        (["examples/bloom/broadcast.py:Retry", "--seed", "5"], "--seed is for random orders"),
        (["examples/bloom/broadcast.py:Retry", "--try", "0"], "0 is not in the range x>=1"),
    ],
)
def test_mistakes(arguments: list[str], message: str) -> None:
    done = clew("calm", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
