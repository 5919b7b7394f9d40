"""What losses amount to: exact words for runs, and for any run nothing that its messages do not bear out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from clew import check, run
from clew.budgets.deadline import Deadline
from clew.dedalus.printer import print_program
from clew.engine.execution import Message
from clew.explain.failure_free import FailureFree
from clew.faults import Crash, Delay, Fault, FaultSet, Loss, NodeName, Partition, Restart
from clew.program.checks import check_program
from clew.report.verdict.combined_losses import summarize_losses, summary_lines
from generators import failure_specs, fault_sets, programs

EXAMPLES = Path(__file__).parents[3] / "examples"
EOT = 7


def said(lost: str, arriving: str = "", others: tuple[Fault, ...] = ()) -> list[str]:
    """What is said of a run with these messages, each written as in ``ab3``: from a to b at time 3."""
    losses = [Loss(word[0], word[1], int(word[2:])) for word in lost.split()]
    faults = FaultSet.of([*losses, *others])
    sent = [message(loss.source, loss.target, loss.time, None) for loss in losses]
    sent += [message(word[0], word[1], int(word[2:]), int(word[2:]) + 1) for word in arriving.split()]
    return summary_lines(faults, sent)


def message(source: NodeName, target: NodeName, sent: int, arrived: int | None, relation: str = "p") -> Message:
    return Message(relation, (target,), source, target, sent, arrived)


# -- words ------------------------------------------------------------------------------------------------------


def test_a_node_is_cut_off() -> None:
    assert said("ab3 ba3 cb4 bc5 ab6", "ac3 ac4 ca5 ab2 ab7") == ["together: b is cut off at times 3 to 6"]


def test_a_time_without_messages_does_not_end_it() -> None:
    assert said("ab3 ba6", "ac4 ac5") == ["together: b is cut off at times 3 to 6"]


def test_one_message_that_arrives_ends_it() -> None:
    """From time 5 on only b is not heard; and what arrives before the first loss is another matter."""
    assert said("ab3 ba3 ab4 ba4 ba5 ba6", "ab2 ab5 ac3 cb6") == [
        "4 of these together: b is cut off at times 3 and 4",
        "4 of these together: nothing sent from b to a at times 3 to 6 arrives",
    ]


def test_only_what_comes_in_is_lost() -> None:
    assert said("ab3 cb3 ab4", "ba3 bc4") == ["together: nothing sent to b at times 3 and 4 arrives"]


def test_only_what_goes_out_is_lost() -> None:
    assert said("ab1 ac1", "ba1 bc1") == ["together: nothing sent by a at time 1 arrives"]


def test_a_link_is_dead_in_one_direction_or_both() -> None:
    assert said("ab1 ab2 ab3", "ba1 ac2 cb3") == ["together: nothing sent from a to b at times 1 to 3 arrives"]
    assert said("ab1 ba2", "ac1 bc2") == ["together: nothing sent between a and b at times 1 and 2 arrives"]


def test_two_groups_are_cut_off_from_each_other() -> None:
    lost = "ac2 bd2 ca3 db3 ad4"
    assert said(lost, "ab2 cd2 ab3 dc3 ba4") == ["together: a and b are cut off from c and d at times 2 to 4"]
    others = said(lost, "ab2 cd2 ab3 dc3 ba4 cb3")
    assert others and not any("from c and d" in line for line in others), "one of c's messages gets to b"


def test_a_group_is_cut_off_from_others_that_do_not_hear_each_other() -> None:
    """Nothing passes between c and d, so that they are no group; a and b are."""
    assert said("ac2 ca2 bd3 da3", "ab2 ba3") == ["together: a and b are cut off from the others at times 2 and 3"]


def test_what_other_faults_lose_does_not_get_through_either() -> None:
    """The partition loses what c sends to b at 4; without that, b would not be cut off."""
    lost = [message("a", "b", 3, None), message("c", "b", 4, None), message("b", "a", 5, None)]
    heard = message("a", "c", 4, 5)
    faults: list[Fault] = [Loss("a", "b", 3), Loss("b", "a", 5)]
    parted = FaultSet.of([*faults, Partition(("b",), 4, 5)])
    assert summary_lines(parted, [*lost, heard]) == ["2 of these together: b is cut off at times 3 to 5"]
    others = FaultSet.of([*faults, Restart("b", 5, 6)])
    assert summary_lines(others, [*lost[:2], heard]) == [], "b is down and sends nothing"
    late = FaultSet.of([*faults, Delay("c", "b", 4, 1)])
    assert summary_lines(late, [lost[0], message("c", "b", 4, 6), lost[2], heard]) == [
        "2 of these together: nothing sent between a and b at times 3 to 5 arrives"
    ]


def test_eight_losses_and_a_node_that_is_cut_off() -> None:
    assert said("ab3 ba3 cb3 bc3 ab4 bc5 ba6 cb6", "ac3 ca4 ac5 ca6") == ["together: b is cut off at times 3 to 6"]


def test_two_losses_that_have_nothing_in_common_are_left_as_they_are() -> None:
    assert said("ab1 cd3", "ac1") == []
    assert said("ab1") == []
    assert said("ab1 cb1", "ab2 db1") == [], "nothing from a and c, but d is heard"


def test_several_statements_sum_up_different_losses() -> None:
    assert said("ab1 ab2 ab3 cd1 cd2", "ba2 dc1 bd2 ca3 ad1 ac1 cb2") == [
        "3 of these together: nothing sent from a to b at times 1 to 3 arrives",
        "2 of these together: nothing sent from c to d at times 1 and 2 arrives",
    ]


def test_other_faults_are_not_summed_up() -> None:
    crash, delay = Crash("c", 4), Delay("a", "c", 2, 1)
    assert said("ab3 ba3", others=(crash,)) == ["2 of these together: a is cut off at time 3"]
    late = [message("a", "b", 1, None), message("b", "a", 1, None), message("a", "b", 2, 4)]
    faults = FaultSet.of([Loss("a", "b", 1), Loss("b", "a", 1), Delay("a", "b", 2, 1)])
    assert summary_lines(faults, late) == ["2 of these together: a is cut off at time 1"]
    assert said("", others=(crash, delay)) == []


def test_what_a_crashed_node_does_not_send_says_nothing() -> None:
    """It would have sent at 3 and 4; only what it sent at 2 was lost, and what was sent to it."""
    faults = FaultSet.of([Loss("b", "a", 2), Loss("a", "b", 2), Loss("b", "a", 3), Crash("b", 3)])
    sent = [message(*link, None) for link in (("b", "a", 2), ("a", "b", 2), ("b", "a", 3), ("b", "a", 4))]
    assert summary_lines(faults, sent) == ["2 of these together: a is cut off at time 2"]


def test_what_a_node_sends_to_itself_does_not_cross_the_network() -> None:
    faults = FaultSet.of([Loss("a", "b", 1), Loss("b", "a", 2)])
    own = [message("a", "a", 1, 2), message("b", "b", 1, 2)]
    sent = [message("a", "b", 1, None), message("b", "a", 2, None), *own]
    assert summary_lines(faults, sent) == ["together: a is cut off at times 1 and 2"]


def test_a_loss_that_hits_nothing_sums_up_nothing() -> None:
    faults = FaultSet.of([Loss("a", "b", 1), Loss("b", "a", 2)])
    assert summary_lines(faults, [message("a", "b", 1, None)]) == []


def test_several_rows_on_one_link_are_one_loss() -> None:
    faults = FaultSet.of([Loss("a", "b", 1)])
    sent = [message("a", "b", 1, None, relation) for relation in "pqr"]
    assert summary_lines(faults, sent) == []


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("chain", ["together: t is cut off at times 2 to 4"]),
        ("classic-deliv", ["together: nothing sent by a at time 1 arrives"]),
        ("redun-deliv-late", ["16 of these together: nothing sent by a at times 1 to 8 arrives"]),
        ("kafka", []),  # Z hears a at time 1
        ("3pc", []),
    ],
)
def test_examples(name: str, lines: list[str]) -> None:
    found = check(EXAMPLES / f"{name}.ded")
    faults = found.counterexamples[0].faults
    execution = run(EXAMPLES / f"{name}.ded", faults, eot=found.spec.eot)
    assert summary_lines(faults, execution.messages) == lines


# -- any run ----------------------------------------------------------------------------------------------------

Link = tuple[NodeName, NodeName]
NODES = "abcd"


@st.composite
def traffic(draw: st.DrawFn) -> tuple[FaultSet, list[Message]]:
    """Messages at random, most of them lost, so that something can be said."""
    links = st.tuples(st.sampled_from(NODES), st.sampled_from(NODES), st.integers(1, EOT - 1))
    sent = draw(st.lists(links, max_size=16, unique=True))
    crashes = [Crash(draw(st.sampled_from(NODES)), draw(st.integers(1, EOT - 1)))] if draw(st.booleans()) else []
    losses: list[Fault] = []
    messages = []
    for source, target, time in sent:
        lost = source != target and draw(st.integers(0, 4)) > 0
        down = any(c.node == source and c.time <= time for c in crashes)
        losses += [Loss(source, target, time)] if lost else []
        messages.append(message(source, target, time, None if lost or (down and source != target) else time + 1))
    return FaultSet.of([*losses, *crashes]), messages


def concerned(words: str) -> Callable[[Link], bool]:
    """What a statement speaks of, read off its words."""
    patterns: list[tuple[str, Callable[..., Callable[[Link], bool]]]] = [
        (r"(\w) is cut off at .*", lambda node: lambda link: node in link),
        (r"nothing sent to (\w) at .* arrives", lambda node: lambda link: link[1] == node),
        (r"nothing sent by (\w) at .* arrives", lambda node: lambda link: link[0] == node),
        (r"nothing sent from (\w) to (\w) at .* arrives", lambda a, b: lambda link: link == (a, b)),
        (r"nothing sent between (\w) and (\w) at .* arrives", lambda a, b: lambda link: set(link) == {a, b}),
        (
            r"(\w(?:, \w)* and \w) are cut off from the others at .*",
            lambda one: (
                lambda link: (link[0] in re.findall(r"\b\w\b", one)) != (link[1] in re.findall(r"\b\w\b", one))
            ),
        ),
        (
            r"(\w(?:, \w)* and \w) are cut off from (\w(?:, \w)* and \w) at .*",
            lambda one, other: (
                lambda link: (
                    (link[0] in re.findall(r"\b\w\b", one) and link[1] in re.findall(r"\b\w\b", other))
                    or (link[1] in re.findall(r"\b\w\b", one) and link[0] in re.findall(r"\b\w\b", other))
                )
            ),
        ),
    ]
    for pattern, about in patterns:
        found = re.fullmatch(pattern, words)
        if found:
            return about(*found.groups())
    raise AssertionError(words)


def times_in(words: str) -> range:
    """The times of which a statement speaks, read off its words."""
    found = re.search(r"at times? (\d+)(?: (?:and|to) (\d+))?", words)
    assert found is not None
    return range(int(found[1]), int(found[2] or found[1]) + 1)


def crosses(message: Message, faults: FaultSet) -> bool:
    """Whether it is sent at all, and over the network."""
    up = all(c.node != message.source or c.time > message.sent for c in faults.crashes)
    return message.source != message.target and up


def assert_true(faults: FaultSet, messages: list[Message]) -> None:
    found = summarize_losses(faults, messages)
    told = [line.partition("together: ")[2] for line in summary_lines(faults, messages)]
    assert told == [statement.words for statement in found]
    known: set[Loss] = set()
    for statement in found:
        concerns, times = concerned(statement.words), times_in(statement.words)
        assert (times[0], times[-1]) == (statement.first, statement.last)
        sent = [m for m in messages if m.sent in times and crosses(m, faults) and concerns((m.source, m.target))]
        assert all(m.arrived is None for m in sent), "nothing of it arrives"
        lost = {Loss(m.source, m.target, m.sent) for m in sent}
        assert set(statement.losses) == lost, "these are its losses, all of them"
        assert {min(m.sent for m in sent), max(m.sent for m in sent)} == {times[0], times[-1]}
        assert len(lost - known) >= 2, "it says something new"
        known |= lost
        if "cut off" in statement.words:
            assert len({(loss.source, loss.target) for loss in lost}) >= 2
            one = statement.words.split(" cut off")[0]
            assert {str(loss.source) in one.split() for loss in lost} == {True, False}, "in both directions"


def every_statement(faults: FaultSet, messages: list[Message]) -> Iterator[int]:
    """How many losses each true statement about a node or a link sums up: tried one by one, in all spans."""
    about = [concerned(f"nothing sent from {a} to {b} at time 1 arrives") for a in NODES for b in NODES if a != b]
    about += [concerned(f"nothing sent between {a} and {b} at time 1 arrives") for a, b in combinations(NODES, 2)]
    for node in NODES:
        about += [concerned(f"{node} is cut off at time 1")]
        about += [concerned(f"nothing sent {way} {node} at time 1 arrives") for way in ("to", "by")]
    sent = [m for m in messages if crosses(m, faults)]
    for concerns in about:
        for first in range(1, EOT):
            for last in range(first, EOT):
                within = [m for m in sent if first <= m.sent <= last and concerns((m.source, m.target))]
                if all(m.arrived is None for m in within):
                    yield len({(m.source, m.target, m.sent) for m in within})


@given(traffic())
def test_every_statement_is_borne_out_by_the_messages(case: tuple[FaultSet, list[Message]]) -> None:
    assert_true(*case)


@given(traffic())
def test_nothing_that_sums_up_more_is_missed(case: tuple[FaultSet, list[Message]]) -> None:
    faults, messages = case
    most = max(every_statement(faults, messages), default=0)
    found = summarize_losses(faults, messages)
    assert bool(found) >= (most >= 2)
    if most >= 2:
        assert len(found[0].losses) >= most


@given(st.data())
def test_runs_of_programs_bear_out_what_is_said_of_them(data: st.DataObject) -> None:
    program = check_program(data.draw(programs())).program
    spec = data.draw(failure_specs(program))
    faults = data.draw(fault_sets(spec))
    note(f"{spec} {faults}\n{print_program(program)}")
    execution = FailureFree(program, spec, Deadline(None)).run(faults)
    # what is sent in the last step arrives after the end, lost or not
    assert_true(faults, [m for m in execution.messages if m.sent < spec.eot])
    assert summary_lines(faults, execution.messages) == summary_lines(
        faults, [m for m in execution.messages if m.sent < spec.eot]
    )
