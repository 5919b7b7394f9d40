"""Nodes on a real network: sockets, frames, authentication, and tables on disk.

A row that a rule sends goes from ``networked_node`` (the user's object) and ``driver`` (one run: steps, timers,
durable tables) through ``wire`` (rows as bytes) and ``transport`` (which socket) to ``datagrams``, or to
``streams`` if it does not fit one; ``address_proofs`` and ``authentication`` decide whether it may leave.  One
that arrives goes the other way.  ``access`` and ``limits`` hold what the user allows to whom.
"""
