"""A node that is attacked, and one that is killed; with ``--thorough`` for ten minutes, and a thousand times.

How fast the client is served is a benchmark; here it is served at all, and nothing is lost.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks import bloom_fire, bloom_kills


def test_a_client_is_served_under_fire(tmp_path: Path, thorough: bool) -> None:
    fire = bloom_fire.measure(600, tmp_path) if thorough else bloom_fire.measure(3, tmp_path, phase=3)
    assert fire.disturbed > 0 and fire.undisturbed > 0
    assert fire.memory < 300
    assert fire.victim <= 3 * max(fire.forged, 18)
    assert fire.garbage["unknown channel"] > 0 and fire.garbage["wrong width"] > 0


def test_whoever_is_no_peer_is_not_read(tmp_path: Path) -> None:
    fire = bloom_fire.measure(2, tmp_path, phase=2, peers=True)
    assert fire.disturbed > 0
    assert (fire.victim, fire.forged) == (0, 0)
    assert fire.garbage["not a peer"] > 0


def test_nothing_acknowledged_is_lost_by_kills(tmp_path: Path, thorough: bool) -> None:
    kills = 1_000 if thorough else 8
    found = bloom_kills.measure(kills, tmp_path)
    assert (found.kills, found.lost) == (kills, 0)
    assert found.acknowledged > 0
