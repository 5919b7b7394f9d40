"""``clew check --proof`` and ``clew verify``: certificates of the examples have proofs, and other answers none."""

from __future__ import annotations

import signal
import subprocess
import sys
import zipfile
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from clew.budgets.deadline import Deadline
from cli.in_process import run_clew
from command import ROOT, clew
from proof.stable import ground_text
from verify.parts import contents, write_parts

#: Figure 13 of the paper: programs without a counterexample.
CERTIFIED = ["redun-deliv", "ack-deliv", "paxos-synod", "bully-le", "flux"]


def example(name: str) -> str:
    return str(ROOT / "examples" / f"{name}.ded")


def prove(folder: Path, name: str = "ack-deliv") -> Path:
    (folder / "proof.zip").write_bytes(_proof(name))
    return folder / "proof.zip"


@cache
def _proof(name: str) -> bytes:
    with TemporaryDirectory() as folder:
        done = run_clew(Path(folder), ["check", example(name), "--proof", "proof.zip"])
        assert done.code == 0, done.err
        assert "the proof is in proof.zip" in done.err
        return Path(folder, "proof.zip").read_bytes()


@pytest.mark.parametrize("name", CERTIFIED)
def test_the_certificates_of_the_paper_have_proofs(name: str, tmp_path: Path) -> None:
    prove(tmp_path, name)
    done = run_clew(tmp_path, ["verify", "proof.zip", "--program", example(name)])
    assert done.code == 0, done.out
    assert done.out.startswith(f"ACCEPTED: no execution of {example(name)} shows a violation, within EOT ")
    assert done.err == ""


def test_any_solver_for_aspif_agrees(tmp_path: Path) -> None:
    with zipfile.ZipFile(prove(tmp_path)) as archive:
        archive.extract("ground.aspif", tmp_path)
    command = [sys.executable, "-m", "clingo", "--mode=clasp", "ground.aspif"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert "\nUNSATISFIABLE\n" in done.stdout


def test_without_a_program_it_is_said_what_was_not_compared(tmp_path: Path) -> None:
    prove(tmp_path)
    done = run_clew(tmp_path, ["verify", "proof.zip"])
    assert done.code == 0
    assert done.out.startswith("ACCEPTED: no execution of the ground program in it shows a violation.\n")
    assert "NOT compared with a program (--program)" in done.out


def test_another_program_is_refused(tmp_path: Path) -> None:
    prove(tmp_path)
    done = run_clew(tmp_path, ["verify", "proof.zip", "--program", example("classic-deliv")])
    assert (done.code, done.err) == (1, "")
    assert done.out == f"REFUSED: the ground program is not that of {example('classic-deliv')}.\n"


@pytest.mark.parametrize(
    ("part", "old", "new", "says"),
    [
        ("about.json", b'"eff": 7', b'"eff": 6', "REFUSED: the ground program is not that of"),
        ("about.json", b'"crashes": 1', b'"crashes": 2', "REFUSED: the ground program is not that of"),
        ("about.json", b"clingo 5", b"gringo 4", ""),
        ("program.lp", b"crash", b"crush", "REFUSED: the logic program is not that of"),
        ("question.cnf", b"\n-1 ", b"\n1 ", "REFUSED: the CNF "),
        ("proof.drat", b" 0\n", b" 1 0\n", "REFUSED: "),
    ],
)
def test_changed_files_are_refused(part: str, old: bytes, new: bytes, says: str, tmp_path: Path) -> None:
    parts = contents(prove(tmp_path).read_bytes())
    if part == "proof.drat":
        parts[part] = b"0\n"
    else:
        assert old in parts[part]
        parts[part] = parts[part].replace(old, new, 1)
    write_parts(tmp_path / "changed.zip", parts)
    done = run_clew(tmp_path, ["verify", "changed.zip", "--program", example("ack-deliv")])
    assert done.code == (1 if says else 0)
    assert done.out.startswith(says or "ACCEPTED")


def test_a_program_that_was_changed_is_refused(tmp_path: Path) -> None:
    prove(tmp_path)
    text = Path(example("ack-deliv")).read_text(encoding="utf-8")
    kept = "".join(line for line in text.splitlines(True) if not line.startswith("include"))
    (tmp_path / "same.ded").write_text(text.replace('include "', f'include "{ROOT}/examples/'), encoding="utf-8")
    (tmp_path / "other.ded").write_text(kept + 'extra("a", 1)@1;\nextra(X, Y)@next :- extra(X, Y);\n', "utf-8")
    assert run_clew(tmp_path, ["verify", "proof.zip", "--program", "same.ded"]).code == 0
    assert run_clew(tmp_path, ["verify", "proof.zip", "--program", "other.ded"]).code == 1


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["examples/kafka.ded"], 1, "no proof is written: there is a counterexample"),
        (
            ["examples/ack-deliv.ded", "--time-limit", "0.000001"],
            3,
            "no proof is written: the answer is incomplete",
        ),
    ],
)
def test_other_answers_have_no_proof(arguments: list[str], code: int, says: str, tmp_path: Path) -> None:
    file = tmp_path / "proof.zip"
    done = run_clew(ROOT, ["check", *arguments, "--proof", str(file)])
    assert done.code == code
    assert says in done.err
    assert not file.exists()


