"""YAML with the place of every value, read within bounds.

PyYAML composes nodes, not objects, so nothing in a file can be executed.  Aliases share nodes: a small file may
describe a huge tree, so what is read is counted, not what is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import NoReturn

import yaml

from clew.analysis.blazes.annotations import is_name
from clew.errors import Position, ProgramError
from clew.files.reading import IRREGULAR_REMEDY, IrregularFileError, read_input

#: A dataflow is a few kilobytes; a file beyond this is a mistake and is not read into memory.
LARGEST_FILE = 200_000
#: How many values may be read from a file, those behind aliases each time anew.
MOST_VALUES = 50_000


@dataclass
class _Budget:
    left: int = MOST_VALUES


@dataclass(frozen=True)
class Value:
    """A value of the file; its methods check what it is."""

    file: str
    node: yaml.Node
    budget: _Budget = field(default_factory=_Budget, compare=False, repr=False)

    @property
    def position(self) -> Position:
        mark = self.node.start_mark
        return Position(self.file, mark.line + 1, mark.column + 1)

    def refuse(self, message: str, remedy: str) -> NoReturn:
        raise ProgramError(message, position=self.position, remedy=remedy)

    def expect(self, what: str, remedy: str) -> NoReturn:
        self.refuse(f"expected {what}, found {self._describe()}", remedy)

    def _describe(self) -> str:
        match self.node:
            case yaml.ScalarNode(value="") if self.node.tag.endswith(":null"):
                return "nothing"
            case yaml.ScalarNode(value=text):
                return f"'{_shorten(str(text))}'"
            case yaml.SequenceNode(value=items):
                return f"a list of {len(items)}"
        return "a mapping"

    def _child(self, node: yaml.Node) -> Value:
        # Aliases of aliases unfold to exponentially many values ("billion
        # laughs"): each visit is counted, not each node.
        self.budget.left -= 1
        if self.budget.left < 0:
            self.refuse(
                f"the file has more than {MOST_VALUES} values, counting those behind aliases each time",
                "write out what is meant, and leave aliases away",
            )
        return Value(self.file, node, self.budget)

    def mapping(self, what: str, remedy: str) -> dict[str, tuple[Value, Value]]:
        """Return the keys with their values as nodes; refuse a key that is there twice."""
        if not isinstance(self.node, yaml.MappingNode):
            self.expect(what, remedy)
        found: dict[str, tuple[Value, Value]] = {}
        for key_node, value_node in self.node.value:
            key = self._child(key_node)
            if not isinstance(key_node, yaml.ScalarNode):
                key.expect("a word", remedy)
            # The text as it stands: YAML would make a truth value of ``on`` and a number of ``1``.
            name = str(key_node.value)
            # YAML parsers keep the last of two; in a dataflow that would lose a component without a word.
            if name in found:
                first = found[name][0].position
                key.refuse(f"'{_shorten(name)}' stands here twice", f"keep one; the first is in line {first.line}")
            found[name] = (key, self._child(value_node))
        return found

    def fields(self, what: str, names: Sequence[str], remedy: str) -> dict[str, Value]:
        """Return a mapping with some of these keys."""
        found = self.mapping(what, remedy)
        for name, (key, _) in found.items():
            if name not in names:
                key.refuse(f"{what} has no field '{_shorten(name)}'", _unknown(name, names))
        return {name: value for name, (_, value) in found.items()}

    @property
    def is_list(self) -> bool:
        return isinstance(self.node, yaml.SequenceNode)

    @property
    def is_mapping(self) -> bool:
        return isinstance(self.node, yaml.MappingNode)

    def items(self) -> list[Value]:
        """Return the items of a list; of anything else, itself."""
        if not isinstance(self.node, yaml.SequenceNode):
            return [self]
        return [self._child(item) for item in self.node.value]

    def text(self, what: str, remedy: str) -> str:
        if not isinstance(self.node, yaml.ScalarNode):
            self.expect(what, remedy)
        return str(self.node.value)

    def name(self, what: str) -> str:
        """Return a name; also one that YAML would take for a truth value or a number, such as ``on``."""
        remedy = "names consist of letters, digits, _ and -, and begin with a letter or _"
        text = self.text(what, remedy)
        if not is_name(text):
            self.expect(what, remedy)
        return text

    def one_of(self, what: str, words: Sequence[str]) -> str:
        remedy = f"write one of {', '.join(words)}"
        text = self.text(what, remedy)
        if text not in words:
            self.expect(what, remedy)
        return text

    def truth(self, what: str) -> bool:
        return self.one_of(what, ("true", "false")) == "true"


def read_yaml(path: str | Path) -> Value:
    """Return the value that a file holds."""
    return parse_yaml(_read(path), str(path))


def parse_yaml(text: str, file: str = "<text>") -> Value:
    """Return the value that a text holds."""
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        position = Position(file, mark.line + 1, mark.column + 1) if mark else Position(file, 1, 1)
        problem = str(error.problem)
        if problem.startswith("but "):
            problem = f"{str(error.context).removesuffix(' in the stream')}, {problem}"
        raise ProgramError(
            f"not YAML: {problem}", position=position, remedy="check the indentation and the brackets before here"
        ) from None
    except yaml.reader.ReaderError as error:
        raise ProgramError(
            f"not YAML: the character {chr(error.character)!a} is not allowed",
            position=_place(text, error.position, file),
            remedy="remove it",
        ) from None
    except RecursionError:
        raise ProgramError(
            "lists and mappings are nested too deeply", position=Position(file, 1, 1), remedy="a dataflow is flat"
        ) from None
    if node is None:
        raise ProgramError(
            "the file is empty", position=Position(file, 1, 1), remedy="describe components and streams"
        )
    return Value(file, node)


def _place(text: str, index: int, file: str) -> Position:
    before = text[:index]
    return Position(file, before.count("\n") + 1, index - before.rfind("\n"))


def _read(path: str | Path) -> str:
    try:
        data = read_input(path, LARGEST_FILE, given_open=True)
    except IrregularFileError as error:
        raise ProgramError(f"{path} is {error.kind}, not a regular file", remedy=IRREGULAR_REMEDY) from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise ProgramError(f"cannot read {path}: {why}", remedy="give the path of a readable YAML file") from None
    if len(data) > LARGEST_FILE:
        raise ProgramError(f"{path} is larger than {LARGEST_FILE} bytes", remedy="describe one dataflow a file")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ProgramError(
            f"{path} is not UTF-8 text, from byte {error.start} on", remedy="save it as UTF-8"
        ) from None


def _unknown(name: str, names: Sequence[str]) -> str:
    near = get_close_matches(name, names, n=1)
    return f"did you mean '{near[0]}'?" if near else f"the fields are {', '.join(names)}"


def _shorten(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."
