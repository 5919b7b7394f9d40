"""A ZooKeeper of its own for a test: on loopback, on a free port, with its data in a folder of the test."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

JARS = Path(os.environ.get("ZOOKEEPER_JARS", "/usr/share/java"))
#: How the names of those begin that the server needs.
_NEEDED = ("zookeeper", "slf4j-api", "slf4j-simple", "netty", "jackson", "commons", "metrics-core", "snappy")
_SERVER = "org.apache.zookeeper.server.quorum.QuorumPeerMain"


def why_skipped() -> str | None:
    """What is missing and how to get it; None if all is there."""
    if shutil.which("java") is None or not (JARS / "zookeeper.jar").exists():
        return "no ZooKeeper: on Debian: apt-get install libzookeeper-java default-jre-headless"
    return None


@contextmanager
def zookeeper(folder: Path) -> Iterator[str]:
    """Its address, while it runs."""
    port = _free_port()
    config = folder / "zoo.cfg"
    (folder / "data").mkdir()
    config.write_text(
        f"tickTime=500\ndataDir={folder / 'data'}\nclientPortAddress=127.0.0.1\nclientPort={port}\n"
        "admin.enableServer=false\n",
        encoding="utf-8",
    )
    jars = [str(jar) for jar in sorted(JARS.glob("*.jar")) if jar.name.startswith(_NEEDED)]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            ["java", "-Xmx128m", "-cp", ":".join(jars), _SERVER, config],
            cwd=folder,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        _wait_for(port, server, folder / "log")
        yield f"127.0.0.1:{port}"
    finally:
        server.kill()
        server.wait()


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def _wait_for(port: int, server: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            assert server.poll() is None, log.read_text(encoding="utf-8", errors="replace")
            time.sleep(0.1)
    raise AssertionError(f"ZooKeeper does not listen: {log.read_text(encoding='utf-8', errors='replace')}")
