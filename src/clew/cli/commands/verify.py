"""``clew verify``: does the proof of a certificate hold?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from clew.budgets.deadline import Deadline
from clew.cli.parts.files import FILE, write_file
from clew.cli.parts.outputs import json_option, refuse_json
from clew.cli.parts.progress import progress_display
from clew.cli.parts.settings import read_settings, set_option
from clew.cli.process.limits import time_limit_option
from clew.cli.process.streams import say
from clew.errors import UsageError
from clew.faults import FailureSpec
from clew.names import harmless
from clew.results import HOLDS, VIOLATED
from clew.verify.archive import Parts, read_parts
from clew.verify.refusals import RefusedError, UnreadableError
from clew.verify.verifying import Verified, verify

#: What the document calls itself, and the version of its shape.
FORMAT, VERSION = "clew verification", 1


@click.command("verify")
@click.argument("file", type=FILE, metavar="FILE")
@click.option(
    "--program",
    "programs",
    multiple=True,
    type=FILE,
    metavar="PROGRAM",
    help="Compare with this program, too (again for further files of it).",
)
@set_option
@time_limit_option()
@json_option("the answer")
def verify_command(
    file: str,
    programs: tuple[str, ...],
    settings: tuple[str, ...],
    time_limit: float | None,
    json_file: str | None,
) -> None:
    """Check the proof of a certificate.

    FILE is what clew check --proof has written.  The proof is checked step by step, and its clauses are compared
    with the ground program in FILE; with --program, that is compared with the ground program of PROGRAM.

    Exit code: 0 accepted, 1 refused, 2 no such file or bad usage, 3 incomplete.
    """
    refuse_json(json_file)
    params = read_settings(settings)
    if params and not programs:
        raise UsageError(
            "--set is for the params of a program", remedy="name it with --program, or leave --set out"
        )
    deadline = Deadline(time_limit)
    try:
        with progress_display("verifying") as progress:

            def tell(doing: str) -> None:
                deadline.check()
                if progress:
                    progress(0, doing)

            parts = read_parts(file)
            verified = verify(parts, tell)
            if programs:
                tell("grounding the program")
                _compare(parts, programs, params, deadline)
    except UnreadableError as problem:
        remedy = "give a file that clew check --proof has written"
        raise UsageError(f"{file} cannot be verified: {problem}", remedy=remedy) from None
    except RefusedError as problem:
        refused = f"REFUSED: {problem}.\n"
        _tell(refused, _document(file, programs, VIOLATED, reason=str(problem)), json_file)
        raise SystemExit(VIOLATED) from None
    document = {**_document(file, programs, HOLDS), **_counts(verified, parts)}
    _tell(_show_accepted(verified, parts, programs), document, json_file)
    raise SystemExit(HOLDS)


def _tell(text: str, document: dict[str, Any], json_file: str | None) -> None:
    if json_file is None:
        say(harmless(text))
        return
    from clew.report.text.json_text import json_text

    say(json_text(document) if json_file == "-" else harmless(text))
    if json_file != "-":
        write_file(json_file, json_text(document))


def _document(file: str, programs: tuple[str, ...], code: int, *, reason: str | None = None) -> dict[str, Any]:
    """Return the answer as an object; ``docs/json.md`` documents its fields."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "file": file,
        "programs": list(programs),
        "verdict": "accepted" if code == HOLDS else "refused",
        "reason": reason,
        "exit_code": code,
    }


def _counts(verified: Verified, parts: Parts) -> dict[str, Any]:
    """Return what was checked: the bounds that the file states, and how much there was to confirm."""
    bounds = parts.bounds
    return {
        "spec": {"nodes": list(bounds.nodes), **bounds.numbers},
        "steps": verified.steps,
        "variables": verified.variables,
        "clauses": verified.clauses,
        "loops": verified.loops,
        "rules": verified.rules,
        "atoms": verified.atoms,
        "faults": verified.choices,
    }


def _show_accepted(verified: Verified, parts: Parts, programs: tuple[str, ...]) -> str:
    from clew.report.verdict.text import spec_text

    stated = parts.bounds
    bounds = spec_text(FailureSpec(stated.nodes, **stated.numbers))
    if programs:
        first = f"no execution of {' '.join(programs)} shows a violation, within {bounds}"
        compared = "  which is that of the program"
    else:
        first = "no execution of the ground program in it shows a violation"
        compared = f"  NOT compared with a program (--program); said to be of one within {bounds}"
    return "\n".join(
        [
            f"ACCEPTED: {first}.",
            f"  proof: {verified.steps} steps, all confirmed",
            f"  CNF: {verified.variables} variables, {verified.clauses} clauses, {verified.loops} loop formulas,",
            "  which are those of the ground program",
            f"  ground program: {verified.rules} rules, {verified.atoms} atoms, {verified.choices} faults,",
            compared,
            "",
        ]
    )


# The checker of proofs shares no code with what makes them; only this comparison, which is asked for by --program,
# loads the rest of Clew.


def _compare(parts: Parts, programs: tuple[str, ...], params: Mapping[str, str | int], deadline: Deadline) -> None:
    """Check that the ground program is that of a program within the bounds that the file states."""
    from importlib.metadata import version  # none of it is needed without a program

    from clew.bounds import Bounds
    from clew.checker.bounds import complete
    from clew.checker.preparing import load_source
    from clew.program.checks import check_program
    from clew.proof.question import ground_question, write_aspif

    stated = parts.bounds
    loaded = load_source(programs, params)
    program = check_program(loaded.program).program
    bounds = Bounds(stated.nodes, **stated.numbers)
    with deadline.listening():
        spec = complete(program, bounds, deadline)
        question = ground_question(program, spec, deadline)
    if write_aspif(question).encode("utf-8", "replace") != parts.ground:
        here = f"clingo {version('clingo')}"
        other = "" if here == stated.grounder else f" (made by {stated.grounder[:40]}, compared by {here})"
        raise RefusedError(f"the ground program is not that of {' '.join(programs)}{other}")
    if question.text.encode("utf-8", "replace") != parts.program:
        raise RefusedError(f"the logic program is not that of {' '.join(programs)}")
