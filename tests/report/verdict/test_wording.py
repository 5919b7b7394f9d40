"""Sentences about nodes that look the same: what happens to one is not said of the other."""

from __future__ import annotations

from clew.engine.execution import Message
from clew.explain.why import Support
from clew.faults import Crash, Delay, FaultSet, Loss
from clew.report.verdict.wording import brief, support_words


def message(source: str | int, target: str | int, row: str = "x") -> Message:
    return Message("m", (target, row), source, target, 1, 2)


def test_messages_of_nodes_that_look_the_same_keep_their_fates() -> None:
    """Keyed by their text, what was said of the second replaced what was said of the first."""
    support = Support((message(1, "a"), message("1", "a")), (), ((1, 2), ("1", 2)), (), (), ())
    assert support_words(support, FaultSet.of([Loss(1, "a", 1), Crash("1", 2)]), 5) == [
        ("m 1→a@1", True),
        ('m "1"→a@1', False),
        ("1 up until 2", False),
        ('"1" up until 2', True),
    ]


def test_links_that_read_the_same_in_a_sentence_keep_their_fates() -> None:
    support = Support((), (("a sends b", "c", 1), ("a", "b sends c", 1)), (), (), (), ())
    told = support_words(support, FaultSet.of([Delay("a", "b sends c", 1, 1)]), 5)
    assert [cut for _, cut in told] == [False, True]


def test_messages_of_one_relation_over_one_link_are_said_once() -> None:
    support = Support((message("a", "b", "x"), message("a", "b", "y")), (), (), (), (), ())
    assert support_words(support, FaultSet(), 5) == [("m a→b@1", False)]


def test_a_range_of_faults_is_of_one_node() -> None:
    assert (
        brief(FaultSet.of([Loss(1, "a", 1), Loss("1", "a", 2), Loss(1, "a", 3)])) == 'O(1,a,1) O(1,a,3) O("1",a,2)'
    )
    assert brief(FaultSet.of([Loss("1", "a", 1), Loss("1", "a", 2), Loss("1", "a", 3)])) == 'O("1",a,1)…O("1",a,3)'


def test_faults_in_words() -> None:
    assert Loss(1, "1", 2).sentence == 'the message from 1 to "1" at time 2 is lost'
    assert Crash("a,b", 2).sentence == '"a,b" crashes at time 2'
    assert Delay("1", 1, 2, 3).sentence == 'the message from "1" to 1 at time 2 arrives 3 steps late'
