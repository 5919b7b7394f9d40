"""Who may talk to a node: everybody, peers, holders of a secret, holders of a certificate."""

from __future__ import annotations

import logging
import socket
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from bloom.network.network_programs import Echo, until
from clew.bloom import TLS
from clew.bloom.network.access import Access, Peers, parse_peer
from clew.bloom.network.address_proofs import Greetings
from clew.bloom.network.addresses import Address
from clew.bloom.network.authentication import SEALED, FrameSealer, Key
from clew.bloom.network.wire import encode, make_frame
from clew.errors import UsageError

SECRET = "a secret of the tests"
CERTIFICATES = Path(__file__).parent / "certificates"


def tls(name: str, **options: Any) -> TLS:
    return TLS(
        CERTIFICATES / f"{name}.pem", CERTIFICATES / f"{name}-key.pem", CERTIFICATES / "authority.pem", **options
    )


def port_of(node: Echo) -> tuple[str, int]:
    host, port = node.ip_port.split(":")
    return host, int(port)


def ask(one: Echo, two: Echo, what: Any, timeout: float = 10) -> Any:
    return one.insert_and_wait(one.ask, (two.ip_port, what), one.answer, lambda a: a.what == what, timeout=timeout)


# -- a list ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("10.0.0.2:4000", ("10.0.0.2", 4000)),
        ("db.local", ("db.local", None)),
        ("db.local:7", ("db.local", 7)),
        ("10.1.0.0/16", ("10.1.0.0/16", None)),
        ("[::1]:5", ("::1", 5)),
        ("::1", ("::1", None)),
        ("[::1]", ("[::1]", None)),
        ("10.1.0.0/99", None),
        ("a:0", None),
        ("a:b", None),
        ("", None),
        ("a b", None),
    ],
)
def test_peers_are_addresses_hosts_or_networks(text: str, found: tuple[str, int | None] | None) -> None:
    assert parse_peer(text) == found


def test_who_is_a_peer() -> None:
    peers = Peers(["10.0.0.2:4000", "db.local:9", "db.local", "10.1.0.0/16", "::1"])
    assert peers.names() == [Address("db.local", 9), Address("db.local", 0)]
    assert not peers.has("192.0.2.7", 9)
    peers.learn(Address("db.local", 9), frozenset(["192.0.2.7"]))
    assert peers.has("192.0.2.7", 9) and not peers.has("192.0.2.7", 10)
    peers.learn(Address("db.local", 0), frozenset(["192.0.2.8"]))
    assert peers.has("192.0.2.8", 10)
    assert peers.has("10.0.0.2", 4000) and not peers.has("10.0.0.2", 4001)
    assert peers.has_host("10.0.0.2") and not peers.has_host("10.0.0.3")
    assert peers.has("10.1.255.1", 1) and peers.has("::1", 5) and not peers.has("10.2.0.1", 1)


def test_only_peers_are_heard_and_only_peers_are_told() -> None:
    with Echo() as friend, Echo() as stranger, Echo(peers=[friend.ip_port]) as node:
        assert ask(friend, node, "small") == ("small",)
        assert ask(friend, node, "large" * 1000) == ("large" * 1000,)
        assert list(node.garbage) == []
        stranger.ask.insert((node.ip_port, "hidden"))
        until(lambda: node.garbage["not a peer"] > 0)
        before = node.garbage["not a peer"]
        node.ask.insert((stranger.ip_port, "hidden"))
        until(lambda: node.garbage["not a peer"] > before)
        assert ask(friend, node, "after") == ("after",)
        assert ("hidden",) not in set(node.seen) | set(stranger.seen)


def test_connections_of_others_are_refused() -> None:
    with Echo(peers=["192.0.2.1"]) as node, socket.create_connection(port_of(node)) as tcp:
        tcp.settimeout(10)
        with pytest.raises(ConnectionResetError):
            while True:
                tcp.sendall(b"x")
                if not tcp.recv(10):
                    raise ConnectionResetError
        assert node.garbage == {"not a peer": 1}


# -- a secret ----------------------------------------------------------------------------------------------------


def test_holders_of_the_secret_talk() -> None:
    with Echo(secret=SECRET) as one, Echo(secret=SECRET.encode()) as two:
        for what in ("small", "large" * 1000, "x" * 1340, "x" * 1390, "x" * 1_000_000):
            assert ask(one, two, what) == (what,)
        assert (one.garbage, two.garbage) == ({}, {})


