"""Pieces of the text of a Bloom class: declarations, blocks and rules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from clew.bloom.ir.schema import Schema
from clew.bloom.language.module import Module
from clew.bloom.language.scope import Declaration, Imported
from clew.coordination.components import input_of
from clew.errors import UsageError

WIDTH = 115


@dataclass(frozen=True)
class ClassText:
    """A class to be written.  ``uses``: names of ``clew.coordination`` in it."""

    name: str
    base: type[Module]
    says: str
    declarations: tuple[str, ...]
    blocks: tuple[str, ...]
    uses: frozenset[str]


def class_name(prefix: str, cls: type[Module], component: str, others: Iterable[str]) -> str:
    """Return a name for a wrapped component; of a module that is imported twice, there are two."""
    name = f"{prefix}{cls.__name__}"
    return f"{name}_{component}" if name in others else name


def class_lines(made: ClassText) -> list[str]:
    """Return the lines of a class; refuse one that needs a name that its base has for something else."""
    names = [declaration.partition(" = ")[0] for declaration in made.declarations]
    names += [block.partition("def ")[2].partition("(")[0] for block in made.blocks]
    for name in names:
        # Overriding an interface or an import is the point; a method or a
        # constant of this name would be lost silently.
        known = getattr(made.base, name, None)
        if known is not None and not isinstance(known, Declaration | Imported):
            raise UsageError(
                f"{made.base.__name__} has something else that is called '{name}'",
                remedy="rename it: the coordination needs the name",
            )
    lines = [f"class {made.name}({made.base.__name__}):", f'    """{made.says}"""', ""]
    lines += [f"    {declaration}" for declaration in made.declarations]
    for block in made.blocks:
        lines += ["", block]
    return lines


def block_text(name: str, rules: Iterable[str]) -> str:
    lines = ["    @bloom", f"    def {name}(self) -> None:"]
    lines += [f"        {line}" for rule in rules for line in rule.split("\n")]
    return "\n".join(lines)


def rule_text(target: str, source: str, function: str) -> str:
    """Return ``target source(function)``, in several lines if need be."""
    line = f"{target} {source}({function})"
    return line if len(line) + 8 <= WIDTH else f"{target} {source}(\n    {function}\n)"


def watch_rules(settling: str, watched: Sequence[str]) -> list[str]:
    """Return the rules that show ``Settling`` what a component leaves for its next step."""
    if not watched:
        return []
    return [f"for change in pending_changes(self, [{quote(watched)}]):", f"    self.{settling}.moving <= change"]


def by_partition(cls: type[Module], name: str, key: Sequence[str]) -> str:
    return f"lambda r: ({tuple_text(f'r.{column}' for column in key)}, {content(cls, name)})"


def content(cls: type[Module], name: str) -> str:
    return tuple_text(f"r.{column}" for column in input_of(cls, name).schema.columns)


def tuple_text(items: Iterable[str]) -> str:
    made = ", ".join(items)
    return f"({made},)" if "," not in made else f"({made})"


def input_text(cls: type[Module], name: str) -> str:
    return f"interface.input({_schema(input_of(cls, name).schema)})"


def _schema(schema: Schema) -> str:
    spelled = [f"@{name}" if name == schema.location else name for name in schema.columns]
    keys, values = spelled[: len(schema.keys)], spelled[len(schema.keys) :]
    val = [f"val=[{quote(values)}]"] if values else []
    return ", ".join([*([quote(keys)] if keys else []), *val])


def quote(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def join_names(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
