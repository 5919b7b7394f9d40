"""Notices about rows, rules and messages at places that are not nodes.

None of this is an error: a node may be left out of ``--nodes`` on purpose.  But what is sent there is lost without
any fault, and a program that seems to tolerate everything may only never have reached anybody.
"""

from __future__ import annotations

from collections.abc import Iterator

from clew.errors import Notice
from clew.faults import FailureSpec, NodeName, node_key
from clew.names import show
from clew.program.ir import Const, Program, as_place
from clew.program.outcomes import assertion_relations

_REMEDY = "add it to --nodes"


def notice_unknown_nodes(
    program: Program, spec: FailureSpec, message_locations: set[NodeName]
) -> Iterator[Notice]:
    """Yield a notice for each place without a node: of messages, of facts, of rules.

    ``message_locations`` are the places that some execution sends from or to; only the ground program knows them.
    """
    known = set(spec.nodes)
    for place in sorted(message_locations - known, key=node_key):
        yield Notice(f"messages from or to the unknown node '{show(place)}' get lost", None, _REMEDY)
    yield from _notice_facts(program, known)
    yield from _notice_rules(program, known)


def _notice_facts(program: Program, known: set[NodeName]) -> Iterator[Notice]:
    noticed: set[NodeName] = set()  # once for each place: a node that was forgotten has many facts
    for fact in program.facts:
        place = as_place(fact.args[0])
        if place not in known and place not in noticed and fact.relation not in program.ranges:
            noticed.add(place)
            message = f"'{fact.relation}' is given at the unknown node '{show(place)}'"
            yield Notice(message, fact.position, _REMEDY)


def _notice_rules(program: Program, known: set[NodeName]) -> Iterator[Notice]:
    assertions = assertion_relations(program)  # their first column says what must hold, not where
    for rule in program.rules:
        match rule.location:
            case Const(place) if place not in known and rule.relation not in assertions:
                message = f"the rule for '{rule.relation}' runs at the unknown node '{show(place)}'"
                yield Notice(message, rule.position, _REMEDY)