def test_a_hollow_certificate_has_no_proof(tmp_path: Path) -> None:
    (tmp_path / "p.ded").write_text(
        'p("a", 1)@1; p(X, Y)@next :- p(X, Y); pre(X) :- p(X, 2); post(X) :- p(X, 2);', encoding="utf-8"
    )
    done = run_clew(tmp_path, ["check", "p.ded", "--eot", "3", "--proof", "proof.zip"])
    assert done.code == 3
    assert "no proof is written: the answer is incomplete" in done.err
    done = run_clew(tmp_path, ["check", "p.ded", "--eot", "3", "--proof", "proof.zip", "--allow-hollow"])
    assert done.code == 0
    assert run_clew(tmp_path, ["verify", "proof.zip", "--program", "p.ded"]).code == 0


def test_a_file_of_an_earlier_run_is_kept_and_said_to_be_one(tmp_path: Path) -> None:
    before = prove(tmp_path).read_bytes()
    done = run_clew(tmp_path, ["check", example("kafka"), "--proof", "proof.zip"])
    assert "no proof is written: there is a counterexample; proof.zip is of another run" in done.err
    assert (tmp_path / "proof.zip").read_bytes() == before


def test_a_question_that_is_too_large_is_certified_without_a_proof(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clew.proof.archive.MOST_PART_BYTES", 10_000)
    done = run_clew(tmp_path, ["check", example("ack-deliv"), "--proof", "proof.zip"])
    assert done.code == 4
    assert done.out.startswith("CERTIFIED")
    assert "no proof is written: ground.aspif would be longer than" in done.err
    assert not (tmp_path / "proof.zip").exists()


def test_programs_without_assertions_have_proofs(tmp_path: Path) -> None:
    (tmp_path / "p.ded").write_text(
        'n("a", "b")@1; n(X, Y)@next :- n(X, Y); m(Y, X)@async :- n(X, Y); m(X, Y)@next :- m(X, Y);',
        encoding="utf-8",
    )
    done = run_clew(tmp_path, ["check", "p.ded", "--eot", "4", "--eff", "3", "--proof", "proof.zip"])
    assert done.code == 0, done.out
    done = run_clew(tmp_path, ["verify", "proof.zip", "--program", "p.ded"])
    assert done.code == 0, done.out


def test_programs_in_bloom_have_proofs(tmp_path: Path) -> None:
    program = f"{ROOT}/examples/bloom/broadcast.py:Redundant"
    assert run_clew(tmp_path, ["check", program, "--proof", "proof.zip"]).code == 0
    assert run_clew(tmp_path, ["verify", "proof.zip", "--program", program]).code == 0


def test_the_same_certificate_has_the_same_proof(tmp_path: Path) -> None:
    files = []
    for seed in ("0", "1"):
        file = tmp_path / f"{seed}.zip"
        done = clew("check", "examples/redun-deliv.ded", "--proof", str(file), PYTHONHASHSEED=seed)
        assert done.returncode == 0
        files.append(file.read_bytes())
    assert files[0] == files[1]


def test_only_the_exact_search_has_proofs(tmp_path: Path) -> None:
    done = run_clew(tmp_path, ["check", example("ack-deliv"), "--strategy", "lineage", "--proof", "proof.zip"])
    assert done.code == 2
    assert "the lineage strategy does not support --proof" in done.err
    assert run_clew(tmp_path, ["check", example("ack-deliv"), "--proof", "-"]).code == 2


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["verify", "none.zip"], "none.zip cannot be verified: No such file"),
        (["verify", "."], ". cannot be verified: it is no regular file"),
        (["verify", "text"], "text cannot be verified: it is no archive"),
        (["verify", "text", "--time-limit", "0"], "--time-limit is 0"),
        (["verify", "proof.zip", "--program", "none.ded"], "none.ded"),
    ],
)
def test_what_cannot_be_verified(arguments: list[str], says: str, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("p cnf 0 0\n", encoding="utf-8")
    if "proof.zip" in arguments:
        prove(tmp_path)
    done = run_clew(tmp_path, arguments)
    assert (done.code, done.out) == (2, "")
    assert says in done.err
    assert done.err.count("remedy: ") == 1


def test_the_time_limit_makes_it_incomplete(tmp_path: Path) -> None:
    prove(tmp_path)
    done = run_clew(tmp_path, ["verify", "proof.zip", "--time-limit", "0.000001"])
    assert (done.code, done.out) == (3, "")
    assert "incomplete: the time limit of 1e-06 s ran out" in done.err


def test_ctrl_c_is_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*args: object) -> None:
        raise KeyboardInterrupt

    prove(tmp_path)
    monkeypatch.setattr("clew.verify.verifying.check_proof", interrupt)
    done = run_clew(tmp_path, ["verify", "proof.zip"])
    assert (done.code, done.out, done.err) == (3, "", "interrupted\n")


