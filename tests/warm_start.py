"""A process that has imported Clew and forks a command for every request (``command``).

What a command finds is what ``python -m clew`` gives it: arguments, folder, environment, streams, a module search
path that begins with its folder, and modules in the state in which their import leaves them.  The process that
forks has one thread, executes no command and reads no file of a user, so that nothing passes from one command to
the next.  What commands have in common is the hash seed.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import runpy
import socket
import struct
import sys
from pathlib import Path

import clew


def _serve(requests: socket.socket) -> bool:
    """Fork a command for every request; return whether this is a command, with its surroundings set."""
    while True:
        head, streams, _, _ = socket.recv_fds(requests, 8, 3)
        if not head:
            return False
        (length,) = struct.unpack("=q", head)
        arguments, cwd, environment, change = json.loads(requests.recv(length, socket.MSG_WAITALL))
        child = os.fork()
        if not child:
            requests.close()
            _become(arguments, cwd, environment, streams)
            exec(change, {})
            return True
        for stream in streams:
            os.close(stream)
        requests.sendall(struct.pack("=q", child))
        _, status = os.waitpid(child, 0)
        requests.sendall(struct.pack("=q", status))


def _become(arguments: list[str], cwd: str, environment: dict[str, str], streams: list[int]) -> None:
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(cwd)
    for name in set(os.environ) - set(environment):
        del os.environ[name]
    os.environ.update(environment)
    sys.argv = ["-m", *arguments]
    sys.path[0] = str(Path.cwd())


def _import_all() -> None:
    for module in pkgutil.walk_packages(clew.__path__, "clew."):
        if not module.name.endswith(".__main__"):
            importlib.import_module(module.name)


if __name__ == "__main__":
    _import_all()
    gc.freeze()  # a collection in a command would copy every page of what is shared
    if _serve(socket.socket(fileno=int(sys.argv[1]))):
        runpy.run_module("clew", run_name="__main__", alter_sys=True)
