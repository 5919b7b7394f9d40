"""Packets that are almost right, by the thousand: to the reader, and to nodes on the network.

With ``--thorough`` a million to the reader and a hundred thousand to nodes.
"""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from bloom.network.network_programs import Echo
from bloom.network.test_running_processes import process
from fuzz.wire_checks import WIRE_CHECKS
from fuzz.wire_mutations import frames, packet


def _numbers(request: pytest.FixtureRequest, normal: int, thorough: int) -> range:
    return range(thorough if request.config.getoption("--thorough") else normal)


@pytest.mark.parametrize(
    ("name", "normal", "thorough"),
    [
        ("wire", 2_500, 1_000_000),
        ("wire-again", 1_500, 300_000),
        ("wire-memory", 1_000, 100_000),
        ("wire-pieces", 1_000, 100_000),
    ],
)
def test_packets_are_read_as_the_format_says(
    name: str, normal: int, thorough: int, request: pytest.FixtureRequest
) -> None:
    numbers = _numbers(request, normal, thorough)
    assert sum(map(WIRE_CHECKS[name], numbers)) > len(numbers) // 5


def _is_answer(what: Any) -> Callable[[Any], bool]:
    return lambda row: bool(row.what == what)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell the memory there")
@pytest.mark.parametrize("program", ["Sink", "SecretSink"])
def test_nodes_live_on_and_serve(program: str, request: pytest.FixtureRequest) -> None:
    secret = "a secret of the tests" if program == "SecretSink" else None
    numbers = _numbers(request, 1_000, 50_000)
    with process(program) as node, Echo(secret=secret) as client:
        host, port = node.address.split(":")
        where = host, int(port)
        early = None
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
            for number in numbers:
                with suppress(OSError):  # too large for a datagram
                    udp.sendto(packet(f"node/{number}"), where)
                if number % 10 == 0:
                    with suppress(OSError), socket.create_connection(where, timeout=10) as tcp:
                        tcp.sendall(frames(f"node/{number}"))
                if number % 100 == 0:
                    what: Any = number if number % 200 else str(number) * 1_000
                    row = client.insert_and_wait(
                        client.ask, (node.address, what), client.answer, _is_answer(what), timeout=30
                    )
                    assert row == (what,)
                if number == len(numbers) // 5:
                    early = node.resident()
        assert early is not None
        assert node.resident() - early < 30
        code, out, errors = node.end(signal.SIGTERM)
        assert code == 0 and out.startswith("ended [(")
        assert "Traceback" not in errors or program == "Sink"  # rules may fail with rows that fit a channel
