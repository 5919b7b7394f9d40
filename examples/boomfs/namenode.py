"""The NameNode of BOOM-FS as programs to check: the classes that ``boomfs namenode`` runs, and their clients.

Ann and bob change a small tree, and look at it.  Each asks for one thing at a time, and asks again, with the
number that the request had, until it is answered: another NameNode if there are several, or where it is sent.
What they see must be what one tree would have shown to them, with each request done once, between the question
and the answer (linearizability).

With a short script, and bounds, for ``clew check``:

- ``restarts``, ``losses``: one NameNode that restarts at any time with what is on its disk, or whose messages are
  lost and repeated.  Certified by ``--strategy exhaustive``.
- ``forgetful``: one whose answers are in memory only.  After a restart, it takes a repeated request for a new one.
- ``remembering``: the same request and the same faults with answers on disk, where they do no harm.

At random, for ``clew fuzz``, with all of these faults at once:

- ``alone``: one NameNode
- ``group``: three of them, which agree on the order of changes by Multipaxos
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any, cast

from clew.bloom import table
from clew.bloom.simulated import bloom_node, message_type, row_messages
from clew.boomfs.namenode.node import NameNode
from clew.boomfs.namenode.replicated import ReplicatedNameNode
from clew.histories import Operation, Outcome, Recorder, history_of, linearizable
from clew.simulation import (
    Context,
    Elapse,
    External,
    Faults,
    Node,
    Restart,
    Scenario,
    Send,
    VirtualTime,
    World,
)

GROUP = ("x", "y", "z")
#: A tree as a set of paths with whether each is a folder.
Tree = frozenset[tuple[str, bool]]


class Forgetful(NameNode):
    """Has the tree on disk, and the answers to its clients in memory."""

    answered = table("session", val=["number", "ok", "result", "time"])


# -- what a tree is ----------------------------------------------------------------------------------------------


class TreeOfFiles:
    """One tree, and what each request does to it, apart from the rules of the NameNode."""

    initial: Tree = frozenset({("/", True)})
    functions = ("create", "mkdir", "remove", "rename", "ls")
    reads = frozenset({"ls"})
    by_process = False

    def step(self, tree: Tree, op: Operation) -> list[Tree] | None:
        path, arg = cast("tuple[str, Any]", op.argument)
        after, answer = apply(dict(tree), op.function, path, arg)
        if op.outcome is Outcome.UNKNOWN:
            return [frozenset(after.items())]
        return [frozenset(after.items())] if answer == op.result else None


def apply(tree: dict[str, bool], command: str, path: str, arg: Any) -> tuple[dict[str, bool], Any]:
    """Return the tree after a request, and what its client is told."""
    folder = tree.get(parent(path))
    below = [other for other in tree if other.startswith(path + "/")]
    match command:
        case "ls" if path not in tree:
            return tree, "ENOENT"
        case "ls":
            names = sorted(other for other in tree if other != "/" and parent(other) == path)
            return tree, tuple(name.rpartition("/")[2] for name in names) if tree[path] else "ENOTDIR"
        case "create" | "mkdir" if path in tree:
            is_there = command == "mkdir" and tree[path]
            return tree, "ok" if is_there else "EISDIR" if tree[path] and command == "create" else "EEXIST"
        case "create" | "mkdir" if not folder:
            return tree, "ENOENT" if folder is None else "ENOTDIR"
        case "create" | "mkdir":
            return {**tree, path: command == "mkdir"}, "ok"
        case "remove" if path not in tree:
            return tree, "ENOENT"
        case "remove" if below:
            return tree, "ENOTEMPTY"
        case "remove":
            return {other: is_dir for other, is_dir in tree.items() if other != path}, "ok"
        case _:
            return rename(tree, path, arg, below)


def rename(tree: dict[str, bool], path: str, to: str, below: list[str]) -> tuple[dict[str, bool], Any]:
    if path not in tree:
        return tree, "ENOENT"
    if to.startswith(path + "/"):
        return tree, "EINVAL"
    if not tree.get(parent(to)):
        return tree, "ENOENT" if parent(to) not in tree else "ENOTDIR"
    if to in tree and to != path and (tree[to] or tree[path]):
        return tree, "ENOTDIR" if not tree[to] else "EEXIST" if tree[path] else "EISDIR"
    moved = {to + other[len(path) :]: tree[other] for other in [path, *below]}
    return {other: is_dir for other, is_dir in tree.items() if other not in [path, *below]} | moved, "ok"


def parent(path: str) -> str:
    return path.rpartition("/")[0] or "/"


# -- who asks ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Do:
    """From outside: a client is to ask for something."""

    client: str
    command: str
    path: str
    arg: Any = None

    @property
    def label(self) -> str:
        return f"{self.client}: {self.command} {self.path}" + (f" {self.arg}" if self.command == "rename" else "")


@dataclass
class Open:
    """A request without an answer."""

    number: int
    do: Do
    target: int


class Clients(Node):
    """All in one node: what one of them does after another is answered is then really after it."""

    def __init__(self, namenodes: tuple[str, ...]) -> None:
        self.namenodes = namenodes
        self.history = Recorder()
        self.numbers: dict[str, int] = {}
        self.open: dict[str, Open] = {}

    def on_start(self, ctx: Context) -> None:
        ctx.set_timer("again", 0.5)

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        if isinstance(message, Do):
            if message.client not in self.open:
                self._begin(ctx, message)
            return
        _, session, number, *rest = message.row
        asked = self.open.get(session)
        if asked is None or asked.number != number:
            return
        if message.collection == "elsewhere":
            asked.target = self.namenodes.index(rest[0])
            self._ask(ctx, asked)
        else:
            del self.open[session]
            _, _, ok, result, _ = rest
            self.history.ok(session, see(asked.do.command, ok, result))

    def on_timer(self, ctx: Context, name: str) -> None:
        ctx.set_timer("again", 0.5)
        for client in sorted(self.open):
            self.open[client].target += 1
            self._ask(ctx, self.open[client])

    def _begin(self, ctx: Context, do: Do) -> None:
        number = self.numbers[do.client] = self.numbers.get(do.client, 0) + 1
        self.history.invoke(do.client, do.command, (do.path, do.arg))
        self.open[do.client] = Open(number, do, number)
        self._ask(ctx, self.open[do.client])

    def _ask(self, ctx: Context, asked: Open) -> None:
        where = self.namenodes[asked.target % len(self.namenodes)]
        do = asked.do
        row = (where, ctx.me, do.client, asked.number, do.command, do.path, do.arg)
        ctx.send(where, message_type("request")(row))


def see(command: str, ok: bool, result: Any) -> Any:
    """Return what of an answer is compared: not numbers and times."""
    if not ok:
        return result
    return tuple(sorted(entry[0] for entry in result)) if command == "ls" else "ok"


def answers_like_one_tree(nodes: Mapping[str, Any]) -> str | None:
    """Check that what the clients saw is linearizable."""
    return linearizable(history_of(nodes), TreeOfFiles())


def namenodes_have_one_tree(nodes: Mapping[str, Any]) -> str | None:
    """Check that NameNodes that have applied as many changes have the same files."""
    known: dict[int, tuple[str, Any]] = {}
    for name in GROUP:
        if name in nodes:
            files = sorted(tuple(row)[:4] for row in nodes[name].file)
            for row in nodes[name].last:
                other, first = known.setdefault(row.seq, (name, files))
                if first != files:
                    return f"after change {row.seq}, {other} has {first} and {name} has {files}"
    return None


# -- scenarios ---------------------------------------------------------------------------------------------------


def do(random: Random, world: World) -> External:
    command = random.choice(("create", "create", "mkdir", "remove", "rename", "ls"))
    arg = {"create": False, "remove": False, "rename": draw_path(random)}.get(command)
    return Send("clients", Do(random.choice(("ann", "bob")), command, draw_path(random, command == "ls"), arg))


def draw_path(random: Random, root: bool = False) -> str:
    return "/" if root and random.random() < 0.5 else random.choice(("/a", "/b", "/a/b", "/b/a"))


def restart(names: tuple[str, ...], random: Random, world: World) -> External:
    return Restart(random.choice(names))


def nodes_of(kind: Callable[..., Any], names: tuple[str, ...]) -> dict[str, Callable[[], Node]]:
    return {
        **{name: bloom_node(lambda me: kind(me, cluster=[names])) for name in names},
        "clients": partial(Clients, names),
    }


def fuzzed(kind: Callable[..., Any], names: tuple[str, ...]) -> Scenario:
    nodes = nodes_of(kind, names)
    return Scenario(
        nodes=nodes,
        running=tuple(nodes),
        events=[(6, do), (2, partial(restart, names))],
        count=30,
        invariants=[answers_like_one_tree, namenodes_have_one_tree],
        messages=row_messages(kind, names[0]),
        timers=0.2,
        rare={"sweep": 0.1, "again": 0.3},
        loss=0.05,
        duplication=0.05,
        steps=700,
        check_every=20,
        step_seconds=60,
    )


def scripted(
    kind: Callable[..., Any], script: Sequence[Do | Elapse], until: float, faults: Faults
) -> Scenario:
    nodes = nodes_of(kind, ("x",))
    asked = Counter(each.client for each in script if isinstance(each, Do))

    def nothing_is_forgotten(nodes: Mapping[str, Any]) -> bool:
        """Tell whether the clients know what they have seen: they have it in memory, and restart, too."""
        return "clients" in nodes and nodes["clients"].numbers == asked

    return Scenario(
        nodes=nodes,
        running=tuple(nodes),
        before=[Elapse(0.3), *(Send("clients", each) if isinstance(each, Do) else each for each in script)],
        promises=[answers_like_one_tree],
        assume=nothing_is_forgotten,
        messages=row_messages(kind, "x"),
        time=VirtualTime(latency=0.01, until=until),
        step_seconds=60,
        faults=faults,
    )


SCRIPT: Sequence[Do | Elapse] = [
    Do("ann", "mkdir", "/a"),
    Do("bob", "create", "/a/b", False),
    Elapse(0.3),
    Do("ann", "rename", "/a/b", "/b"),
    Elapse(0.6),
    Do("bob", "ls", "/"),
]
restarts = scripted(NameNode, SCRIPT, 3.0, Faults(losses=0, crashes=0, restarts=1, outages=(0.2,)))
losses = scripted(NameNode, SCRIPT, 3.0, Faults(losses=1, crashes=0, duplicates=1))
CREATED = [Do("ann", "create", "/a", False)]
#: Two faults: the answer is lost, and before it is asked for again, so is what the NameNode remembers.
TWO_FAULTS = Faults(losses=1, crashes=0, restarts=1, outages=(0.05,))
forgetful = scripted(Forgetful, CREATED, 1.3, TWO_FAULTS)
#: The same with answers on disk.
remembering = scripted(NameNode, CREATED, 1.3, TWO_FAULTS)
alone = fuzzed(NameNode, ("x",))
group = fuzzed(ReplicatedNameNode, GROUP)
