"""To whom rows go at once, who is asked first, and what is never sent."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable

from clew.bloom.network import address_proofs as module
from clew.bloom.network.address_proofs import MULTIPLE, PROVED_SECONDS, Greetings, Proofs
from clew.bloom.network.addresses import SocketAddress
from clew.bloom.network.authentication import Key

THERE = ("192.0.2.1", 7000)
KEY = Key("a secret of the tests")


class World:
    """A clock, and what was sent to whom."""

    def __init__(self, key: Key | None = None, most_bytes: int = 1_000_000) -> None:
        self.now = 100.0
        self.sent: list[tuple[SocketAddress, bytes]] = []
        self.questions: list[tuple[SocketAddress, bytes]] = []
        self.garbage: Counter[str] = Counter()
        self.reachable = True
        self.greetings = Greetings(key)
        self.proofs = Proofs(key, lambda: self.now, self._ask, self._release, self.garbage, most_bytes)

    def _ask(self, where: SocketAddress, question: bytes) -> bool:
        self.questions.append((where, question))
        return self.reachable

    def _release(self, where: SocketAddress, packets: Iterable[bytes]) -> None:
        for packet in packets:
            self.send(where, packet)

    def send(self, where: SocketAddress, packet: bytes) -> None:
        ready = self.proofs.pass_on(where, packet)
        if ready is not None:
            self.sent.append((where, ready))

    def answer(self, token: bytes = b"e" * 16) -> None:
        """The last question is answered."""
        welcome = self.greetings.answer(self.questions[-1][1], token)
        assert welcome is not None
        assert self.proofs.take_answer(welcome)

    def wait(self, seconds: float) -> None:
        for _ in range(round(seconds * 10)):
            self.now += 0.1
            self.proofs.tick()

    def bytes_to(self, where: SocketAddress) -> int:
        return sum(len(data) for to, data in [*self.sent, *self.questions] if to == where)


def test_rows_wait_for_an_answer_and_then_go() -> None:
    world = World()
    for packet in (b"one", b"two"):
        world.send(THERE, packet)
    assert world.sent == [] and len(world.questions) == 1
    world.answer()
    world.send(THERE, b"three")
    assert world.sent == [(THERE, b"one"), (THERE, b"two"), (THERE, b"three")]
    assert len(world.questions) == 1 and world.garbage == {}


def test_who_does_not_answer_is_asked_three_times() -> None:
    world = World()
    world.send(THERE, b"one")
    world.wait(2.5)
    assert len(world.questions) == 3 and world.garbage == {}
    world.wait(1)
    assert world.garbage == {"no answer": 1} and not world.proofs.tick()
    assert world.bytes_to(THERE) == 3 * 18


def test_an_answer_with_another_nonce_proves_nothing() -> None:
    world = World()
    world.send(THERE, b"one")
    for nonce in (bytes(16), b"", b"x" * 40):
        assert not world.proofs.take_answer(b"\xc1\x02" + nonce)
    assert world.sent == []


def test_a_proof_ends() -> None:
    world = World()
    world.send(THERE, b"one")
    world.answer()
    world.now += PROVED_SECONDS / 2 + 1
    world.send(THERE, b"two")  # asks again, and does not wait
    assert len(world.questions) == 2 and len(world.sent) == 2
    world.answer()
    world.now += PROVED_SECONDS + 1
    world.send(THERE, b"three")
    assert len(world.sent) == 2
    world.answer()
    assert len(world.sent) == 3


def test_never_more_than_a_multiple_without_a_proof() -> None:
    """Random traffic to addresses that never answer, whatever they send themselves."""
    source = random.Random(3)
    world = World()
    came: Counter[SocketAddress] = Counter()
    addresses = [("192.0.2.1", port) for port in range(1, 30)]
    for _ in range(20_000):
        where = source.choice(addresses)
        if source.random() < 0.3:
            size = source.randrange(1400)
            came[where] += size
            world.proofs.note_bytes(where, size)
        else:
            world.send(where, bytes(source.randrange(1400)))
        if source.random() < 0.01:
            world.wait(0.1)
    asked = Counter(where for where, _ in world.questions)
    for where in addresses:
        assert world.bytes_to(where) <= MULTIPLE * came[where] + 18 * asked[where]
        assert asked[where] <= 3 * (1 + (world.now - 100) / 3)


def test_what_waits_is_bounded() -> None:
    world = World(most_bytes=1000)
    for port in range(1, 12):
        world.send(("192.0.2.1", port), bytes(300))
    assert world.proofs._held <= 1000
    assert world.garbage == {"too much to send": 8}
    world.send(THERE, bytes(1001))
    assert world.garbage == {"too much to send": 9}


def test_addresses_that_wait_are_bounded() -> None:
    world = World()
    for number in range(module._MOST_ADDRESSES + 5):
        world.send((f"192.0.{number // 256}.{number % 256}", 1), b"x")
    assert len(world.proofs._strangers) == module._MOST_ADDRESSES
    assert world.garbage == {"no answer": 5}
    assert len(world.proofs._questions) == module._MOST_ADDRESSES


def test_a_question_that_cannot_be_sent_ends_the_waiting() -> None:
    world = World()
    world.reachable = False
    world.send(THERE, b"one")
    assert world.garbage == {"send error": 1} and not world.proofs.tick()


def test_with_a_secret_nothing_is_sent_before_the_answer() -> None:
    world = World(KEY)
    world.proofs.note_bytes(THERE, 1000)
    world.send(THERE, b"one")
    assert world.sent == []
    world.answer(b"e" * 16)
    first = world.sent[0][1]
    world.send(THERE, b"one")
    assert len(world.sent) == 2 and world.sent[1][1] != first


def test_a_hint_makes_the_node_ask_and_changes_nothing_else() -> None:
    world = World(KEY)
    world.send(THERE, b"one")
    world.answer(b"e" * 16)
    for _ in range(100):
        world.proofs.doubt(THERE)
        world.send(THERE, b"two")
    assert len(world.questions) == 2 and len(world.sent) == 101
    assert all(data[2:10] == b"e" * 8 for _, data in world.sent)
    world.answer(b"f" * 16)
    for _ in range(100):
        world.proofs.doubt(THERE)
    assert len(world.questions) == 2
    world.send(THERE, b"three")
    assert world.sent[-1][1][2:10] == b"f" * 8
