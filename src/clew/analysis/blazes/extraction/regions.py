"""Parts of a program between interfaces: the modules that a class imports, and the rules that connect them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from clew.analysis.blazes.extraction.origins import Tracing
from clew.analysis.blazes.imported_modules import find_imports, select_rules
from clew.analysis.calm.boundaries import Source, outputs_of, sources_of
from clew.analysis.calm.dataflow.graph import Dataflow, NodeKind
from clew.analysis.calm.dataflow.of_bloom import bloom_dataflow
from clew.analysis.calm.histories import order_sensitive_reads
from clew.bloom.ir.expressions import collections_in
from clew.bloom.ir.program import BloomProgram, Rule
from clew.bloom.language.module import Module

#: What a module may leave behind without anybody who imports it: stored rows, and messages.
_LEFT_BEHIND = (NodeKind.TABLE, NodeKind.LATTICE, NodeKind.CHANNEL)


@dataclass(frozen=True)
class Region:
    """``prefix`` stands before the names of all its collections.  Inputs and outputs in the order of the text.

    ``fixed``: inputs that are none, but rows that are always there and sent, so that they arrive in some order.
    """

    program: BloomProgram
    flow: Dataflow
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    prefix: str = ""
    fixed: frozenset[str] = frozenset()

    @cached_property
    def tracing(self) -> Tracing:
        return Tracing(self.program, self.inputs)

    def interface(self, collection: str) -> str:
        """Return what an interface is called in the dataflow."""
        return collection.removeprefix(self.prefix).replace(".", "_")


@dataclass(frozen=True)
class Regions:
    """``modules`` by the names that they are imported under; ``rest``: the rules of the class itself."""

    modules: Mapping[str, Region]
    rest: Region


def whole(program: BloomProgram, files: Mapping[str, str]) -> Region:
    """Return the region of a program that is one component."""
    flow = bloom_dataflow(program, files)
    return _with_fixed(Region(program, flow, _arriving(flow), outputs_of(flow)))


def regions(program: BloomProgram, module: type[Module], files: Mapping[str, str]) -> Regions:
    """Take apart the program of a class that imports modules."""
    rules = {name: select_rules(program, module, name) for name in find_imports(module)}
    # By identity: two rules may be equal, one in the class and one in what it imports.
    inside = {id(rule) for members in rules.values() for rule in members}
    rest = _sub_program(program, [r for r in program.rules if id(r) not in inside], "")
    written = {r.target for r in rest.rules}
    read = {name for r in rest.rules for name in collections_in(r.expr)}
    modules = {}
    for name, members in rules.items():
        part = _sub_program(program, members, f"{name}.")
        flow = bloom_dataflow(part, files)
        # Where the class writes, and where messages or clocks come by themselves.
        begins = written.union(_arriving(flow))
        inputs = tuple(c.name for c in part.collections if c.name in begins)
        ends = read.union(n for n in outputs_of(flow) if flow.by_name[n].kind in _LEFT_BEHIND)
        outputs = tuple(c.name for c in part.collections if c.name in ends)
        modules[name] = _with_fixed(Region(part, flow, inputs, outputs, f"{name}."))
    foreign = tuple(f"{name}." for name in modules)
    return Regions(modules, _connections(rest, files, foreign, written, read))


def _connections(
    rest: BloomProgram, files: Mapping[str, str], foreign: tuple[str, ...], written: set[str], read: set[str]
) -> Region:
    flow = bloom_dataflow(rest, files)
    arriving, leaving = set(_arriving(flow)), set(outputs_of(flow))
    return Region(
        rest,
        flow,
        tuple(c.name for c in rest.collections if c.name in (read if c.name.startswith(foreign) else arriving)),
        tuple(c.name for c in rest.collections if c.name in (written if c.name.startswith(foreign) else leaving)),
    )


def _with_fixed(region: Region) -> Region:
    """Return the region with inputs for outputs that no input leads to, and whose contents can differ still."""
    flow = region.flow
    reached = flow.reachable_from(region.inputs)
    # The same notion as ``clew calm``: a notion of our own made the two disagree about one program.
    reads = order_sensitive_reads(flow, [Source(name, arrives=True) for name in region.inputs])
    sensitive = flow.reachable_from(flow.statements[read.statement].target for read in reads if not read.by_chance)
    left = flow.leading_to(end for end in region.outputs if end in sensitive and end not in reached)
    fixed = [s.name for s in sources_of(flow) if s.fixed and s.name in left]
    return replace(region, inputs=(*region.inputs, *fixed), fixed=frozenset(fixed))


def _arriving(flow: Dataflow) -> tuple[str, ...]:
    return tuple(source.name for source in sources_of(flow) if not source.fixed)


def _sub_program(program: BloomProgram, rules: list[Rule], prefix: str) -> BloomProgram:
    """Return the rules with their collections, and with those that have the prefix, be they used or not."""
    used = {r.target for r in rules}.union(name for r in rules for name in collections_in(r.expr))
    # An import keeps interfaces that nothing uses, so that the report can say so.
    kept = [c for c in program.collections if c.name in used or (prefix and c.name.startswith(prefix))]
    return BloomProgram(program.name, tuple(kept), tuple(rules))
