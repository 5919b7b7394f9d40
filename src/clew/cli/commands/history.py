"""``clew history``: could what clients saw have happened one operation, or one transaction, after the other?"""

from __future__ import annotations

import click

from clew.cli.parts.files import FILE
from clew.cli.parts.outputs import Outputs, output_options
from clew.cli.process.limits import time_limit_option
from clew.histories.api import MODEL_NAMES, check_history
from clew.histories.linearizability.search import DEFAULT_BUDGET


@click.command("history")
@click.argument("file", type=FILE, metavar="FILE")
@click.option(
    "--model",
    default="register",
    show_default=True,
    metavar="MODEL",
    help=f"What it should be: {', '.join(MODEL_NAMES)}, or FILE.py:CLASS.",
)
@click.option("--keyed", is_flag=True, help="Values are pairs of a key and a value (jepsen.independent).")
@click.option(
    "--states",
    type=int,
    default=DEFAULT_BUDGET,
    show_default=True,
    metavar="N",
    help="Give up after so many states of the search; the answer is then unknown.",
)
@time_limit_option()
@output_options("the result")
def history_command(
    file: str, model: str, keyed: bool, states: int, time_limit: float | None, outputs: Outputs
) -> None:
    """Check what clients saw for linearizability or serializability.

    FILE has a history: JSON lines, or Jepsen's EDN in a file that ends in .edn.  It is linearizable if its
    operations could have happened one after the other, each between its call and its answer, on one object of
    the model; each key is an object of its own.  With serializable, session-serializable and strict-serializable,
    operations are transactions that append to lists and read them.

    Exit code: 0 it is, 1 it is not, 2 bad history or usage, 3 unknown.
    """
    # Reading is strict and checking is counted: the same file gives the same bytes on every machine.
    result = check_history(file, model, keyed=keyed, states=states, time_limit=time_limit)
    outputs.show(result, lambda: f"{result}\n")
    outputs.write(result)
    raise SystemExit(result.exit_code)
