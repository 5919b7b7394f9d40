"""Sockets that programs are shown: of what is simulated, they know addresses and options, and nothing else."""

from __future__ import annotations

import socket as real
from typing import Any

from clew.aio.fences import fence


class ShownSocket:
    """What ``get_extra_info("socket")`` gives: it can be asked, and options can be set, to no effect."""

    def __init__(
        self,
        number: int,
        kind: int,
        local: tuple[str, int],
        remote: tuple[str, int] | None = None,
    ) -> None:
        self.family = real.AF_INET
        self.type = kind
        self.proto = real.IPPROTO_TCP if kind == real.SOCK_STREAM else real.IPPROTO_UDP
        self._number = number
        self._local = local
        self._remote = remote
        self._options: dict[tuple[int, int], Any] = {}

    def __repr__(self) -> str:
        return f"<simulated socket {self._local} to {self._remote}>"

    def fileno(self) -> int:
        return self._number

    def getsockname(self) -> tuple[str, int]:
        return self._local

    def getpeername(self) -> tuple[str, int]:
        if self._remote is None:
            raise OSError("Socket not connected")
        return self._remote

    def getsockopt(self, level: int, option: int, size: int = 0) -> Any:
        return self._options.get((level, option), 0)

    def setsockopt(self, level: int, option: int, value: Any, size: int = 0) -> None:
        self._options[level, option] = value

    def setblocking(self, flag: bool) -> None:
        """Ignore it: it never blocks."""

    def settimeout(self, timeout: float | None) -> None:
        """Ignore it: it never blocks."""

    def gettimeout(self) -> float:
        return 0.0

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(real.socket, name):
            raise AttributeError(name)
        fence(f"socket.{name} of a transport's socket", "use the transport")
