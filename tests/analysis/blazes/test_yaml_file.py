"""The format of dataflow files, and a table of files that are refused, with the place and the remedy."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest

from analysis.blazes.dataflows import annotation
from clew.analysis.blazes import Component, Dataflow, Dependency, End, Lineage, Ordering, Path, Stream
from clew.analysis.blazes.annotations import RUN
from clew.analysis.blazes.yaml.nodes import LARGEST_FILE
from clew.analysis.blazes.yaml.reading import load_dataflow, parse_dataflow
from clew.errors import ClewError, ProgramError, UsageError

FULL = """\
A:
  Rep: true
  order: sequence
  annotation: { from: i, to: o, label: C, lineage: [x, y] }
B:
  annotation:
    - { from: i, to: o, label: OW, subscript: [x, y], injective: { x: z } }
    - { from: on, to: o, label: OR*, lineage: { x: y }, injective: [{ from: [x, y], to: w }] }
  variant: READ
  READ: { from: q, to: o, label: OR, subscript: x }
  WRITE:
    - { from: q, to: o, label: OW }
streams:
  - { name: in, to: A.i, seal: x, attributes: [x, y], injective: { x: y } }
  - { from: A.o, to: B.i, Rep: true, seal: [x, y] }
  - { to: B.on, label: Run }
  - { to: B.q, seal: [[x], [x, y]] }
  - { name: out, from: B.o }
"""


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _dependency(source: str, target: str) -> Dependency:
    return Dependency(_names(source), _names(target))


def test_every_field() -> None:
    kept = Lineage(False, (_dependency("x", "x"), _dependency("y", "y")))
    renamed = Lineage(False, (_dependency("x", "y"), _dependency("x y", "w")))
    a = Component("A", (Path("i", "o", annotation("CR"), kept),), replicated=True, ordering=Ordering.SEQUENCE)
    b = Component(
        "B",
        (
            Path("i", "o", annotation("OW:x,y"), Lineage(True, (_dependency("x", "z"),))),
            Path("on", "o", annotation("OR*"), renamed),
            Path("q", "o", annotation("OR:x")),
        ),
    )
    assert parse_dataflow(FULL) == Dataflow(
        (a, b),
        (
            Stream(
                "in",
                target=End("A", "i"),
                seals=(_names("x"),),
                attributes=("x", "y"),
                dependencies=(_dependency("x", "y"),),
            ),
            Stream("A.o", End("A", "o"), End("B", "i"), seals=(_names("x y"),), replicated=True),
            Stream("B.on", None, End("B", "on"), label=RUN),
            Stream("B.q", None, End("B", "q"), seals=(_names("x"), _names("x y"))),
            Stream("out", End("B", "o")),
        ),
    )


def test_a_variant_can_be_chosen_from_outside() -> None:
    written = parse_dataflow(FULL, variants={"B": "WRITE"})
    assert written.components[1].paths[-1].annotation == annotation("OW*")


def test_positions_are_those_of_the_file() -> None:
    flow = parse_dataflow(FULL, "f.yaml")
    assert str(flow.components[1].position) == "f.yaml:5:1"
    assert str(flow.components[1].paths[1].position) == "f.yaml:8:7"
    assert str(flow.streams[-1].position) == "f.yaml:18:5"


GOOD = """\
A:
  annotation:
    - { from: i, to: o, label: OW, subscript: [x] }
streams:
  - { name: in, to: A.i }
  - { name: out, from: A.o }
