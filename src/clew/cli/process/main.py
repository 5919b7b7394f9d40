"""The command line: one file a command, exit codes and error rendering here.

Exit codes: 0 no counterexample within the bounds, 1 counterexample, 2 bad program or usage, 3 incomplete, 4 Clew
itself or its surroundings failed (``ending``).
"""

from __future__ import annotations

import atexit
import gc
import io
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from clew.budgets.copies import leave_process
from clew.budgets.deadline import has_abandoned_work
from clew.budgets.whereabouts import current_whereabouts, stay_in_process
from clew.cli.process.ending import conclude
from clew.cli.process.limits import MEMORY_OPTION, watch_time
from clew.cli.process.state import IN_PROCESS, CommandState
from clew.cli.process.streams import open_closed_streams

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

#: The commands, each in the module of its name, with what --help says: to import all takes half a second.  A
#: summary has at most 66 characters, so that it is one line on a terminal of 80 columns.
COMMANDS = {
    "check": "Search for faults under which what must hold does not.",
    "test": "Check models, and compare their answers with what they expect.",
    "verify": "Check the proof of a certificate.",
    "run": "Perform one execution under chosen faults.",
    "replay": "Run a recording or the counterexamples of a verdict again.",
    "fuzz": "Search for a violation in random executions.",
    "minimize": "Search for a small execution that ends in the same violation.",
    "explore": "Execute every schedule of a scenario, equivalent ones once.",
    "history": "Check what clients saw for linearizability or serializability.",
    "export": "Write an execution in a format that other tools read.",
    "calm": "Find the outputs that depend on the order in which things happen.",
    "cover": "Run a command, and count what the rules of a Bloom class do.",
    "blazes": "Find where a dataflow needs coordination, and which.",
}


#: These execute the Python files that they are given; others do if they are given any.
_EXECUTING = ("fuzz", "explore", "minimize", "replay", "export")


def belongs_into_child(arguments: Sequence[str]) -> bool:
    """Tell whether a command line is to be supervised: it does something, and nobody wants to debug it."""
    return {"--help", "-h", "--version", IN_PROCESS}.isdisjoint(arguments) and bool(arguments)


def executes_user_code(arguments: Sequence[str]) -> bool:
    """Tell whether a command line executes Python files of the user, in the process of the command."""
    command = next((word for word in arguments if not word.startswith("-")), "")
    if command == "test":  # which has a process for each model
        return False
    return command in _EXECUTING or any(word.endswith(".py") or ".py:" in word for word in arguments)


def _ask_for_traceback(context: click.Context, option: click.Parameter, wanted: bool) -> None:
    if wanted:
        context.ensure_object(CommandState).traceback = True


#: Every command takes it, before its name or after it.
_TRACEBACK = click.Option(
    ["--traceback"],
    is_flag=True,
    expose_value=False,
    callback=_ask_for_traceback,
    help="If Clew itself fails, show where.",
)


_EPILOG = "Exit code 4, of every command: Clew itself or its surroundings failed, and there is no answer."


def _stay_in_process(context: click.Context, option: click.Parameter, wanted: bool) -> None:
    if wanted:
        context.ensure_object(CommandState).in_process = True
        stay_in_process()


_IN_PROCESS = click.Option(
    [IN_PROCESS],
    is_flag=True,
    expose_value=False,
    callback=_stay_in_process,
    help="Execute your code in this process, for a debugger: what ends it then ends the command.",
)


class _Group(click.Group):
    """Loads the command that is asked for, and sees to it that every way out of it has its exit code."""

    def main(self, *args: Any, **extra: Any) -> Any:
        # What is imported and grounded stays: looking for garbage in it takes a twelfth of a cold start.
        gc.set_threshold(100_000)
        atexit.register(gc.freeze)  # nor when the interpreter ends
        open_closed_streams()
        state = extra.pop("obj", None) or CommandState()

        def perform() -> None:
            # Not in click's standalone mode, in which Ctrl-C and a broken pipe end with 1: a counterexample.
            super(_Group, self).main(*args, **{**extra, "standalone_mode": False, "obj": state})

        code = conclude(perform, state)
        if has_abandoned_work():
            if (page := current_whereabouts()) is not None:
                page.finish(code)
            leave_process(code)
        raise SystemExit(code)

    def _main_shell_completion(self, *args: Any, **extra: Any) -> None:
        """Answer a shell that asks for completions."""
        try:
            super()._main_shell_completion(*args, **extra)
        except SystemExit as end:
            # Raised by click itself, which would be taken for an exit of the user's code (``ending``).
            raise SystemExit(end.code) from None

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:  # before click says something of its own about it
            raise click.Abort from None

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the name of a command without importing all of them, which would take half a second a key."""
        from click.shell_completion import CompletionItem

        names = [CompletionItem(n, help=text) for n, text in COMMANDS.items() if n.startswith(incomplete)]
        return [*names, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = getattr(import_module(f"clew.cli.commands.{cmd_name}"), f"{cmd_name}_command")
        assert isinstance(command, click.Command)
        # A command is asked for more than once in a process by tests and by completion.
        if _TRACEBACK not in command.params:
            watch_time(command)
            command.params += [MEMORY_OPTION, _IN_PROCESS, _TRACEBACK]
            command.epilog = _EPILOG
        return command


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="clew")
def main() -> None:
    """Find out whether a distributed system survives faults."""
    # A name that the terminal cannot show is no reason to lose an answer.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


main.params.append(_TRACEBACK)
