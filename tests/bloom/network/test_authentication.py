"""What only holders of the secret can make, and what is taken once."""

from __future__ import annotations

import random

import pytest

from clew.bloom.network.address_proofs import Greetings
from clew.bloom.network.authentication import (
    DATAGRAM_OVERHEAD,
    MAC_SIZE,
    WINDOW,
    DatagramOpener,
    DatagramSealer,
    FrameOpener,
    FrameSealer,
    Key,
    ReplayWindow,
)
from clew.errors import UsageError

KEY = Key("a secret of the tests")
OTHER = Key("another secret of the tests")


def test_a_short_secret_is_refused() -> None:
    with pytest.raises(UsageError, match="the secret has 8 bytes") as raised:
        Key("password")
    assert "secrets.token_hex()" in (raised.value.remedy or "")


def test_a_datagram_is_opened_once() -> None:
    opener = DatagramOpener(KEY)
    sealer = DatagramSealer(KEY, opener.epoch)
    sealed = sealer.seal(b"rows")
    assert len(sealed) == DATAGRAM_OVERHEAD + 4
    assert opener.open(sealed) == b"rows"
    assert opener.open(sealed) == "repeated"
    assert opener.open(sealer.seal(b"rows")) == b"rows"


def test_every_bit_of_a_datagram_is_covered() -> None:
    opener = DatagramOpener(KEY)
    sealed = DatagramSealer(KEY, opener.epoch).seal(b"some rows")
    for bit in range(8 * len(sealed)):
        changed = bytearray(sealed)
        changed[bit // 8] ^= 1 << bit % 8
        assert opener.open(bytes(changed)) in ("not authentic", "other epoch")
    for size in range(len(sealed)):
        assert opener.open(sealed[:size]) == "not authentic"
    assert opener.open(sealed + b"\0") == "not authentic"
    assert opener.open(sealed) == b"some rows"


def test_another_secret_is_not_authentic() -> None:
    opener = DatagramOpener(KEY)
    assert opener.open(DatagramSealer(OTHER, opener.epoch).seal(b"rows")) == "not authentic"


def test_a_receiver_that_restarted_takes_nothing_from_before() -> None:
    before, after = DatagramOpener(KEY), DatagramOpener(KEY)
    sealed = DatagramSealer(KEY, before.epoch).seal(b"rows")
    assert after.open(sealed) == "other epoch"


def test_a_sender_that_restarted_is_heard_and_its_old_datagrams_are_not() -> None:
    opener = DatagramOpener(KEY)
    old = DatagramSealer(KEY, opener.epoch).seal(b"old")
    assert opener.open(old) == b"old"
    assert opener.open(DatagramSealer(KEY, opener.epoch).seal(b"new")) == b"new"
    assert opener.open(old) == "repeated"


def test_no_sender_is_forgotten_without_a_new_epoch() -> None:
    opener = DatagramOpener(KEY, most_senders=3)
    first = [DatagramSealer(KEY, opener.epoch).seal(b"rows") for _ in range(4)]
    assert [opener.open(sealed) for sealed in first] == [b"rows"] * 3 + ["other epoch"]
    assert {opener.open(sealed) for sealed in first} == {"other epoch"}
    assert opener.open(DatagramSealer(KEY, opener.epoch).seal(b"again")) == b"again"


@pytest.mark.parametrize("seed", range(20))
def test_a_window_is_a_set_of_recent_counters(seed: int) -> None:
    source = random.Random(seed)
    window, seen, newest = ReplayWindow(), set[int](), 0
    at = 1
    for _ in range(2_000):
        at += source.choice([1, 1, 1, 2, 50, WINDOW // 2, 3 * WINDOW] if source.random() < 0.1 else [1])
        counter = max(1, at - source.choice([0, 0, 0, 1, 5, 100, WINDOW - 1, WINDOW, 2 * WINDOW]))
        new = counter not in seen and counter > newest - WINDOW
        assert window.take(counter) is new, (counter, newest)
        seen.add(counter)
        newest = max(newest, counter)


def test_frames_are_opened_in_order_on_their_own_connection() -> None:
    opener, elsewhere = FrameOpener(KEY), FrameOpener(KEY)
    sealer = FrameSealer(KEY, opener.token)
    one, two = sealer.seal(b"one"), sealer.seal(b"two")
    assert len(one) == MAC_SIZE + 3
    assert elsewhere.open(one) is None
    assert opener.open(one) == b"one"
    assert opener.open(one) is None
    skipping = FrameOpener(KEY)
    again = FrameSealer(KEY, skipping.token)
    again.seal(b"left out")
    assert skipping.open(again.seal(b"second")) is None
    assert FrameOpener(KEY).open(two) is None


@pytest.mark.parametrize("key", [None, KEY], ids=["open", "secret"])
def test_an_answer_proves_that_the_question_was_read(key: Key | None) -> None:
    greetings, nonce, token = Greetings(key), bytes(range(16)), b"t" * 16
    hello = greetings.hello(nonce)
    welcome = greetings.answer(hello, token)
    assert welcome is not None and len(welcome) <= len(hello)
    assert greetings.nonce_of_welcome(welcome) == nonce
    assert greetings.token_of_welcome(welcome, nonce) == (b"" if key is None else token)
    assert greetings.token_of_welcome(welcome, bytes(16)) is None
    for size in range(len(welcome)):
        assert greetings.token_of_welcome(welcome[:size], nonce) is None
        assert greetings.answer(hello[:size], token) is None
    assert greetings.answer(hello + b"\0", token) is None


def test_greetings_without_the_secret_are_not_answered() -> None:
    greetings, nonce = Greetings(KEY), bytes(16)
    for stranger in (Greetings(None), Greetings(OTHER)):
        assert greetings.answer(stranger.hello(nonce), b"t" * 16) is None
        welcome = stranger.answer(stranger.hello(nonce), b"t" * 16)
        assert welcome is not None and greetings.token_of_welcome(welcome, nonce) is None