"""

#: What is replaced in the good file, by what; the place, the message and a part of the remedy.
BAD = [
    ("label: OW", "lable: OW", "3:25", "a path has no field 'lable'", "did you mean 'label'?"),
    ("label: OW", "OW", "3:25", "a path has no field 'OW'", "the fields are from"),
    ("from: i, ", "", "3:7", "a path has no field 'from'", "write it as { from: input"),
    ("label: OW", "label: W", "3:32", "expected a label, found 'W'", "C, CR, CW, OR, OW, OR*, OW*"),
    ("label: OW", "label: CW", "3:47", "CW has no subscript", "only OR and OW"),
    ("label: OW", "label: OW*", "3:48", "OW* has no subscript", "only OR and OW"),
    ("[x]", "[]", "3:47", "expected at least one attribute, found a list of 0", "name an attribute"),
    ("[x]", "[x, x]", "3:51", "the attribute 'x' is listed twice", "once"),
    ("[x]", "[[x]]", "3:48", "expected an attribute, found a list of 1", "letters"),
    ("[x]", "'*'", "3:47", "expected an attribute, found '*'", "letters"),
    ("from: i", "from: [i]", "3:15", "expected the name of an input interface, found a list of 1", "letters"),
    ("from: i", "from: ", "3:14", "expected the name of an input interface, found nothing", "letters"),
    ("annotation:", "anotation:", "2:3", "component 'A' has no field 'anotation'", "did you mean 'annotation'?"),
    ("annotation:", "<<:", "2:3", "component 'A' has no field '<<'", "annotation, Rep, order, variant"),
    ("A:\n", "A:\n  Rep: yes\n", "2:8", "expected true or false, found 'yes'", "true, false"),
    ("A:\n", "A:\n  order: total\n", "2:10", "expected an ordering, found 'total'", "dynamic, sequence"),
    ("A:\n", "A:\n  variant: X\n", "2:12", "component 'A' has no variant 'X'", "capitals"),
    (
        "A:\n",
        "A:\n  X: { from: i, to: o, label: C }\n",
        "1:1",
        "component 'A' has variants, and none is chosen",
        "add 'variant: X', or give --variant A=X",
    ),
    ("A:\n", "A:\n  variant: X\n  X: 1\n", "3:6", "expected a path, found '1'", "write it as"),
    ("A:\n", "A: 3\nB:\n", "1:4", "expected the description of component 'A', found '3'", "annotation"),
    ("A:\n", "A: {}\nB:\n", "1:1", "component 'A' has no paths", "add 'annotation:'"),
    ("A:\n", "1A: {}\nB:\n", "1:1", "expected the name of a component, found '1A'", "letters"),
    ("A:\n", "[A]: {}\nB:\n", "1:1", "expected a word, found a list of 1", "components by their names"),
    ("streams:", "stream:", "1:1", "the dataflow has no streams", "add 'streams:'"),
    ("to: A.i", "to: B.i", "5:5", "there is no component 'B'", "there are: A"),
    ("to: A.i", "to: A.x", "5:5", "component 'A' has no input interface 'x'", "there are: i"),
    ("from: A.o", "from: A.i", "6:5", "component 'A' has no output interface 'i'", "there are: o"),
    ("to: A.i", "to: A", "5:21", "expected an interface of a component, found 'A'", "write Component.interface"),
    ("to: A.i", "to: A.i.j", "5:21", "expected an interface of a component, found 'A.i.j'", "Component.interface"),
    ("to: A.i ", "sealed: x ", "5:17", "a stream has no field 'sealed'", "did you mean 'seal'?"),
    (", to: A.i", "", "5:5", "a stream has neither 'from' nor 'to'", "{ from: Component.output"),
    ("name: in", "name: out", "6:5", "two streams are called 'out'", "name"),
    ("to: A.i", "to: A.i, seal: []", "5:32", "expected at least one attribute, found a list of 0", "leave"),
    (
        "to: A.i",
        "to: A.i, attributes: [x], seal: y",
        "5:49",
        "the stream 'in' has no attribute 'y'",
        "its attributes are x",
    ),
    ("to: A.i", "to: A.i, label: Seal", "5:33", "expected a label, found 'Seal'", "Async, Run, Inst, Split"),
    ("to: A.i", "to: A.i, label: Run, seal: x", "5:33", "a stream that is Run cannot be sealed", "leave"),
    ("from: A.o", "from: A.o, label: Run", "6:36", "only a stream that enters the dataflow", "leave"),
    ("to: A.i", "to: A.i, Rep: 1", "5:31", "expected true or false, found '1'", "true, false"),
    ("to: A.i", "to: A.i, injective: x", "5:37", "expected attributes that determine others", "write {"),
    ("to: A.i", "to: A.i, injective: [{ to: x }]", "5:38", "a dependency has no field 'from'", "write {"),
    (
        "to: A.i",
        "to: A.i, attributes: [y]",
        "3:7",
        "no stream into component 'A' has the attribute 'x' of the subscript",
        "their attributes are y",
    ),
    ("  - { name: in, to: A.i }\n", "", "3:7", "no stream leads to the input interface A.i", "{ to: A.i }"),
    ("  - { name: out, from: A.o }\n", "", "3:7", "no stream begins at the output interface A.o", "{ from: A.o }"),
    (
        "  - { name: out, from: A.o }",
        "  - { name: out, from: A.o, to: A.i }",
        "1:1",
        "no stream leaves the dataflow, so there is nothing to label",
        "add a sink",
    ),
    ("A:\n", "A: {}\nA:\n", "2:1", "'A' stands here twice", "the first is in line 1"),
    ("label: OW", "label: OW, label: OR", "3:36", "'label' stands here twice", "keep one"),
    ("[x]", "[x", "3:50", "not YAML: expected ',' or ']'", "brackets"),
    ("[x]", "*x", "3:47", "not YAML: found undefined alias 'x'", "check"),
    ("[x]", "[\x07]", "3:48", "not YAML: the character '\\x07' is not allowed", "remove it"),
    ("A:\n", "--- {}\n---\nA:\n", "2:1", "not YAML: expected a single document, but found", "check"),
]


@pytest.mark.parametrize(("old", "new", "place", "message", "remedy"), BAD, ids=[repr(new) for _, new, *_ in BAD])
def test_a_bad_file(old: str, new: str, place: str, message: str, remedy: str) -> None:
    assert old in GOOD
    with pytest.raises(ProgramError) as caught:
        parse_dataflow(GOOD.replace(old, new, 1), "f.yaml")
    assert str(caught.value.position) == f"f.yaml:{place}"
    assert caught.value.message.startswith(message)
    assert remedy in (caught.value.remedy or "")


def test_the_good_file_is_good() -> None:
    assert len(parse_dataflow(GOOD).streams) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("# nothing\n", "the file is empty"),
        ("- a\n", "expected a mapping of components and streams, found a list of 1"),
        ("[" * 3000, "lists and mappings are nested too deeply"),
        ("streams: 1\n", "expected a list of streams, found '1'"),
        ("streams: []\n", "no stream leaves the dataflow, so there is nothing to label"),
        ("!!python/name:os.abort ''\n", "expected a mapping of components and streams, found ''"),
    ],
    ids=["nothing", "comment", "list", "deep", "streams", "no sink", "object"],
)
def test_files_that_are_no_dataflow(text: str, message: str) -> None:
    with pytest.raises(ProgramError) as caught:
        parse_dataflow(text)
    assert caught.value.message == message
    assert caught.value.remedy


def test_aliases_are_read_within_bounds() -> None:
    paths = ", ".join("{ from: i, to: o, label: C }" for _ in range(300))
    components = "\n".join(f"A{k}: {{ annotation: *all }}" for k in range(300))
    text = f"A: {{ annotation: &all [{paths}] }}\n{components}\nstreams: []\n"
    with pytest.raises(ProgramError, match="the file has more than 50000 values"):
        parse_dataflow(text)


def test_an_alias_to_itself_is_no_path() -> None:
    with pytest.raises(ProgramError, match="expected a path, found a list of 1"):
        parse_dataflow("A: { annotation: &a [*a] }\nstreams: []\n")


def test_an_alias_that_is_fine() -> None:
    text = GOOD.replace("[x]", "&g [x]").replace("to: A.i", "to: A.i, seal: *g")
    assert parse_dataflow(text).streams[0].seals == (frozenset({"x"}),)


@pytest.mark.parametrize(
    ("variants", "message"),
    [({"A": "X"}, "component 'A' has no variant 'X'"), ({"B": "X"}, "there is no component 'B'")],
)
def test_variants_that_do_not_exist(variants: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_dataflow(GOOD, variants=variants)


def test_files_that_cannot_be_read(tmp_path: FilePath) -> None:
    large, latin = tmp_path / "large.yaml", tmp_path / "latin.yaml"
    large.write_bytes(b"#" * (LARGEST_FILE + 1))
    latin.write_bytes(b"\xe4")
    for path, message in (
        (tmp_path / "none.yaml", "No such file"),
        (tmp_path, "it is a folder"),
        (large, "is larger than 200000 bytes"),
        (latin, "is not UTF-8 text, from byte 0 on"),
    ):
        with pytest.raises(ClewError) as caught:
            load_dataflow(path)
        assert message in caught.value.message
        assert caught.value.remedy


def test_a_byte_order_mark_is_no_character(tmp_path: FilePath) -> None:
    path = tmp_path / "bom.yaml"
    path.write_text(GOOD, encoding="utf-8-sig")
    assert load_dataflow(path) == parse_dataflow(GOOD)