@pytest.mark.parametrize("secret", [None, "another secret of the tests"])
def test_others_are_neither_heard_nor_answered(secret: str | None) -> None:
    with Echo(secret=SECRET) as node, Echo(secret=secret) as other, Echo(secret=SECRET) as friend:
        other.ask.insert((node.ip_port, "small"), (node.ip_port, "large" * 1000))
        node.ask.insert((other.ip_port, "small"), (other.ip_port, "large" * 1000))
        until(lambda: node.garbage["no answer"] + node.garbage["not connected"] >= 2)
        until(lambda: node.garbage["unexpected greeting"] >= 2)
        assert ask(friend, node, "x") == ("x",)
        assert set(node.seen) == {("x",)} and set(other.seen) == set()


def test_recorded_packets_are_not_taken_again() -> None:
    """All rows that one sends are recorded and sent again: at once, and to the next life of the node."""
    with Echo(secret=SECRET) as one, Echo(secret=SECRET) as two:
        recorded: list[bytes] = []
        assert one._driver is not None and one._driver._transport is not None
        datagrams = one._driver._transport._datagrams
        assert datagrams is not None
        send = datagrams._send

        def record(data: bytes, where: Any) -> None:
            recorded.append(data)
            send(data, where)

        datagrams._send = record  # type: ignore[method-assign]
        assert ask(one, two, "x") == ("x",)
        address = two.ip_port
        recorded = [data for data in recorded if data.startswith(SEALED)]  # and not greetings
        assert recorded
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
            for data in recorded:
                udp.sendto(data, port_of(two))
            until(lambda: two.garbage["repeated"] == len(recorded))
            two.stop()
            with Echo(address, secret=SECRET) as again:
                for data in recorded:
                    udp.sendto(data, port_of(again))
                until(lambda: again.garbage["other epoch"] == len(recorded))
                assert set(again.seen) == set()


def test_both_sides_may_restart() -> None:
    with Echo(secret=SECRET) as one:
        two = Echo(secret=SECRET)
        with two:
            assert ask(one, two, 0) == (0,)
            address = two.ip_port
        for life in range(1, 4):
            with Echo(address, secret=SECRET) as two:
                # What is sent before the sender knows of the restart is lost: rows are sent again, as ever.
                for turn in range(20):
                    one.ask.insert((address, (life, turn)))
                    try:
                        until(lambda life=life: any(row.what[0] == life for row in two.seen), 0.5)  # type: ignore[misc]
                        break
                    except AssertionError:
                        continue
                assert ask(one, two, life) == (life,)
    with Echo(address, secret=SECRET) as two, Echo(secret=SECRET) as another:
        assert ask(another, two, "new sender") == ("new sender",)


def test_a_hash_that_looks_like_a_greeting_is_a_hash() -> None:
    """One in 65,536: such a frame ended its connection, and the rows on it were lost."""
    greetings, nonce = Greetings(Key(SECRET)), bytes(16)
    with Echo(secret=SECRET) as node, socket.create_connection(port_of(node)) as tcp:
        tcp.settimeout(10)
        tcp.sendall(make_frame(greetings.hello(nonce)))
        token = greetings.token_of_welcome(tcp.recv(1000)[4:], nonce)
        assert token is not None
        packets = (encode("ping", (node.ip_port, node.ip_port, number)) for number in count())
        sealed = (FrameSealer(Key(SECRET), token).seal(packet) for packet in packets)
        tcp.sendall(make_frame(next(data for data in sealed if greetings.is_hello(data))))
        until(lambda: len(node.seen) == 1)
        # A second greeting is none of its frames.
        tcp.sendall(make_frame(greetings.hello(nonce)))
        until(lambda: node.garbage == {"not authentic": 1})


def test_frames_without_the_secret_end_the_connection() -> None:
    with Echo(secret=SECRET) as node, socket.create_connection(port_of(node)) as tcp:
        tcp.settimeout(10)
        tcp.sendall(make_frame(encode("ping", (node.ip_port, node.ip_port, 1))))
        until(lambda: node.garbage == {"not authentic": 1})
        assert set(node.seen) == set()


# -- certificates ------------------------------------------------------------------------------------------------


