"""What Clew reads, and how inputs for it are made: from the name of a reader and a number, the same everywhere.

An input is a command line and the files it is about.  Python files consist of the words of the examples, which do
nothing but define Bloom classes; they are executed in processes that are watched and limited.
"""

from __future__ import annotations

import ast
import io
import json
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import yaml

from command import ROOT
from fuzz.grammars import dataflow, dedalus_program
from fuzz.mutations import mutated_bytes, mutated_document, mutated_text
from fuzz.python_mutations import mutated_python

#: Seconds for one input, of which its command knows.
LIMIT = 1

LIMITED = ("--time-limit", str(LIMIT))
_BLOOM = [
    "broadcast",
    "checked_delivery",
    "clocks",
    "delivery",
    "heartbeat",
    "idioms",
    "kvs",
    "multicast",
    "paxos",
]
_BLOOM += ["cart", "reliable_broadcast", "two_phase_commit"]
_BLAZES = ("ad_report", "shop")
_DEDALUS = (
    "kafka",
    "simple-deliv",
    "redun-deliv",
    "2pc",
    "bully-le",
    "paxos-synod",
    "chain",
    "reservation",
    "saga",
    "flux",
)


@dataclass(frozen=True)
class Input:
    """A command line, and what is in the files that it names."""

    arguments: tuple[str, ...]
    files: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class Reader:
    """``inputs``: how many the suite gives it, and how many a long run does for each of its parts."""

    name: str
    make: Callable[[Random], Input]
    inputs: int


def input_of(reader: Reader, number: int) -> Input:
    """Return the input with this number."""
    return reader.make(Random(f"{reader.name}/{number}"))


def prepare_folder(folder: Path) -> None:
    """Put the files there that inputs refer to."""
    for name in _BLOOM:
        shutil.copy(ROOT / "examples" / "bloom" / f"{name}.py", folder)
    for name in _BLAZES:
        shutil.copy(ROOT / "examples" / "blazes" / f"{name}.py", folder)
    for name in _DEDALUS:
        shutil.copy(ROOT / "examples" / f"{name}.ded", folder)
    shutil.copytree(ROOT / "examples" / "assertions", folder / "assertions")
    shutil.copy(ROOT / "examples" / "lock" / "lock.py", folder)
    shutil.copy(ROOT / "examples" / "blazes" / "ad-report.yaml", folder)
    for name, content in _written().items():
        (folder / name).write_bytes(content)


# -- what inputs are made from -----------------------------------------------------------------------------------


@cache
def _written() -> Mapping[str, bytes]:
    """Return documents that the commands wrote, by their names."""
    import tempfile

    made: dict[str, bytes] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file in ("kafka", "simple-deliv", "redun-deliv"):
            shutil.copy(ROOT / "examples" / f"{file}.ded", folder)
        shutil.copytree(ROOT / "examples" / "assertions", folder / "assertions")
        shutil.copy(ROOT / "examples" / "lock" / "lock.py", folder)
        for words in (
            "check kafka.ded --json kafka.json",
            "check simple-deliv.ded --all --json simple.json",
            "fuzz lock.py:hasty -o recording.json",
            "check redun-deliv.ded --eot 4 --eff 2 --crashes 0 --json certified.json --proof proof.zip",
        ):
            subprocess.run(
                [sys.executable, "-m", "clew", *words.split()], cwd=folder, capture_output=True, check=False
            )
        for file in ("kafka.json", "simple.json", "recording.json", "certified.json", "proof.zip"):
            made[file] = (folder / file).read_bytes()
    return made


@cache
def _programs() -> Sequence[str]:
    paths = sorted((ROOT / "examples").glob("*.ded"))
    texts = [path.read_text(encoding="utf-8") for path in paths]
    return [re.sub(r"//[^!].*", "", text) for text in texts]  # changes in comments are lost


@cache
def _classes() -> Sequence[str]:
    folders = [*(ROOT / "examples" / "bloom" / f"{n}.py" for n in _BLOOM)]
    folders += [ROOT / "examples" / "blazes" / f"{n}.py" for n in _BLAZES]
    return [_without_docstrings(path.read_text(encoding="utf-8")) for path in folders]


