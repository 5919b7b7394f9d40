"""Multipaxos: a log that nodes agree on although some of them stop, restart, and come back.

``Multipaxos`` is the module that others mix in or import under a name; ``Replica`` is one that serves clients
on the network, and ``Client`` one of these.  Each file adds one thing to the one before: ``views`` (who leads),
``votes`` (one decree for each instance), ``log`` (the decrees in sequence), ``sessions`` (requests that are
repeated), ``batches``, ``catching_up``, ``snapshots``, ``election``, and ``rejoining`` (of a node without its
disk).  See docs/multipaxos.md.
"""

from clew.multipaxos.clients import Client, ClientMessages
from clew.multipaxos.replicas import Multipaxos, Replica

__all__ = ["Client", "ClientMessages", "Multipaxos", "Replica"]
