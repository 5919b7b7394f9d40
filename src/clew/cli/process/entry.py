"""Where the ``clew`` command begins: nothing is imported before ``run``, and no end is left to chance."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # as in the package's ``__init__``: ``typing`` alone takes a tenth of a start

if TYPE_CHECKING:
    from typing import NoReturn

#: Bound before any code of the user runs, which may put something else in its place.
_exit = os._exit
#: The codes of ``clew.results``: nothing of Clew is imported before an import that fails has its exit code.
_INCOMPLETE, _FAILED = 3, 4


def run() -> NoReturn:
    """Run the command line and end the process; Ctrl-C is quiet from the first import on."""
    try:
        import signal

        from clew.cli.process.limits import limit_memory
        from clew.cli.process.main import belongs_into_child, executes_user_code, main
        from clew.cli.process.streams import open_closed_streams
        from clew.cli.process.supervision import supervise
    except KeyboardInterrupt:
        _leave("interrupted", _INCOMPLETE)
    except Exception as error:
        _leave(
            f"clew failed: {type(error).__name__}: {error}\n  Clew is not installed completely: install it again",
            _FAILED,
        )
    try:
        open_closed_streams()
        limit_memory()
        if belongs_into_child(sys.argv[1:]):
            supervise(lambda state: main(obj=state), of_user=executes_user_code(sys.argv[1:]))
        main()
    except KeyboardInterrupt:  # before anybody else listens
        _leave("interrupted", _INCOMPLETE)
    except BaseException as error:  # of what tells failures: by itself, Python would end with 1
        if isinstance(error, SystemExit) and isinstance(error.code, int):
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # nothing is left that could be interrupted
            raise
        _leave(f"clew failed: {type(error).__name__}: {error}", _FAILED)
    raise AssertionError("a command ends by leaving the process")


def _leave(text: str, code: int) -> NoReturn:
    if sys.stderr is not None:
        print(text, file=sys.stderr, flush=True)
    _exit(code)
