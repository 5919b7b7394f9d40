"""What Clew reads, and how inputs for it are made: from the name of a reader and a number, the same everywhere.

An input is a command line and the files it is about.  Python files consist of the words of the examples, which do
nothing but define Bloom classes; they are executed in processes that are watched and limited.
"""

from __future__ import annotations

import ast
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import yaml

from clew.files.json_document import json_line
from command import ROOT
from fuzz.command_lines import command_line
from fuzz.grammars import dataflow, dedalus_program
from fuzz.histories import history
from fuzz.inputs import LIMITED, Input
from fuzz.mutations import likely_document, mutated_bytes, mutated_document, mutated_text
from fuzz.python_mutations import mutated_python

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
_SCENARIOS = (ROOT / "examples" / "lock" / "lock.py", ROOT / "examples" / "jobs" / "jobs.py")


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
    for path in _SCENARIOS:
        shutil.copy(path, folder)
    for name in ("stack.py", "stale-read.jsonl"):
        shutil.copy(ROOT / "examples" / "histories" / name, folder)
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
        for file in ("kafka", "simple-deliv", "redun-deliv", "paxos-synod"):
            shutil.copy(ROOT / "examples" / f"{file}.ded", folder)
        shutil.copytree(ROOT / "examples" / "assertions", folder / "assertions")
        for path in _SCENARIOS:
            shutil.copy(path, folder)
        for words in _WRITING:
            _start(["clew", *words.split()], folder)
        for file, (times, words) in _INTERRUPTED.items():
            _start(["fuzz.saving", str(times), *words.split(), "--checkpoint", file], folder)
        for file in (*_DOCUMENTS, "proof.zip", *_INTERRUPTED):
            made[file] = (folder / file).read_bytes()
    return made


#: The commands that write documents, and how these are called.
_WRITING = (
    "check kafka.ded --json kafka.json",
    "check simple-deliv.ded --all --json simple.json",
    "fuzz lock.py:hasty -o recording.json",
    "check redun-deliv.ded --eot 4 --eff 2 --crashes 0 --json certified.json --proof proof.zip",
    "run kafka.ded --lose b,Z,1 --json run.json",
    "check jobs.py:cached --json code.json",
)
_DOCUMENTS = ("kafka.json", "simple.json", "recording.json", "certified.json", "run.json", "code.json")
#: By checkpoint: the command that leaves it, and how often that could have saved one before it is ended.
_INTERRUPTED = {
    "fuzz.ck": (40, "fuzz lock.py:three_careful --runs 60"),
    "minimize.ck": (30, "minimize recording.json --brief"),
    "lineage.ck": (20, "check paxos-synod.ded --strategy lineage"),
    "exhaustive.ck": (20, "check redun-deliv.ded --strategy exhaustive --eot 4 --eff 2"),
    "code-lineage.ck": (3, "check jobs.py:cached --losses 2 --restarts 1"),
    "code-exhaustive.ck": (20, "check jobs.py:cached --losses 2 --strategy exhaustive"),
    "code-random.ck": (20, "check jobs.py:cached --losses 1 --strategy random"),
    "sweep.ck": (3, "check paxos-synod.ded --effort 0.5"),
}


def _start(words: Sequence[str], folder: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tests")}
    subprocess.run([sys.executable, "-m", *words], cwd=folder, env=environment, capture_output=True, check=False)


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


def _export(source: Random) -> Input:
    """Draw a document of any kind to be exported, which executes it again, or of code to be replayed."""
    name = source.choice(_DOCUMENTS)
    command = ["export", "given.json", "--format", source.choice(["shiviz", "itf", "chrome", "otlp", "mermaid"])]
    if name == "code.json" and source.random() < 0.5:
        command = ["replay", "given.json"]
    if name in ("recording.json", "code.json") and source.random() < 0.7:
        command += ["--scenario", "lock.py:hasty" if name == "recording.json" else "jobs.py:cached"]
    if source.random() < 0.5:
        content = json.dumps(likely_document(source, *_documents(name))).encode()
    else:
        content = _document(source, name)
    return Input((*command, *LIMITED), {"given.json": content})


def _checkpoint(source: Random) -> Input:
    """Draw a checkpoint, signed as somebody could who knows how that is done, and the command that goes on."""
    name = source.choice(list(_INTERRUPTED))
    written = json.loads(_written()[name])
    if source.random() < 0.2:
        content = _text(source, mutated_text(source, [json.dumps(written, indent=1)]))
    else:
        question = written["question"]
        state = (likely_document if source.random() < 0.5 else _one_mutated)(source, written["state"])
        if source.random() < 0.1:
            question = mutated_document(source, [question])
        content = _text(source, json.dumps({**written, **_signed(question, state)}))
    _, words = _INTERRUPTED[name]
    files = {"given.ck": content, "recording.json": _written()["recording.json"]}
    return Input((*words.split(), "--checkpoint", "given.ck", *LIMITED), files)


def _one_mutated(source: Random, document: object) -> object:
    return mutated_document(source, [document])


def _signed(question: object, state: object) -> Mapping[str, object]:
    try:
        signed = json_line({"question": question, "state": state}).encode()
    except (TypeError, ValueError):  # what was drawn is nothing that a checkpoint can contain
        signed = b""
    return {"question": question, "state": state, "digest": hashlib.sha256(signed).hexdigest()}


_TRANSACTIONS = ["serializable", "session-serializable", "strict-serializable"]
_MODELS = ["register", "map", "queue", "lock", "counter", "set", *_TRANSACTIONS, "stack.py:Stack", "none"]


def _history(source: Random) -> Input:
    if source.random() < 0.7:
        ending, model, text = history(source)
        if source.random() < 0.5:
            text = mutated_text(source, [text])
    else:
        path = source.choice(sorted((ROOT / "examples" / "histories").glob("*.[je]*")))
        ending, model, text = path.suffix, "serializable", mutated_text(source, [path.read_text(encoding="utf-8")])
    if source.random() < 0.2:
        model = source.choice(_MODELS)
    command = ["history", f"given{ending}", "--model", model, *LIMITED]
    command += ["--states", source.choice(["100", "20000"])]
    command += source.choice([[], [], ["--keyed"], ["--json", "-"], ["--report", "out.html"]])
    return Input(tuple(command), {f"given{ending}": _text(source, text)})


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


READERS = (
    Reader("dedalus", _dedalus, 120),
    Reader("bloom", _bloom, 40),
    Reader("yaml", _yaml, 120),
    Reader("recording", _recording, 120),
    Reader("verdict", _verdict, 120),
    Reader("export", _export, 60),
    Reader("checkpoint", _checkpoint, 60),
    Reader("history", _history, 120),
    Reader("proof", _proof, 120),
    Reader("command", command_line, 60),
)
