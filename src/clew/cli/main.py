"""The command line: one file a command, exit codes and error rendering here.

Exit codes: 0 no counterexample within the bounds, 1 counterexample, 2 bad program or usage, 3 incomplete.
"""

from __future__ import annotations

import atexit
import gc
import io
import os
import sys
from importlib import import_module
from typing import Any

import click

from clew.cli import exit_codes
from clew.cli.files import harmless
from clew.cli.source import with_source
from clew.errors import BudgetExhaustedError, ClewError
from clew.interrupt import has_abandoned_work

#: The commands, each in the module of its name, with what --help says: to import all takes half a second.
COMMANDS = {
    "check": "Search for faults under which what must hold does not.",
    "run": "Perform one execution under chosen faults.",
    "replay": "Run a recording or the counterexamples of a verdict again.",
    "fuzz": "Search for a violation in random executions.",
    "minimize": "Search for a small execution that ends in the same violation.",
    "explore": "Execute every schedule of a scenario, each class of equivalent ones once.",
    "calm": "Find the outputs that depend on the order in which messages arrive.",
    "blazes": "Tell what the order of messages can do to a dataflow, and what to do about it.",
}


class _Group(click.Group):
    """Loads the command that is asked for, and renders our errors; everything else is a bug with its traceback."""

    def main(self, *args: Any, **extra: Any) -> Any:
        # What is imported and grounded stays: looking for garbage in it takes a twelfth of a cold start.
        gc.set_threshold(100_000)
        atexit.register(gc.freeze)  # nor when the interpreter ends
        return super().main(*args, **extra)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = getattr(import_module(f"clew.cli.{cmd_name}"), f"{cmd_name}_command")
        assert isinstance(command, click.Command)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            self._invoke(ctx)
        except SystemExit as end:
            if has_abandoned_work():
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(end.code if isinstance(end.code, int) else 1)
            raise

    def _invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except ClewError as error:
            click.echo(harmless(with_source(error)), err=True)
            sys.exit(exit_codes.BAD_INPUT)
        except BudgetExhaustedError as limit:
            click.echo(f"incomplete: {limit}", err=True)
            sys.exit(exit_codes.INCOMPLETE)
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
            sys.exit(exit_codes.INCOMPLETE)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="clew")
def main() -> None:
    """Find out whether a distributed system survives faults."""
    # A name that the terminal cannot show is no reason to lose an answer.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