def _without_docstrings(text: str) -> str:
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body[0:1] = [] if len(node.body) > 1 else [ast.Pass()]
    return ast.unparse(tree)


@cache
def _dataflows() -> Sequence[str]:
    return [p.read_text(encoding="utf-8") for p in sorted((ROOT / "examples" / "blazes").glob("*.yaml"))]


@cache
def _loaded_dataflows() -> Sequence[Any]:
    return [yaml.safe_load(text) for text in _dataflows()]


@cache
def _documents(*names: str) -> Sequence[Any]:
    return [json.loads(_written()[name]) for name in names]


# -- readers -----------------------------------------------------------------------------------------------------


def _text(source: Random, made: str) -> bytes:
    """Return a text as bytes, of which a few do not fit."""
    data = made.encode("utf-8", "surrogatepass")
    kind = source.random()
    if kind < 0.05:
        return mutated_bytes(source, data)
    return source.randbytes(source.choice([0, 1, 10, 1000])) if kind < 0.06 else data


def _dedalus(source: Random) -> Input:
    text = dedalus_program(source) if source.random() < 0.4 else mutated_text(source, _programs())
    command: tuple[str, ...] = ("check", "given.ded", "--eot", source.choice("234"), "--eff", "1", *LIMITED)
    kind = source.random()
    if kind < 0.15:
        command = ("calm", "given.ded", "--svg", "out.svg", *LIMITED)
    elif kind < 0.3:
        command = ("run", "given.ded", "--eot", "3", *LIMITED)
    elif kind < 0.4:
        command = (
            "check",
            "given.ded",
            "--strategy",
            source.choice(["lineage", "random"]),
            "--eot",
            "3",
            *LIMITED,
        )
    elif kind < 0.45:
        command = ("check", "kafka.ded", "given.ded", *LIMITED)
    return Input(command, {"given.ded": _text(source, text)})


def _bloom(source: Random) -> Input:
    text = (mutated_text if source.random() < 0.3 else mutated_python)(source, _classes())
    names = re.findall(r"^class (\w+)", text, re.MULTILINE)
    where = f"given.py:{source.choice(names)}" if names and source.random() < 0.8 else "given.py"
    kind = source.random()
    command: tuple[str, ...] = ("calm", where, *LIMITED)
    if kind < 0.3:
        command = ("check", where, *LIMITED)
    elif kind < 0.6:
        command = ("blazes", where, "--svg", "out.svg", *LIMITED)
    elif kind < 0.65:
        command = ("calm", where, "--try", "2", *LIMITED)
    elif kind < 0.7:
        command = ("blazes", where, "--synthesize", source.choice(["seal", "order"]), "-o", "out.py", *LIMITED)
    elif kind < 0.75:
        command = ("run", where, *LIMITED)
    return Input(command, {"given.py": _text(source, text)})


def _yaml(source: Random) -> Input:
    kind = source.random()
    if kind < 0.4:
        text = mutated_text(source, _dataflows())
    elif kind < 0.7:
        text = _dumped(source, mutated_document(source, _loaded_dataflows()))
    else:
        text = _dumped(source, dataflow(source))
    command = ["blazes", "given.yaml", *LIMITED]
    if source.random() < 0.3:
        command += source.choice(
            [["--svg", "out.svg"], ["--report", "out.html"], ["--emit-yaml", "-"], ["--json", "-"]]
        )
    return Input(tuple(command), {"given.yaml": _text(source, text)})


def _dumped(source: Random, document: Any) -> str:
    if source.random() < 0.5:
        return str(yaml.safe_dump(json.loads(json.dumps(document)), allow_unicode=True))
    return json.dumps(document, indent=source.choice([None, 1]))


def _document(source: Random, *names: str) -> bytes:
    if source.random() < 0.15:
        return _text(source, mutated_text(source, [json.dumps(d, indent=1) for d in _documents(*names)]))
    return _text(source, json.dumps(mutated_document(source, _documents(*names))))


def _recording(source: Random) -> Input:
    command = source.choice([["replay"], ["replay"], ["replay", "--step"], ["minimize", "--brief"]])
    command = [*command, "given.json", *LIMITED]
    if source.random() < 0.7:
        command += ["--scenario", "lock.py:hasty"]
    if command[0] == "replay" and source.random() < 0.5:
        command.append("--changed-code")
    return Input(tuple(command), {"given.json": _document(source, "recording.json")})


