"""Complete the bounds of a check: those that the user gave, else the program's own, else the defaults.

Flags win over the program's ``//!`` line.  Where neither says how long executions are, that is left to a sweep.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from math import comb

from clew.bounds import Bounds
from clew.budgets.deadline import Deadline
from clew.checker.named_nodes import resolve_nodes
from clew.engine.ground import GroundProgram
from clew.errors import UsageError
from clew.faults import Duplicate, FailureSpec, NodeName, Partition, Pause, Restart, node_key
from clew.names import show
from clew.node_lists import WrittenNode
from clew.program.columns import possible_locations
from clew.program.ir import Program, as_place

#: Protocols show what they do in tens of steps; beyond this the ground program would only fill the memory.
LONGEST_EXECUTION = 1000

#: EOT used only to see which places messages can reach when no EOT is given.  A place that only later messages
#: reach is no node; where a sweep comes to it, a notice says that these messages get lost.
_DISCOVERY_EOT = 16


#: Each partition of nodes, at each time, is a fault of its own: so many take seconds to ground.
_MOST_PARTITIONS = 50_000
#: With more, the groups alone would be too many to list.
_MOST_PARTED_NODES = 16

#: Where a sweep begins: the shortest execution, in which nothing is lost.
_SHORTEST, _NO_LOSSES = 1, 0


def complete(program: Program, bounds: Bounds, deadline: Deadline | None = None) -> FailureSpec:
    """Return the bounds with what is open filled in; raise ``UsageError`` for what contradicts itself.

    Open times become those with which a sweep begins.
    """
    _, *numbers = Bounds._fields
    for name in numbers:
        # From Python, and from checked(...) of a Bloom class, anything can come.
        given = getattr(bounds, name)
        if given is not None and (not isinstance(given, int) or isinstance(given, bool)):
            raise UsageError(
                f"{name} is {_describe_value(given)}, which is no integer", remedy=f"give {name} a whole number"
            )
    eot, eff = bounds.eot, bounds.eff
    _check_times(eot, eff)
    # How many or how much of each kind of fault: by name, so that a new kind cannot be forgotten here.
    counts: dict[str, int] = {name: getattr(bounds, name) or 0 for name in numbers[2:] if name != "inputs"}
    if bounds.inputs is not None:  # without a number, all that the program offers may be given
        _check_inputs(program)
        counts["inputs"] = bounds.inputs
    for name, number in counts.items():
        if number < 0:
            raise UsageError(f"{name} is {number}", remedy=f"give --{name} a number from 0 on")
    if (delays := counts["delays"]) > (eot or LONGEST_EXECUTION):
        raise UsageError(
            f"delays of {delays} steps are longer than any execution", remedy="give --delays at most --eot"
        )
    check_restarts(program, counts["restarts"])
    nodes = _choose_nodes(program, bounds.nodes, eot, counts, deadline)
    if bounds.crashes is None and bounds.stops is None and eot is None:
        # A sweep without any word on crashes explores one, as the paper's measurements do.
        counts["crashes"] = min(1, len(nodes))
    _check_crashes(counts, nodes)
    spec = FailureSpec(nodes, eot or _SHORTEST, eff or _NO_LOSSES, **counts)
    _check_partitions(spec)
    if eot is not None:
        _check_passing(spec)
    return spec


def _check_crashes(counts: Mapping[str, int], nodes: Sequence[NodeName]) -> None:
    """Refuse more crashes or stops than there are nodes: whoever asks for them means something else."""
    for name in ("crashes", "stops"):
        if (number := counts[name]) > len(nodes):
            raise UsageError(
                f"{number} {name} are more than the {_count_nodes(nodes)} ({_list_nodes(nodes)})",
                remedy=f"give --{name} a number up to {len(nodes)}",
            )


def _check_inputs(program: Program) -> None:
    if not program.inputs:
        raise UsageError(
            "the program declares no inputs",
            remedy="leave --inputs out, or declare some: input write(C, V)@T :- client(C), value(V);",
        )


def check_restarts(program: Program, restarts: int) -> None:
    """Refuse restarts of a program that does not say what they leave; raises ``UsageError``."""
    if restarts and program.durable is None:
        raise UsageError(
            "the program does not say what survives a restart",
            position=next((clause.position for clause in program.clauses), None),
            remedy="name the relations that are on disk: durable log, term; or none of them: durable;",
        )


def _check_partitions(spec: FailureSpec) -> None:
    if not spec.partitions:
        return
    if len(spec.nodes) < 2:
        raise UsageError("one node cannot be partitioned", remedy="give more --nodes, or --partitions 0")
    few = len(spec.nodes) <= _MOST_PARTED_NODES
    if not few or (2 ** (len(spec.nodes) - 1) - 1) * comb(spec.all_over, 2) > _MOST_PARTITIONS:
        raise UsageError(
            f"there are too many partitions of {len(spec.nodes)} nodes before EFF {spec.eff} to try them all",
            remedy="give fewer --nodes or a smaller --eff, or --partitions 0",
        )


def _check_passing(spec: FailureSpec) -> None:
    """Refuse bounds that speak of faults for which there is no time: who asks for them wants them tried."""
    for kind in (Duplicate, Restart, Pause, Partition):
        if kind.limit(spec) and next(iter(kind.possible(spec)), None) is None:
            least = 3 if kind is Duplicate else 2
            raise UsageError(
                f"no {kind.name} is over by EFF {spec.eff}",
                remedy=f"give --eff {least} or more (and --eot as much), or --{kind.kind.plural} 0",
            )


def _describe_value(given: object) -> str:
    """Show what was given in place of a number; the repr of anything else than a text is code of the user."""
    return f"the string '{given}'" if isinstance(given, str) else f"of type {type(given).__name__}"


def _check_times(eot: int | None, eff: int | None) -> None:
    if eot is not None and eot < 1:
        raise UsageError(f"eot is {eot}", remedy="give --eot a number from 1 on")
    if eot is not None and eot > LONGEST_EXECUTION:
        raise UsageError(f"eot is {eot}", remedy=f"give --eot a number up to {LONGEST_EXECUTION}")
    if eff is not None and eff < 0:
        raise UsageError(f"eff is {eff}", remedy="give --eff a number from 0 on")
    if eot is not None and eff is not None and eff > eot:
        raise UsageError(
            f"EFF {eff} is larger than EOT {eot}",
            remedy="messages can only be lost within the execution: give --eff at most --eot, better less",
        )


def _choose_nodes(
    program: Program,
    named: Sequence[WrittenNode] | None,
    eot: int | None,
    counts: Mapping[str, int],
    deadline: Deadline | None,
) -> tuple[NodeName, ...]:
    if isinstance(named, str):
        raise UsageError(f"nodes is the string '{named}'", remedy="give a list of names")
    nodes = _find_nodes(program, eot, counts, deadline) if named is None else resolve_nodes(program, named)
    for node in nodes:
        if isinstance(node, str) and not node.isprintable():
            raise UsageError(f"invalid node name {node!r}", remedy="use letters, digits and . _ ?")
    return nodes


def _find_nodes(
    program: Program, eot: int | None, counts: Mapping[str, int], deadline: Deadline | None
) -> tuple[NodeName, ...]:
    """Return the places of facts, and those that messages can reach from there."""
    located = {as_place(f.args[0]) for f in program.facts if f.relation not in program.ranges}
    if not located and not program.inputs:
        raise UsageError(
            "the program has no facts, so there are no nodes",
            remedy="add facts such as node(a, b)@1; or name the nodes with --nodes",
        )
    # A sweep counts what it grounds as effort, and that should not become less: its answers would change.
    if eot is not None and _stay_at(program, located):
        return tuple(sorted(located, key=node_key))
    eot = eot or _DISCOVERY_EOT
    while True:
        nodes = tuple(sorted(located, key=node_key))
        # With every kind of fault: some places are reached only when something goes wrong.  Stops as they are
        # given: what they let happen beyond crashes, they do by keeping nodes from running.
        # Partitions are left out: what they lose is lost one by one, too.
        anything = FailureSpec(nodes, eot, eff=eot, **{**counts, "crashes": len(nodes), "partitions": 0})
        ground = GroundProgram(program, anything, expect_outcomes=False, deadline=deadline)
        reached = ground.message_locations() | ground.given_locations()
        if reached <= located:
            return nodes
        located |= reached


def _stay_at(program: Program, located: Set[NodeName]) -> bool:
    """Tell whether no row and no message can be anywhere else, as far as the text of the rules tells.

    Of a program in Dedalus it tells all that can be: then nothing has to be grounded to find the places.
    """
    if any(rule.text is not None for rule in program.rules):
        return False
    possible = possible_locations(program)
    return not possible.numbers and not possible.anything and possible.values <= located


def _count_nodes(nodes: Sequence[NodeName]) -> str:
    return f"{len(nodes)} node{'' if len(nodes) == 1 else 's'}"


def _list_nodes(nodes: Sequence[NodeName]) -> str:
    return ", ".join(map(show, nodes))
