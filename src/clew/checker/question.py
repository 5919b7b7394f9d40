"""What the answer of ``check`` depends on, so that a checkpoint is continued by the same search only.

The limits of time are not in it, nor is what is demanded of a certificate: neither changes what is searched.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from pathlib import Path

from clew.bounds import Bounds
from clew.checker.preparing import files_of
from clew.checker.strategies import STRATEGIES, Options, Strategy
from clew.errors import UsageError
from clew.faults import FailureSpec
from clew.files.checkpoints import Question
from clew.names import show
from clew.program.ir import Program


def check_question(
    source: object,
    program: Program,
    bounds: Bounds,
    spec: FailureSpec,
    strategy: Strategy,
    options: Options,
    *,
    sweeps: bool,
) -> Question:
    """Return the question; ``bounds`` are as they were given or stated, ``spec`` has the open ones filled in."""
    # A time that is open is not part of the question: the sweep is free to grow it.
    times = {"EOT": bounds.eot, "EFF": bounds.eff}
    counts = {name: number for name, number in spec.numbers.items() if name.upper() not in times}
    # The keys are words of the message that says what another question differs in.
    return {
        "command": "check",
        # As they were given: messages that are remembered mention them.
        "the program's files": list(files_of(source)),
        # Before the digest, which differs, too, and would not say why.
        **_settings(program),
        "the program digest": _digest(source, program),
        # With their types: the nodes 1 and "1" are two.
        "the nodes": [f"{type(node).__name__} {show(node)}" for node in spec.nodes],
        **times,
        **counts,
        "--strategy": strategy.name,
        "--negation": None if options.negation is None else options.negation.value,
        "--symmetry": options.symmetry,
        "--all": options.find_all,
        "the sweep": None if not sweeps else "by the clock" if options.sweep is not None else "by effort",
        "--effort": options.effort,
        "--max-runs": options.max_runs,
        "--seed": options.seed,
    }


def _settings(program: Program) -> dict[str, list[str]]:
    """Return the params that were set; nothing for a program without any: its questions stay what they were."""
    return {"--set": [f"{p.name}={show(p.value)}" for p in program.params if p.given]} if program.params else {}


def refuse_what_cannot_be_saved(strategy: Strategy, *, sweeps: bool) -> None:
    """Refuse a checkpoint for one question to a solver, of which nothing can be saved on the way."""
    if not sweeps and "checkpoint" not in strategy.accepts:
        able = " or ".join(s.name for s in STRATEGIES.values() if "checkpoint" in s.accepts)
        raise UsageError(
            f"the {strategy.name} strategy does not support --checkpoint, unless it sweeps",
            remedy=f"leave it out, or use --strategy {able}",
        )


def _digest(source: object, program: Program) -> str:
    """Return a digest of the rules and facts, and of the Python code that they may use."""
    # Of the clauses, not of the file: a comment that is changed changes no answer.
    texts = [repr(program.clauses), repr(sorted(program.helpers)), *map(_code, files_of(source))]
    if program.open_rows:
        texts.append(f"open {program.inputs!r} {program.choices!r} {program.given!r}")
    if program.durable is not None:
        texts.append(f"durable {sorted(program.durable)}, of no node {sorted(program.observed)}")
    if not isinstance(source, str | Path | Sequence | Program):  # a Bloom class, or an object of one
        made = source if isinstance(source, type) else type(source)
        file = getattr(sys.modules.get(made.__module__), "__file__", None)
        texts.append(_code(file or ""))
    return hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()


def _code(file: str) -> str:
    """Return a digest of the modules that a Python file uses; what is none is all in the rules."""
    if ".py" not in file:
        return ""
    from clew.files.python_module import digest_code
    from clew.files.python_names import split_name

    path = Path(split_name(file)[0])
    return digest_code(path) if path.is_file() and path.suffix == ".py" else ""