def _verdict(source: Random) -> Input:
    files = source.choice([[], [], ["kafka.ded"], ["simple-deliv.ded"]])
    content = _document(source, "kafka.json", "simple.json", "certified.json")
    return Input(("replay", "given.json", *files, *LIMITED), {"given.json": content})


def _proof(source: Random) -> Input:
    archive = _written()["proof.zip"]
    if source.random() < 0.3:
        return Input(("verify", "given.zip", *LIMITED), {"given.zip": mutated_bytes(source, archive)})
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        parts = {name: opened.read(name) for name in opened.namelist()}
    name = source.choice(list(parts))
    if name == "about.json" and source.random() < 0.8:
        parts[name] = json.dumps(mutated_document(source, [json.loads(parts[name])])).encode()
    else:
        text = parts[name].decode("latin-1")
        parts[name] = mutated_text(source, [text]).encode("utf-8", "surrogatepass")
    if source.random() < 0.1:
        parts[source.choice(["x", "../x", "proof.drat2"])] = parts.pop(name)
    made = io.BytesIO()
    method = source.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
    with zipfile.ZipFile(made, "w", method) as opened:
        for part, content in parts.items():
            opened.writestr(part, content)
    command = ("verify", "given.zip", *LIMITED)
    compared = ("--program", "redun-deliv.ded") if source.random() < 0.05 else ()
    return Input((*command, *compared), {"given.zip": made.getvalue()})


# -- command lines -----------------------------------------------------------------------------------------------

_NODES = [
    "a",
    "b",
    "C",
    "Z",
    "1",
    "+1",
    "-2",
    '"a"',
    '"a,b"',
    '"',
    "",
    " ",
    "é",
    "\udcff",
    "a b",
    "a" * 3000,
    "+",
    "+-",
]
_NODES += ["99999999999", "00", "*", "a;b", "a\nb", "\x1b[1m", "_", "X"]
_NUMBERS = [
    "0",
    "1",
    "2",
    "3",
    "-1",
    "99",
    "100000",
    "2147483648",
    "9" * 25,
    "9" * 5000,
    "1.5",
    "x",
    "",
    "1e3",
    " 3",
    "٣",
]
_FACTORS = ["0", "0.01", "-1", "nan", "inf", "1e400", "1", "x", ""]
_FILES = [
    "kafka.ded",
    "simple-deliv.ded",
    "2pc.ded",
    "lock.py",
    "lock.py:hasty",
    "lock.py:none",
    "broadcast.py:Simple",
]
_FILES += [
    "broadcast.py",
    "missing.ded",
    "",
    ".",
    "-",
    "kafka.json",
    "recording.json",
    "proof.zip",
    "ad-report.yaml",
]
_FILES += [
    "a\udcffb.ded",
    "a\nb.py",
    "x.py:",
    ":",
    "kafka.ded:Simple",
    "x" * 5000,
    "assertions",
    "--",
    "ad_report.py:Ads",
]
_OUTPUTS = [
    "out.json",
    "out.html",
    "out.x",
    "out.y",
    "-",
    "",
    "missing/out",
    ".",
    "assertions",
    "\udcff",
    "x" * 300,
]

