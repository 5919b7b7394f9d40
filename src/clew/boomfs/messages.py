"""The messages of the three control protocols: metadata, heartbeats, and commands to DataNodes.

Every row names who it is for in the column with ``@``.  A request is told from others by the session and the
number in it; its answer comes as one or more pages, so that a large folder fits the rows of the network.
"""

from __future__ import annotations

from clew.bloom import Bloom, channel

#: What a NameNode answers from what it has.
READS = frozenset({"stat", "ls", "chunks", "locations", "status", "lost", "cluster"})
#: What changes the file system, and takes effect in one order for everybody.
CHANGES = frozenset({"create", "mkdir", "remove", "rename", "add_chunk", "seal", "abandon"})


class MetadataMessages(Bloom):
    """``command``, ``path`` and ``arg`` say what is asked; ``result`` is what came of it, or why it failed."""

    request = channel("@namenode", "client", "session", "number", "command", "path", "arg")
    #: Not this NameNode, but another one of the partition leads.
    elsewhere = channel("@client", "session", "number", "leader")
    #: ``at``: the latest change that it has seen, so that nobody puts pages of two answers together.
    response = channel("@client", "session", "number", "page", "pages", "ok", "result", "at")


class DataNodeMessages(Bloom):
    """``chunk`` numbers are unique within a ``partition``.  ``data``: where the DataNode serves bytes."""

    heartbeat = channel("@namenode", "addr", "number", "data", "free", "pages")
    ask_page = channel("@datanode", "namenode", "partition", "page")
    page_report = channel("@namenode", "addr", "page", "digest", "chunks")
    copy_command = channel("@datanode", "partition", "chunk", "length", "target")
    drop_command = channel("@datanode", "partition", "chunk")