def test_ctrl_c_while_proving_leaves_the_certificate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(clauses: object, deadline: Deadline) -> None:
        signal.raise_signal(signal.SIGINT)
        deadline.check()

    monkeypatch.setattr("clew.proof.refuting.solve_with_proof", interrupt)
    done = run_clew(tmp_path, ["check", example("ack-deliv"), "--proof", "proof.zip"])
    assert done.code == 3  # as whenever Ctrl-C comes before all is done
    assert done.out.startswith("CERTIFIED")
    assert done.err.splitlines() == ["no proof is written: interrupted"]
    assert not (tmp_path / "proof.zip").exists()


def test_a_question_with_a_model_ends_without_a_certificate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the two ways to the answer disagree, one of them is wrong: nothing is certified."""
    monkeypatch.setattr("clew.proof.refuting.ground_question", lambda *_: ground_text("{ a }."))
    done = run_clew(tmp_path, ["check", example("ack-deliv"), "--proof", "proof.zip"])
    assert (done.code, done.out) == (4, "")
    assert done.err.startswith("clew failed: ContradictionError: ") and "please report" in done.err
    assert not (tmp_path / "proof.zip").exists()


def test_what_a_file_says_cannot_command_the_terminal(tmp_path: Path) -> None:
    parts = contents(prove(tmp_path).read_bytes())
    parts["about.json"] = parts["about.json"].replace(b'"a"', b'"\\u001b[2J"')
    write_parts(tmp_path / "changed.zip", parts)
    done = run_clew(tmp_path, ["verify", "changed.zip"])
    assert done.code == 0
    assert "\x1b" not in done.out
    assert r"\x1b[2J" in done.out


def test_a_check_without_a_proof_loads_nothing_for_it() -> None:
    script = (
        "import sys; from clew.cli.process.main import main\n"
        "try: main(['check', 'examples/ack-deliv.ded'])\n"
        "except SystemExit: pass\n"
        "print([m for m in sys.modules if m.split('.')[0] in ('pysat', 'zipfile')"
        " or m.startswith(('clew.proof', 'clew.verify'))])"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