#: What each option takes; words that start processes or write files come from short lists.
_OPTIONS: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(
        ["--eot", "--eff", "--crashes", "--delays", "--max-runs", "--seed", "--at", "--steps"], _NUMBERS
    ),
    **dict.fromkeys(["--runs", "--at-least", "--try", "--timers", "--losses", "--duplicates"], _NUMBERS),
    **dict.fromkeys(["--effort", "--sweep"], _FACTORS),
    **dict.fromkeys(
        ["--json", "--report", "--svg", "-o", "--junit", "--proof", "--lineage", "--emit-yaml"], _OUTPUTS
    ),
    "--workers": ["0", "1", "2", "-1", "x"],
    "--set": ["n=3", "acceptors=2", "n", "=", "n=", 'n="', "n=1,2", "eot=3", "\udcff=1", "n=99999999999"],
    "--grid": ["eff=0..2", "crashes=0,1", "eff=2..0", "eot=0..999", "n=1", "nodes=1..2", "eff=a..b", "=", 'eff="'],
    "--time-limit-each": ["1", "0", "x", "1m", "-1"],
    "--strategy": ["exact", "lineage", "random", "exhaustive", "none", ""],
    "--negation": ["exact", "conservative", "ignore", "x"],
    "--relation": ["pre", "log", "", "\udcff", "x"],
    "--variant": ["Report=POOR", "Report", "=", "x=y", ""],
    "--seal": ["clicks=campaign", "clicks=", "=", "clicks=a,a", ""],
    "--memory-limit": ["2G", "1", "x", "99999G", "-1"],
    "--scenario": ["lock.py", "lock.py:hasty", "missing.py", ""],
    "--program": ["kafka.ded", "redun-deliv.ded", ""],
}
_FLAGS = [
    "--symmetry",
    "--all",
    "--coverage",
    "--strict",
    "--allow-hollow",
    "--diagram",
    "--step",
    "--changed-code",
]
_FLAGS += ["--traceback", "--brief", "--no-shrink", "--independent", "--none"]
_COMMANDS = [
    "check",
    "check",
    "check",
    "run",
    "run",
    "fuzz",
    "explore",
    "calm",
    "blazes",
    "verify",
    "replay",
    "minimize",
]
_COMMANDS += ["", "chek"]


@cache
def _options_of(command: str) -> Sequence[str]:
    from clew.cli.process.main import COMMANDS, main

    if command not in COMMANDS:
        return list(_OPTIONS)
    import click

    found = main.get_command(click.Context(main), command)
    assert found is not None
    return sorted({name for option in found.params for name in option.opts if name in _OPTIONS or name in _FLAGS})


def _nodes(source: Random) -> str:
    return ",".join(source.choice(_NODES) for _ in range(source.choice([0, 1, 2, 2, 3, 5])))


def _fault(source: Random) -> list[str]:
    nodes, number = _nodes(source), source.choice(_NUMBERS)
    return [source.choice(["--lose", "--crash", "--delay"]), f"{nodes},{number}"]


#: What each command is usually given.
_USUAL: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(["check", "run"], ("kafka.ded", "simple-deliv.ded", "2pc.ded", "broadcast.py:Simple")),
    **dict.fromkeys(["fuzz", "explore"], ("lock.py:hasty", "lock.py:three_careful")),
    "calm": ["kafka.ded", "broadcast.py:Simple", "ad_report.py:Ads"],
    "blazes": ["ad-report.yaml", "ad_report.py:Ads", "shop.py:Shop"],
    "verify": ["proof.zip"],
    "replay": ["kafka.json", "simple.json", "recording.json"],
    "minimize": ["recording.json"],
}
_SMALL = ["0", "1", "2", "3", "5"]


def _command_line(source: Random) -> Input:
    command = source.choice(_COMMANDS)
    usual = command in _USUAL and source.random() < 0.8
    words = [command, *([source.choice(_USUAL[command])] if usual else [])]
    for _ in range(source.choice([0, 0, 0, 0, 0, 1] if usual else [0, 1, 1, 1, 2])):
        words.append(source.choice(_FILES))
    if command in ("check", "run") and source.random() < 0.4:
        words += ["--nodes", _nodes(source)]
    if command == "run" and source.random() < 0.5:
        words += _fault(source)
    options = _options_of(command)
    for _ in range(source.choice([0, 1, 1, 2, 3])):
        option = source.choice(options if source.random() < 0.97 else list(_OPTIONS))
        if option in _FLAGS:
            words.append(option)
        elif _OPTIONS[option] is _NUMBERS and source.random() < 0.7:
            words += [option, source.choice(_SMALL)]
        else:
            words += [option, source.choice(_OPTIONS[option])]
    return Input((*words, *LIMITED))


READERS = (
    Reader("dedalus", _dedalus, 120),
    Reader("bloom", _bloom, 40),
    Reader("yaml", _yaml, 120),
    Reader("recording", _recording, 120),
    Reader("verdict", _verdict, 120),
    Reader("proof", _proof, 120),
    Reader("command", _command_line, 60),
)
