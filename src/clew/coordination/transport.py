"""Whether the rows of a sealed stream arrive as they were counted.

A manifest says how many rows of a partition a producer has sent; the consumer compares it with how many are there.
So on its way through the system every row must become exactly one row at the interface of the component, and
nothing else may arrive there: rows may be passed on, renamed and sent to all consumers, not filtered or merged.
"""

from __future__ import annotations

from clew.bloom.ir.expressions import AnyExpr, Join, Project, Ref, Rename, Role, Take, Transform, collections_in
from clew.bloom.ir.program import BloomProgram, Op, Rule
from clew.bloom.ir.schema import Kind
from clew.bloom.ir.symbolic import Column
from clew.errors import UsageError

#: The column of the stream that each column of an expression holds; None for a constant.
_Origins = tuple[int | None, ...]
#: Instead, for a column of a table: where rows are sent to.
_OF_TABLE = -1


def check_transport(program: BloomProgram, stream: str, interface: str) -> None:
    """Refuse a stream whose rows do not arrive at an interface one for one."""
    # Backwards from the component: there, each collection must have one
    # writer, so that there is one way to follow.
    target, way = interface, []
    while target != stream:
        rules = [rule for rule in program.rules if rule.target == target]
        # A second writer could add rows that no manifest counts; a table
        # would keep rows of partitions that are gone.
        if len(rules) != 1 or rules[0].op is Op.DELETE or program.by_name[target].kind is Kind.TABLE:
            where = rules[0].position if rules else program.by_name[target].position
            raise _refusal(program, stream, f"'{target}' does not get them in one way only", where)
        way.append(rules[0])
        source = _moving_collection(program, rules[0])
        # The length bounds a cycle of rules, which never leads back to the stream.
        if source is None or len(way) > len(program.rules):
            raise _refusal(program, stream, f"{rules[0]} does more than to pass rows on", rules[0].position)
        target = source
    origins: _Origins = tuple(range(len(program.by_name[stream].schema.columns)))
    wanted = set(origins)
    for rule in reversed(way):
        found = _origins(program, rule.expr, origins, _source(program, rule))
        # Every column of the stream must survive: without one of them, two
        # rows may become equal, and be counted once.
        if found is None or not wanted <= set(found) or _multiplies(program, rule, found):
            raise _refusal(program, stream, f"{rule} may merge rows, or leave some out", rule.position)
        origins = found


def _refusal(program: BloomProgram, stream: str, why: str, position: object) -> UsageError:
    return UsageError(
        f"{program.name}: the rows of {stream} do not arrive as they were counted: {why}",
        position=position,  # type: ignore[arg-type]
        remedy="pass them on as they are, and work on them in the component",
    )


def _multiplies(program: BloomProgram, rule: Rule, found: _Origins) -> bool:
    """Return whether one row may become several at one node: only where it is sent to may come from a table."""
    schema = program.by_name[rule.target].schema
    # A row that goes to several consumers is one row at each of them, so the address may come from a table.
    address = schema.index(schema.location) if rule.op is Op.SEND and schema.location is not None else None
    return any(origin == _OF_TABLE and k != address for k, origin in enumerate(found))


def _moving_collection(program: BloomProgram, rule: Rule) -> str | None:
    """Return the collection whose rows a rule passes on; tables are where to."""
    moving = [name for name in collections_in(rule.expr) if program.by_name[name].kind is not Kind.TABLE]
    return moving[0] if len(moving) == 1 else None


def _source(program: BloomProgram, rule: Rule) -> str:
    found = _moving_collection(program, rule)
    assert found is not None
    return found


def _origins(program: BloomProgram, expr: AnyExpr, carried: _Origins, source: str) -> _Origins | None:
    """Return where the columns of an expression are from; None if it is not one row for each row of the source."""
    match expr:
        case Ref(collection):
            width = len(program.by_name[collection].schema.columns)
            return carried if collection == source else (_OF_TABLE,) * width
        case Rename(inner):
            return _origins(program, inner, carried, source)
        case Project(inner, kept):
            found = _origins(program, inner, carried, source)
            return None if found is None else tuple(found[k] for k in kept)
        case Join(sources, matches, Take.PAIRS) if not matches:
            sides = [_origins(program, side, carried, source) for side in sources]
            known = [side for side in sides if side is not None]
            return tuple(o for side in known for o in side) if len(known) == len(sides) else None
        case Transform(inner, function) if function.role is Role.MAP and function.paths is not None:
            found = _origins(program, inner, carried, source)
            if found is None or len(function.paths) != 1 or function.paths[0].tests:
                return None
            (row,) = function.paths[0].rows or ((),)
            if not isinstance(row, tuple):
                return None
            starts = [sum(len(part) for part in function.parts[:k]) for k in range(len(function.parts))]
            return tuple(found[starts[v.part] + v.index] if isinstance(v, Column) else None for v in row)
    return None
