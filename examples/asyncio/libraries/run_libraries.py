"""Run libraries on asyncio from PyPI in Clew's world, as they are installed, and look at what they do there.

    python examples/asyncio/libraries/run_libraries.py             # all: a process for each of three hash seeds
    python examples/asyncio/libraries/run_libraries.py with_redis  # one

Of each: the promises of its scenario are kept; the recording has the same bytes under three PYTHONHASHSEEDs; no
socket of the machine is connected, bound or sent to, no name is looked up, and no process begun (Python's audit
events say so); nothing is written to standard error, and no thread is left.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).parent
HASH_SEEDS = ("0", "1", "4711")
#: What would leave the simulation, by the names of Python's audit events.
ESCAPES = (
    *("socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo"),
    *("socket.gethostbyname", "subprocess.Popen", "os.fork", "os.posix_spawn", "os.system"),
)


@dataclass(frozen=True)
class Library:
    """A scenario, and the packages that it is about."""

    scenario: str
    packages: tuple[str, ...]

    @property
    def name(self) -> str:
        return ", ".join(f"{package} {version(package)}" for package in self.packages)


LIBRARIES = {
    "kademlia": Library("../kademlia_scenarios.py:put_and_get", ("kademlia", "rpcudp")),
    "with_aiohttp": Library("with_aiohttp.py:scenario", ("aiohttp",)),
    "with_websockets": Library("with_websockets.py:scenario", ("websockets",)),
    "with_nats": Library("with_nats.py:scenario", ("nats-py",)),
    "with_redis": Library("with_redis.py:scenario", ("redis",)),
    "with_uvicorn": Library("with_uvicorn.py:scenario", ("httpx", "uvicorn", "starlette", "anyio")),
    "with_tornado": Library("with_tornado.py:scenario", ("tornado",)),
}


@dataclass(frozen=True)
class Seen:
    """One run of a scenario: what it came to, and what it did to the machine that it must not."""

    answer: str
    deliveries: int
    recording: str
    escapes: tuple[str, ...]
    threads: tuple[str, ...]


def look(scenario: str) -> Seen:
    """Run a scenario without faults in this process, and watch it."""
    import clew
    from clew.simulation.recordings.recording import write_recording

    escapes: list[str] = []
    watching = True

    def watch(event: str, given: tuple[object, ...]) -> None:
        if watching and event in ESCAPES:
            escapes.append(f"{event}{given!r}")

    sys.addaudithook(watch)
    run = clew.run_scenario(scenario, in_process=True)
    watching = False
    threads = tuple(thread.name for thread in threading.enumerate() if thread is not threading.main_thread())
    digest = hashlib.sha256(write_recording(run.recording).encode()).hexdigest()
    return Seen(run.answer.value, run.recording.deliveries, digest, tuple(escapes), threads)


def look_in_process(library: Library, hash_seed: str) -> tuple[Seen | None, str]:
    """Do so in a process with this hash seed; return what was seen, and what it wrote to standard error.

    Nothing is seen if it ends with an error.
    """
    command = [sys.executable, "-X", "dev", __file__, "--look", str(HERE / library.scenario)]
    surroundings = {**os.environ, "PYTHONHASHSEED": hash_seed}
    done = subprocess.run(command, env=surroundings, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None, done.stderr or f"ended with {done.returncode}"
    seen = json.loads(done.stdout)
    return Seen(**{**seen, "escapes": tuple(seen["escapes"]), "threads": tuple(seen["threads"])}), done.stderr


def judge(library: Library) -> list[str]:
    """Return what is wrong with a library, or rather with the world it ran in."""
    looks = [look_in_process(library, hash_seed) for hash_seed in HASH_SEEDS]
    wrong = []
    for hash_seed, (seen, errors) in zip(HASH_SEEDS, looks, strict=True):
        under = f"PYTHONHASHSEED={hash_seed}"
        wrong += [f"{under}: standard error: {errors.strip()}"] * bool(errors.strip())
        if seen is None:
            continue
        wrong += [f"{under}: {seen.answer}"] * (seen.answer != "holds")
        wrong += [f"{under}: left the simulation: {escape}" for escape in seen.escapes]
        wrong += [f"{under}: a thread is left: {thread}" for thread in seen.threads]
    whole = [seen for seen, _ in looks if seen is not None]
    digests = {seen.recording for seen in whole}
    wrong += [f"{len(digests)} different recordings"] * (len(digests) > 1)
    deliveries = f"{whole[0].deliveries} deliveries" if whole else ""
    print(f"{'FAILED' if wrong else 'ok    '} {library.name:60} {deliveries}", flush=True)
    for line in wrong:
        print(f"       {line}")
    return wrong


def main() -> int:
    if sys.argv[1:2] == ["--look"]:
        seen = look(sys.argv[2])
        print(json.dumps(vars(seen)))
        return 0
    wanted = sys.argv[1:] or list(LIBRARIES)
    print(f"Python {sys.version.split()[0]}; each under PYTHONHASHSEED {', '.join(HASH_SEEDS)}")
    failed = [name for name in wanted if judge(LIBRARIES[name])]
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
