"""The notation for ground programs: what the tests beside this one rest on."""

from __future__ import annotations

from clew.faults import Crash, Delay, Loss
from clew.lineage.circuit import ALWAYS, NEVER, Circuit
from lineage.hand_made import HandMade, fault, gate_text


def test_atoms_are_what_their_names_look_like() -> None:
    ground = HandMade("""
        log(b)@2 :- m.log(b)@1, link.
        link :- not O(a,b,1).
        bad(b) :- not log(b)@2.
    """)
    assert [(row.relation, row.row, row.time) for row in ground.row_atoms] == [("log", ("b",), 2)]
    assert [(sent.relation, sent.time) for sent in ground.sent_atoms] == [("log", 1)]
    assert list(ground.fault_atoms) == [Loss("a", "b", 1)]
    assert [str(violation) for violation in ground.violation_atoms] == ["pre(b)"]


def test_a_run_derives_what_follows_and_negation_is_about_what_does_not() -> None:
    ground = HandMade("""
        sent.
        link :- not O(a,b,1).
        arrived :- sent, link.
        retry :- sent, not arrived.
        quorum :- 2 { arrived, sent, retry }.
    """)
    assert ground.names(ground.run()) == {"sent", "link", "arrived", "quorum"}
    assert ground.names(ground.run("O(a,b,1)")) == {"O(a,b,1)", "sent", "retry", "quorum"}


def test_faults_are_written_as_everywhere() -> None:
    assert [fault(text) for text in ("O(a,b,1)", "C(a,1)", "D(a,b,1,2)")] == [
        Loss("a", "b", 1),
        Crash("a", 1),
        Delay("a", "b", 1, 2),
    ]


def test_gates_are_written_with_parentheses_around_what_is_nested() -> None:
    circuit = Circuit()
    one, other = circuit.absent(fault("O(a,b,1)")), circuit.present(fault("C(a,2)"))
    both, third = circuit.all_of([one, other]), circuit.absent(fault("C(b,1)"))
    assert gate_text(circuit, circuit.any_of([both, third])) == "(C(a,2) and no O(a,b,1)) or no C(b,1)"
    assert gate_text(circuit, circuit.at_least(3, [one, other, third], [2, 1, 1])) == (
        "3 of {C(a,2), no C(b,1), no O(a,b,1) * 2}"
    )
    assert [gate_text(circuit, gate) for gate in (ALWAYS, NEVER)] == ["always", "never"]
