"""What programs log where nobody has configured it: a remark of the event in which they do."""

from __future__ import annotations

import logging

from clew.aio.running import current_life


class LastResort(logging.Handler):
    """Stands for the handler that writes to standard error, which a search would fill."""

    def __init__(self, original: logging.Handler | None) -> None:
        super().__init__(logging.WARNING)
        self._original = original

    def emit(self, record: logging.LogRecord) -> None:
        life = current_life()
        if life is not None:
            life.remark(f"{record.levelname.lower()}: {record.getMessage()}")
        elif self._original is not None:
            self._original.handle(record)


def patch_logging() -> None:
    """Keep what hosts log from standard error, unless logging has been configured."""
    logging.lastResort = LastResort(logging.lastResort)
