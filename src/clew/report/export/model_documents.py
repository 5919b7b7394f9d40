"""Documents about models: a verdict, whose counterexamples are executed again, and a run, which is all there."""

from __future__ import annotations

from clew.checker.api import run
from clew.checker.preparing import load_source
from clew.errors import UsageError
from clew.files.json_document import Item
from clew.names import in_one_line
from clew.report.export.choice import Choice
from clew.report.export.events import Trace
from clew.report.export.of_model import trace_of_model
from clew.report.export.results import of_model
from clew.report.export.run_document import read_run
from clew.report.replay.reading import verdict_of
from clew.report.replay.replaying import find_program
from clew.report.text.shell import file_words


def trace_of_verdict(document: Item, choice: Choice) -> Trace:
    """Execute a counterexample of a verdict, or a candidate; raise if it is one no more."""
    saved = verdict_of(document)
    listed = saved.counterexamples or saved.candidates
    if not listed:
        raise UsageError(
            f"{document.file}: the verdict is '{saved.answer.value}', and there is no execution to export",
            remedy="let clew run FILE --json RUN.json perform one, and export RUN.json",
        )
    found = choice.pick(document.file, listed)
    command = f"clew export {file_words([document.file])} FILE... --format ..."
    files = find_program(document.file, saved, choice.files, command)
    program = load_source(files, saved.settings).program
    execution = run(program, found.faults, nodes=saved.nodes, eot=saved.eot)
    # As sets: a later version may list them in another order, and that is no other execution.
    if set(execution.violations) != set(found.violations):
        said, now = (", ".join(map(str, violations)) for violations in (found.violations, execution.violations))
        raise UsageError(
            f"{document.file}: {said} was violated under {found.faults}, and now {now or 'nothing'} is",
            remedy="the program has changed: run clew check again, and export what that writes",
        )
    return of_model(execution, files)


def trace_of_run_document(document: Item, choice: Choice) -> Trace:
    """Return the execution that the JSON of ``clew run`` has; nothing is executed."""
    choice.refuse_number(document.file)
    found = read_run(document)
    files = [in_one_line(item.text("the path of a file")) for item in document.member("files").items()]
    return trace_of_model(found, " + ".join(files) or "a program made in Python")
