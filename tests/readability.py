"""Measure how the code reads: how functions are named and described, where comments say why, how rooms are cut.

``python tests/readability.py [FOLDER]`` prints the shares and every function that counts against them.
"""

from __future__ import annotations

import ast
import io
import re
import statistics
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SOURCE = Path(__file__).parents[1] / "src" / "clew"

#: A docstring that opens with one of these is a noun phrase or an indirect question, whatever follows.
_NO_VERBS = _words(
    """
    a all an and another any anything are as at because both but by can could each either every
    everything exactly few fewest for from half here how if in into is it its just many may more most
    neither never no nobody none nor not nothing of on one only or other others our out over own several
    so some something such than that the their them then there these they things this those though three
    to two under until up us was were what whatever when whenever where whether which while who whoever
    whom whose why will with within without you your zero
    """
)
#: Base forms that end like a participle, a third person or a gerund.
_VERBS_ALL_THE_SAME = _words(
    """
    access address assess bias bring canvas compress cross discuss dismiss embed exceed express feed
    flatten focus fuss guess happen harden lengthen listen loosen need open pass press proceed process
    seed shorten shred spring string succeed swing threaten tighten toss widen
    """
)
#: Nouns and adjectives that have opened docstrings here; what else looks like a base form counts as a verb.
_NOUNS = _words(
    """
    account action aggregate annotation arguments arity atom atoms attribute attributes block blocks body
    bounds bytes candidate candidates choice choices class classes clause clauses code collection
    collections column columns command commands component components condition conditions constant
    counterexample cycle data dataflow decimal default defaults description digest digits distance
    document edge edges effect effects error errors event events everyone evidence execution executions
    expression expressions fact facts false fault faults few fields file files first fresh function
    functions further gate gates goal goals graph head heads history html identity input inputs instance
    interface item items json key keys labels larger last later lattice least left length level line
    lineage lines links literal literals location locations loss losses lower main message messages
    method minimal missing model module modules names negative new next node nodes notice notices numbers
    object operator operators option options origin outcome outcomes output outputs pair pairs part parts
    path paths places plain position positions possible premise premises problem program promise promises
    python question random reads reason reasons recording relation relations remaining result right row
    rows rule rules same schedule schema seconds sentence sentences sequence setting settings shape short
    single size small smaller smallest source statement statements states steps strategy stratum stream
    string such supports svg symbol symbols table term text texts times tree triple true tuple type types
    unique upper user value values variable variables verdict version violation violations word words
    workload world yaml
    """
)
#: Words that are verbs, unless one of the words of ``_AFTER_NOUNS`` follows: "Name the stream", but "Name of it".
_EITHER = _words(
    "access address answer bound cause crash label link name number page place read set state step store"
    " support time"
)
_AFTER_NOUNS = _words("of that as is are for which in with and or")
_IRREGULAR = _words(
    """
    begun bought bound broken brought built caught chosen done drawn felt found given gone grown held
    hidden kept known left lost made meant met seen sent shown spent taken taught thought thrown told
    understood worn written
    """
)
_VERBS_IN_ED = _words("need feed seed embed exceed proceed succeed speed shed")
_PRAGMA = re.compile(r"#\s*(noqa|type:|pragma|fmt:|ruff:)")


@dataclass(frozen=True)
class Function:
    """A function with the first line of what is said about it."""

    file: Path
    line: int
    name: str
    opening: str
    is_property: bool

    @property
    def opens_with_verb(self) -> bool:
        word = re.split(r"[^A-Za-z`'-]", self.opening, maxsplit=1)[0]
        lower = word.lower()
        if not re.fullmatch(r"[A-Z][a-z]+(-[a-z]+)?", word) or lower in _NO_VERBS | _NOUNS:
            return False
        if lower in _EITHER:
            return self.opening.split()[1:2] == [] or self.opening.split()[1] not in _AFTER_NOUNS
        return lower in _VERBS_ALL_THE_SAME or not re.search(r"(ed|ing|tion|ness|[^s]s)$", lower)

    @property
    def is_named_by_participle(self) -> bool:
        if self.is_property or re.fullmatch(r"__\w+__", self.name):
            return False
        first = self.name.lstrip("_").split("_")[0]
        return first in _IRREGULAR or (first.endswith("ed") and first not in _VERBS_IN_ED)


def modules(folder: Path = SOURCE) -> list[Path]:
    """Return the modules below a folder."""
    return sorted(folder.rglob("*.py")) if folder.is_dir() else [folder]


def functions(files: list[Path]) -> Iterator[Function]:
    """Yield every function and method of these modules."""
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                opening = (ast.get_docstring(node) or "").split("\n")[0]
                decorators = {d.id for d in node.decorator_list if isinstance(d, ast.Name)}
                is_property = bool(decorators & {"property", "cached_property"})
                yield Function(file, node.lineno, node.name, opening, is_property)


def count_lines(files: list[Path]) -> tuple[int, int]:
    """Count all lines, and those with a comment that is not addressed to a tool."""
    total = commented = 0
    for file in files:
        text = file.read_text(encoding="utf-8")
        total += text.count("\n")
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        commented += sum(t.type == tokenize.COMMENT and not _PRAGMA.match(t.string) for t in tokens)
    return total, commented


@dataclass(frozen=True)
class Measured:
    """The figures of a folder."""

    without_verb: tuple[Function, ...]
    described: int
    participles: tuple[Function, ...]
    named: int
    lines: int
    commented: int
    median_file: float
    largest_folder: int

    def __str__(self) -> str:
        return (
            f"docstrings that do not open with a verb: {len(self.without_verb)} of {self.described}"
            f" ({len(self.without_verb) / max(1, self.described):.1%}; at most 15 %)\n"
            f"functions named by a participle: {len(self.participles)} of {self.named}"
            f" ({len(self.participles) / max(1, self.named):.1%}; at most 7 %)\n"
            f"lines with a comment: {self.commented} of {self.lines}"
            f" ({self.commented / max(1, self.lines):.1%}; at least 4 %)\n"
            f"median file: {self.median_file:g} lines (120 to 220);"
            f" largest folder: {self.largest_folder} modules (at most 16)"
        )


def measure(folder: Path = SOURCE) -> Measured:
    """Measure the modules below a folder."""
    files = modules(folder)
    found = list(functions(files))
    described = [f for f in found if f.opening]
    lines, commented = count_lines(files)
    named = [f for f in files if f.name != "__init__.py"]
    folders = [sum(f.parent == parent for f in named) for parent in {f.parent for f in named}]
    sizes = [f.read_text(encoding="utf-8").count("\n") for f in named]
    return Measured(
        tuple(f for f in described if not f.opens_with_verb),
        len(described),
        tuple(f for f in found if f.is_named_by_participle),
        len(found),
        lines,
        commented,
        statistics.median(sizes),
        max(folders),
    )


def _main() -> None:
    measured = measure(Path(sys.argv[1]) if len(sys.argv) > 1 else SOURCE)
    for function in measured.without_verb:
        print(f"{function.file}:{function.line}: {function.name}: {function.opening}")
    for function in measured.participles:
        print(f"{function.file}:{function.line}: {function.name}  (a participle)")
    print(measured)


if __name__ == "__main__":
    _main()
