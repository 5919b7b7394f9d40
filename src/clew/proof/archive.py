"""A refutation as a file: a ZIP archive with the CNF and the proof in the formats that public checkers read."""

from __future__ import annotations

import io
import json
import zipfile
from importlib.metadata import version

from clew.proof.question import write_aspif
from clew.proof.refuting import NoRefutation, Refutation

#: The same as what ``clew verify`` reads of one part.  Said twice, because the two must not share code.
MOST_PART_BYTES = 128_000_000

#: The earliest that an archive can say: the same proof is the same bytes.
_WRITTEN = (1980, 1, 1, 0, 0, 0)

_README = """\
A proof, written by clew check --proof, that no admissible execution of a program shows a violation.

question.cnf     the question in DIMACS: its models would be executions with a violation
proof.drat       a proof in DRAT that it has none; to check it with a public checker:
                     drat-trim question.cnf proof.drat
ground.aspif     the ground program of which question.cnf is the completion, for any solver that reads aspif:
                     clasp ground.aspif
definitions.txt  what the variables of question.cnf beyond the atoms of ground.aspif stand for
program.lp       the logic program that was grounded
about.json       the bounds

clew verify FILE checks all of it; docs/proofs.md says how.
"""


def write_archive(refutation: Refutation) -> bytes | NoRefutation:
    """Return the bytes of the archive, unless a part would be too long to be read again."""
    # In the order in which somebody who opens the archive should read them.
    parts = {
        "README.txt": _README,
        "about.json": _about(refutation),
        "program.lp": refutation.question.text,
        "ground.aspif": write_aspif(refutation.question),
        "definitions.txt": _lines(refutation.definitions),
        "question.cnf": _dimacs(refutation),
        "proof.drat": _lines(refutation.steps),
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in parts.items():
            content = text.encode("utf-8", "replace")
            if len(content) > MOST_PART_BYTES:
                return NoRefutation(f"{name} would be longer than {MOST_PART_BYTES // 1_000_000} MB")
            entry = zipfile.ZipInfo(name, _WRITTEN)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # what it says by default depends on the machine
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)
    return buffer.getvalue()


def _about(refutation: Refutation) -> str:
    spec = refutation.spec
    about = {
        "format": "clew proof",
        "version": 1,
        "bounds": {"nodes": list(spec.nodes), **spec.numbers},
        "grounder": f"clingo {version('clingo')}",
    }
    return json.dumps(about, indent=2, ensure_ascii=False) + "\n"


def _dimacs(refutation: Refutation) -> str:
    lines = [f"p cnf {refutation.variables} {len(refutation.clauses)}"]
    lines += [" ".join(map(str, (*clause, 0))) for clause in refutation.clauses]
    return _lines(lines)


def _lines(lines: list[str] | tuple[str, ...]) -> str:
    return "".join(f"{line}\n" for line in lines)
