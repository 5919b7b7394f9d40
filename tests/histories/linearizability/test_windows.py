"""What is shown of a history that is not linearizable, to the letter."""

from __future__ import annotations

from clew.histories import HistoryVerdict, check_history
from histories.made import history, op


def drawing(verdict: HistoryVerdict) -> str:
    return "\n".join(line.rstrip() for line in str(verdict).splitlines()) + "\n"


def test_a_stale_read_of_values_that_are_written_again() -> None:
    found = check_history(
        history(
            op("ann", "write", 1, at=(0, 1)),
            op("ann", "write", 2, at=(2, 3)),
            op("ann", "write", 1, at=(4, 5)),
            op("bob", "read", None, 1, at=(6, 7)),
            op("ann", "write", 2, at=(8, 9)),
            op("bob", "read", None, 1, at=(10, 12)),
            op("cat", "write", 3, at=(11, 14)),
            op("ann", "read", None, 3, at=(15, 16)),
        )
    )
    assert (
        found.reason == "read → 1 of client bob cannot be explained; when it began, the register could only be 2"
    )
    assert drawing(found) == (
        "NOT LINEARIZABLE: 8 operations of 3 clients, as a register.\n"
        "  no order explains read → 1 of client bob, though there is one for all that was answered before\n"
        "  when it began, the register could only be:\n"
        "    2, as after write 2 of client ann\n"
        "\n"
        "  client ann  ├ write 2 ┤ ┊\n"
        "  client bob              ┊ ├ read → 1 ┤\n"
        "\n"
        "  ┊ the window begins; no other operation that overlaps it makes a difference\n"
    )


def test_an_operation_that_overlaps_and_has_been_used_up_is_needed() -> None:
    """Bob's call changed 1 to 2 before ann wrote 1 again: it cannot do that twice."""
    found = check_history(
        history(
            op("ann", "write", 1, at=(0, 1)),
            op("bob", "cas", (1, 2), at=(2, 9)),
            op("cat", "read", None, 2, at=(3, 4)),
            op("ann", "write", 1, at=(5, 6)),
            op("cat", "read", None, 2, at=(7, 8)),
        )
    )
    (window,) = found.windows
    assert [str(o.function) for o in window.operations] == ["cas", "read"]
    assert [state.text for state in window.states or ()] == ["1"]
    assert "1 other operation in it is needed: with any one at another time, there would be an order" in str(found)


def test_values_that_are_written_once_contradict_each_other_by_themselves() -> None:
    found = check_history(
        history(
            op("ann", "write", 1, at=(0, 1)),
            op("dan", "read", None, 1, at=(2, 3)),
            op("ann", "write", 2, at=(4, 9)),
            op("cat", "read", None, 2, at=(5, 6)),
            op("bob", "read", None, 1, at=(7, 10)),
            op("dan", "read", None, 2, at=(11, 12)),
        )
    )
    assert found.windows[0].states is None
    assert drawing(found) == (
        "NOT LINEARIZABLE: 6 operations of 4 clients, as a register.\n"
        "  these contradict each other, whatever all others did:\n"
        "\n"
        "  client ann  ├ write 1 ┤ ├─── write 2 ────┤\n"
        "  client bob                             ├ read → 1 ┤\n"
        "  client cat                ├ read → 2 ┤\n"
    )


def test_a_queue_that_overtakes() -> None:
    found = check_history(
        history(
            op(0, "enqueue", "a", at=(0, 1)),
            op(1, "enqueue", "b", at=(2, 3)),
            op(0, "enqueue", "c", at=(4, 5)),
            op(1, "dequeue", None, "b", at=(6, 7)),
            op(0, "dequeue", None, "a", at=(8, 9)),
        ),
        "queue",
    )
    assert found.reason == (
        "dequeue → a of client 0 contradicts enqueue a of client 0, enqueue b of client 1, dequeue → b of client 1"
    )


def test_operations_without_an_answer_are_drawn_open_and_leave_the_state_open() -> None:
    found = check_history(
        history(
            op("ann", "add", 1, at=(0, None)),
            op("bob", "add", 2, at=(1, 2)),
            op("bob", "read", None, 2, at=(3, 4)),
            op("bob", "read", None, 3, at=(5, 6)),
            op("bob", "read", None, 2, at=(7, 8)),
        ),
        "counter",
    )
    assert found.reason == (
        "read → 2 of client bob cannot be explained; when it began, the counter was, but for what was still under"
        " way, 3"
    )
    assert drawing(found).splitlines()[2:] == [
        "  when it began, the counter was, but for what was still under way:",
        "    3, as after add 1 → ? of client ann",
        "",
        "  client ann  ├╌╌╌╌ add 1 → ? ╌╌╌╌>",
        "  client bob    ┊ ├ read → 2 ┤",
        "",
        "  ┊ the window begins; no other operation that overlaps it makes a difference",
    ]


def test_at_most_three_windows_are_drawn() -> None:
    bad = [op(k, "read", None, 1, at=(2 * k, 2 * k + 1), key=f"k{k}") for k in range(5)]
    found = check_history(history(*bad))
    assert len(found.windows) == 5
    assert "  nor is the history of key k3, key k4\n" in f"{found}\n"