def test_holders_of_certificates_talk_over_streams_only() -> None:
    with Echo(tls=tls("node")) as one, Echo("localhost:0", tls=tls("node")) as two:
        for what in ("small", "large" * 1000, "x" * 1_000_000):
            assert ask(one, two, what) == (what,)
        assert one._driver is not None and one._driver._transport is not None
        assert one._driver._transport._datagrams is None
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
            udp.bind(("127.0.0.1", port_of(one)[1]))  # nobody has it
        assert (one.garbage, two.garbage) == ({}, {})


@pytest.mark.parametrize(
    ("other", "reason"), [("stranger", "not authentic"), (None, "not authentic"), ("elsewhere", None)]
)
def test_others_do_not_get_in(other: str | None, reason: str | None) -> None:
    """``elsewhere`` has a certificate and may send; but what is for 127.0.0.1 is not sent to it."""
    given = None if other is None else tls(other)
    with Echo(tls=tls("node")) as node, Echo(tls=given) as stranger, Echo(tls=tls("node")) as friend:
        stranger.ask.insert((node.ip_port, "x" * 5000))
        node.ask.insert((stranger.ip_port, "x"))
        until(lambda: node.garbage["not connected"] >= 1)
        if reason is None:
            until(lambda: ("x" * 5000,) in node.seen)
        else:
            until(lambda: node.garbage[reason] >= 1)
            assert set(node.seen) == set()
        assert set(stranger.seen) == set()
        assert ask(friend, node, "y") == ("y",)


def test_the_name_need_not_be_checked() -> None:
    lenient = tls("node", check_host=False)
    with Echo(tls=lenient) as one, Echo(tls=tls("elsewhere", check_host=False)) as two:
        assert ask(one, two, "x") == ("x",)


def test_tls_and_secret_and_peers_go_together() -> None:
    options: dict[str, Any] = {"tls": tls("node"), "secret": SECRET, "peers": ["127.0.0.0/8"]}
    with Echo(**options) as one, Echo(**options) as two, Echo(tls=tls("node")) as other:
        assert ask(one, two, "x" * 3000) == ("x" * 3000,)
        other.ask.insert((two.ip_port, "y"))
        until(lambda: two.garbage["not authentic"] == 1)
        assert set(two.seen) == {("x" * 3000,)}


def test_silent_connections_do_not_get_past_the_limits_of_tls(caplog: pytest.LogCaptureFixture) -> None:
    with Echo(tls=tls("node")) as one, Echo(tls=tls("node")) as two:
        silent = [socket.create_connection(port_of(two)) for _ in range(300)]
        assert ask(one, two, "x") == ("x",)
        assert two.garbage["too many connections"] >= 40
        for tcp in silent:
            tcp.close()
    # Each one that was evicted in its handshake was a traceback in the log, without any limit.
    assert [record for record in caplog.records if record.name == "asyncio"] == []


# -- misuse ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"peers": "10.0.0.1"}, "peers is '10.0.0.1'"),
        ({"peers": ["10.0.0.1:x"]}, "'10.0.0.1:x' names no peer"),
        ({"peers": [7]}, "7 names no peer"),
        ({"secret": "short"}, "the secret has 5 bytes"),
        ({"tls": "node.pem"}, "tls is 'node.pem'"),
    ],
)
def test_mistakes_are_found_when_the_node_is_made(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message) as raised:
        Echo(**options)
    assert raised.value.remedy


def test_certificates_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the certificates cannot be used") as raised:
        Echo(tls=TLS(tmp_path / "no.pem", tmp_path / "no.pem", tmp_path / "no.pem")).start()
    assert "PEM" in (raised.value.remedy or "")


def test_a_node_for_everybody_says_so(caplog: pytest.LogCaptureFixture) -> None:
    def warnings(**options: Any) -> list[str]:
        caplog.clear()
        with Echo(**options):
            return [r.getMessage() for r in caplog.records if r.levelno == logging.WARNING]

    (line,) = warnings(address="0.0.0.0:0")
    assert "everybody who reaches that may send it rows: give it secret=, tls= or peers=" in line
    assert warnings(address="127.0.0.1:0") == warnings(address="localhost:0") == []
    for options in ({"secret": SECRET}, {"tls": tls("node")}, {"peers": ["10.0.0.0/8"]}):
        assert warnings(address="0.0.0.0:0", **options) == []


def test_nothing_given_is_open() -> None:
    assert Access().is_open
    assert not Access(peers=()).is_open
