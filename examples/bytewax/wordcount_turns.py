"""The service that orders commits: whose turn it is, for workers that commit batches one after another.

Storm keeps this in ZooKeeper.  Here it is a thread of the process that starts the workers, and outlives each of
them; workers ask it over a socket, as they would ask ZooKeeper.
"""

from __future__ import annotations

import socket
import socketserver
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

#: A question is a word and two short names.
_LONGEST = 200


class Turns:
    """A worker's connection to the service; ``address`` is ``host:port``."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._socket = socket.create_connection((host, int(port)))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._answers = self._socket.makefile("rb")

    def turn(self) -> int:
        """Return the batch whose turn it is: those before it are committed, in all buckets."""
        return self._ask("turn")

    def commit(self, bucket: str, batch: int) -> None:
        """Say that a bucket has committed a batch."""
        self._ask(f"commit {bucket} {batch}")

    def close(self) -> None:
        """Hang up."""
        self._answers.close()
        self._socket.close()

    def _ask(self, question: str) -> int:
        self._socket.sendall(f"{question}\n".encode())
        answer = self._answers.readline(_LONGEST)
        if not answer:
            raise ConnectionError("the service that orders commits is gone")
        return int(answer)


class _Service(socketserver.ThreadingTCPServer):
    """Knows the next batch of each bucket."""

    daemon_threads = True

    def __init__(self, buckets: Sequence[str]) -> None:
        super().__init__(("127.0.0.1", 0), _Connection)
        self.next = dict.fromkeys(buckets, 0)
        self.lock = threading.Lock()

    def answer(self, question: Sequence[str]) -> int:
        """Note a commit, if it is one, and return whose turn it is."""
        with self.lock:
            match question:
                case ["commit", bucket, batch]:
                    # A bucket that was restored commits again what it had committed.
                    self.next[bucket] = max(self.next[bucket], int(batch) + 1)
            return min(self.next.values())


class _Connection(socketserver.StreamRequestHandler):
    """Answers one worker until it hangs up."""

    disable_nagle_algorithm = True

    def handle(self) -> None:
        """Answer each line with the turn."""
        assert isinstance(self.server, _Service)
        try:
            while line := self.rfile.readline(_LONGEST):
                self.wfile.write(b"%d\n" % self.server.answer(line.decode().split()))
        except ConnectionError:
            pass  # the worker was killed


@contextmanager
def serve_turns(buckets: Sequence[str]) -> Iterator[str]:
    """Run the service, and give its address."""
    with _Service(buckets) as service:
        thread = threading.Thread(target=service.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield f"127.0.0.1:{service.server_address[1]}"
        finally:
            service.shutdown()
            thread.join()
