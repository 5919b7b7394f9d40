"""Raft, the consensus protocol, as a node of a simulation; with seven bugs that can be switched on.

A cluster keeps one log of commands.  Time is divided into terms; in each term at most one node leads.

*Elections.*  A follower whose election timer goes off becomes a candidate: it enters the next term, votes for
itself and asks the others (``RequestVote``).  A node gives one vote a term, and only to a candidate whose log is
at least as up to date as its own.  A candidate with the votes of a majority leads.  Whoever sees a later term than
its own enters it and follows.  -> ``_stand``, ``_on_request_vote``, ``_on_vote``, ``_enter``, ``_follow``

*Replication.*  Only the leader appends to the log.  It sends each follower everything from the follower's
``next_index`` on (``AppendEntries``) together with index and term of the entry before.  A follower that does not
have that entry refuses, and the leader goes back; otherwise it takes the entries over, in place of any of its own
that contradict them.  -> ``_replicate``, ``_on_append_entries``, ``_on_append_reply``

*Commitment.*  An entry of the leader's own term that a majority has is committed, and with it all before it.  A
new leader begins with an empty entry, so that older ones need not wait for a command.  -> ``_advance_commit``

*Clients.*  A command can go to any node.  A follower passes it on to the leader it knows; a node that knows none
drops it, and the client would have to ask again.  -> ``_on_client_command``

*Timers.*  ``election`` is set at all nodes but the leader.  ``retry`` is set at candidates, which ask those again
who have not answered, and at the leader, which sends again what is not acknowledged: this is its heartbeat, too.
A timer that is set can go off at any time: to start it anew when the leader is heard from would change nothing.

*Membership* is fixed: ``Bootstrap`` tells a node who is in the cluster.  Before it a node is silent; after it,
what comes from a node that is not a member is ignored.

The log begins at index 1; ``log[0]`` stands for "nothing before".  Term, vote, log and members are durable, each
entry under its index.  ``won`` and ``commit_term`` are there for the invariants only, and a restart loses them.

Each bug is one switch at one place, marked "Bug": see ``BUGS``.  Without any this is Raft.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from clew.simulation import Context, Node

#: By the number of the issue that reported it to akka-raft.
BUGS = {
    "45": "votes are counted, not voters",
    "46": "a candidate does not look at the term of a vote",
    "56": "a candidate that steps down forgets the vote it gave in that term",
    "58a": "a leader initialises its bookkeeping by a message to itself, and commands can come first",
    "58b": "the log begins at 0, so that the entry before the second one cannot be told from none",
    "42": "the commit index is the most frequent of the acknowledged indexes, not the middle one",
    "66": "a follower replaces all that follows, also by entries that it has already",
}

#: Term and command.
Entry = tuple[int, str]

#: The command of the entry with which a leader begins.
NOTHING = ""

FOLLOWER, CANDIDATE, LEADER = "follower", "candidate", "leader"


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """From outside: these are the members of the cluster."""

    members: frozenset[str]


@dataclass(frozen=True, slots=True)
class ClientCommand:
    """From outside, or passed on by a follower."""

    value: str


@dataclass(frozen=True, slots=True)
class RequestVote:
    """``last_index`` and ``last_term`` are those of the last entry of the candidate's log."""

    term: int
    last_index: int
    last_term: int


@dataclass(frozen=True, slots=True)
class Vote:
    term: int
    granted: bool


@dataclass(frozen=True, slots=True)
class AppendEntries:
    """``entries`` follow the entry at ``prev_index``, which is of ``prev_term``; without any it is a heartbeat."""

    term: int
    prev_index: int
    prev_term: int
    entries: tuple[Entry, ...]
    commit_index: int


@dataclass(frozen=True, slots=True)
class AppendReply:
    """``index``: up to here the logs are the same; or, without success, they may be."""

    term: int
    success: bool
    index: int


@dataclass(frozen=True, slots=True)
class TakeOffice:
    """To oneself, after the election of that term was won (bug 58a only)."""

    term: int


class Raft(Node):
    """``bugs`` are keys of ``BUGS``."""

    def __init__(self, bugs: frozenset[str] = frozenset()) -> None:
        self.bugs = bugs
        self.members: frozenset[str] = frozenset()
        self.peers: tuple[str, ...] = ()
        self.quorum = 0
        self.role = FOLLOWER
        self.leader = ""
        self.term = 0
        self.vote = ""
        self.log: list[Entry] = [(0, NOTHING)]
        self.commit_index = 0
        #: The committed entries in the order in which they were applied, after one for "nothing before".
        self.applied: list[Entry] = [(0, NOTHING)]
        #: Of a candidate: who voted for it, and who answered at all.
        self.votes: list[str] = []
        self.answered: list[str] = []
        #: Of a leader, by peer: where to send from, and up to where the logs are known to be the same.
        self.next_index: dict[str, int] = {}
        self.match_index: dict[str, int] = {}
        #: For the invariants: the terms of the elections it won, and the term in which it last saw a commitment.
        self.won: set[int] = set()
        self.commit_term = 0

    # -- events --------------------------------------------------------------------------------------------------

    def on_start(self, ctx: Context) -> None:
        durable = ctx.durable
        self.term, self.vote = durable.get("vote", (0, ""))
        while len(self.log) in durable:
            self.log.append(durable[len(self.log)])
        if "members" in durable:
            self._join(ctx, durable["members"])

    def on_message(self, ctx: Context, sender: str, message: Any) -> None:
        if not self.members:
            if type(message) is Bootstrap and ctx.me in message.members:
                ctx.durable["members"] = message.members
                self._join(ctx, message.members)
        elif not sender or sender in self.members:
            handler = _HANDLERS.get(type(message))
            if handler is not None:
                handler(self, ctx, sender, message)

    def on_timer(self, ctx: Context, name: str) -> None:
        if name == "election":
            self._stand(ctx)
            return
        if self.role == LEADER:
            self._replicate(ctx)
        else:
            self._ask(ctx)
        self.arm(ctx, "retry")

    def arm(self, ctx: Context, name: str) -> None:
        """Set a timer.  In any order it has no duration; ``raft_timed.py`` has some."""
        ctx.set_timer(name)

    # -- terms and roles -----------------------------------------------------------------------------------------

    def _join(self, ctx: Context, members: frozenset[str]) -> None:
        self.members = members
        self.peers = tuple(sorted(members - {ctx.me}))
        self.quorum = len(members) // 2 + 1
        self._forget_office()
        self.arm(ctx, "election")

    def _enter(self, ctx: Context, term: int, vote: str = "") -> None:
        """A new term has begun, and it is known to whom this node gives its vote, or not yet."""
        self.term = term
        self.leader = ""
        self._vote_for(ctx, vote)

    def _vote_for(self, ctx: Context, candidate: str) -> None:
        self.vote = candidate
        ctx.durable["vote"] = (self.term, candidate)

    def _follow(self, ctx: Context) -> None:
        """Be a follower from now on, in the present term."""
        if self.role == CANDIDATE and "56" in self.bugs:
            # Bug 56: the vote is not taken along into the new role.
            self._vote_for(ctx, "")
        if self.role == LEADER:
            self._forget_office()
        self.role = FOLLOWER
        ctx.cancel_timer("retry")
        self.arm(ctx, "election")

    # -- elections -----------------------------------------------------------------------------------------------

    def _stand(self, ctx: Context) -> None:
        """Be a candidate in the next term."""
        self.role = CANDIDATE
        self._enter(ctx, self.term + 1, ctx.me)
        self.votes = [ctx.me]
        self.answered = []
        self.arm(ctx, "election")
        self.arm(ctx, "retry")
        self._ask(ctx)
        self._count_votes(ctx)

    def _ask(self, ctx: Context) -> None:
        request = RequestVote(self.term, len(self.log) - 1, self.log[-1][0])
        for peer in self.peers:
            if peer not in self.answered:
                ctx.send(peer, request)

    def _on_request_vote(self, ctx: Context, sender: str, message: RequestVote) -> None:
        later = message.term > self.term
        if later:
            self._enter(ctx, message.term)
        granted = message.term == self.term and self.vote in ("", sender) and self._is_up_to_date(message)
        if granted and not self.vote:
            self._vote_for(ctx, sender)
        if later:
            self._follow(ctx)
        ctx.send(sender, Vote(self.term, granted))

    def _is_up_to_date(self, message: RequestVote) -> bool:
        return (message.last_term, message.last_index) >= (self.log[-1][0], len(self.log) - 1)

    def _on_vote(self, ctx: Context, sender: str, message: Vote) -> None:
        if message.term > self.term:
            self._enter(ctx, message.term)
            self._follow(ctx)
        elif self.role == CANDIDATE and (message.term == self.term or "46" in self.bugs):
            # Bug 46: a vote of an earlier term counts as well.
            self.answered.append(sender)
            # Bug 45: a second vote of the same node counts as well.
            if message.granted and (sender not in self.votes or "45" in self.bugs):
                self.votes.append(sender)
                self._count_votes(ctx)

    def _count_votes(self, ctx: Context) -> None:
        if len(self.votes) < self.quorum:
            return
        ctx.log(f"leads in term {self.term}")
        self.role = LEADER
        self.leader = ctx.me
        self.won.add(self.term)
        ctx.cancel_timer("election")
        if "58a" in self.bugs:
            # Bug 58a: it is leader already, and whatever comes before this message meets no bookkeeping.
            ctx.send(ctx.me, TakeOffice(self.term))
        else:
            self._take_office(ctx)

    # -- the leader ----------------------------------------------------------------------------------------------

    def _on_take_office(self, ctx: Context, sender: str, message: TakeOffice) -> None:
        if self.role == LEADER and message.term == self.term:
            self._take_office(ctx)

    def _take_office(self, ctx: Context) -> None:
        """Nothing is known of the followers' logs: begin at the end of one's own, with an empty entry."""
        assert self.applied[-1][0] < self.term, "an entry of this term was committed before the leader was ready"
        self.next_index = dict.fromkeys(self.peers, len(self.log))
        self.match_index = dict.fromkeys(self.peers, 0)
        self.arm(ctx, "retry")
        self._append(ctx, NOTHING)

    def _forget_office(self) -> None:
        self.next_index = dict.fromkeys(self.peers, 1)
        self.match_index = dict.fromkeys(self.peers, 0)

    def _on_client_command(self, ctx: Context, sender: str, message: ClientCommand) -> None:
        if self.role == LEADER:
            self._append(ctx, message.value)
        elif self.leader:
            ctx.send(self.leader, message)

    def _append(self, ctx: Context, value: str) -> None:
        entry = (self.term, value)
        ctx.durable[len(self.log)] = entry
        self.log.append(entry)
        self._replicate(ctx)
        if not self.peers:
            self._advance_commit()

    def _replicate(self, ctx: Context) -> None:
        """Send each follower all that it is not known to have."""
        message, built_for = None, 0
        for peer, next_index in self.next_index.items():
            if next_index != built_for:
                message, built_for = self._entries_from(next_index), next_index
            ctx.send(peer, message)

    def _entries_from(self, index: int) -> AppendEntries:
        log = self.log
        return AppendEntries(self.term, index - 1, log[index - 1][0], tuple(log[index:]), self.commit_index)

    def _on_append_reply(self, ctx: Context, sender: str, message: AppendReply) -> None:
        if message.term > self.term:
            self._enter(ctx, message.term)
            self._follow(ctx)
        elif self.role == LEADER and message.term == self.term:
            index, known = message.index, self.match_index[sender]
            if not message.success:
                # What is known to match is never taken back, and an old answer takes nothing back twice.
                index = max(index, known)
                if index + 1 < self.next_index[sender]:
                    self.next_index[sender] = index + 1
                    ctx.send(sender, self._entries_from(index + 1))
            elif index > known:
                self.match_index[sender] = index
                self.next_index[sender] = index + 1
                self._advance_commit()

    def _advance_commit(self) -> None:
        indexes = sorted((*self.match_index.values(), len(self.log) - 1))
        index = indexes[-self.quorum]
        if "42" in self.bugs:
            # Bug 42: the mode; the largest, if several are as frequent.
            index = max(indexes, key=lambda index: (indexes.count(index), index))
        if index > self.commit_index and self.log[index][0] == self.term:
            self._commit(index)

    # -- the log -------------------------------------------------------------------------------------------------

    def _on_append_entries(self, ctx: Context, sender: str, message: AppendEntries) -> None:
        if message.term < self.term:
            ctx.send(sender, AppendReply(self.term, False, 0))
            return
        if message.term > self.term:
            self._enter(ctx, message.term)
            self._follow(ctx)
        elif self.role == CANDIDATE:
            self._follow(ctx)
        self.leader = sender
        prev = message.prev_index
        if not self._has(prev, message.prev_term):
            ctx.send(sender, AppendReply(self.term, False, min(prev, len(self.log)) - 1))
            return
        if message.entries:
            self._take_over(ctx, prev, message.entries)
        same = prev + len(message.entries)
        commit = min(message.commit_index, same)
        if commit > self.commit_index:
            self._commit(commit)
        ctx.send(sender, AppendReply(self.term, True, same))

    def _has(self, index: int, term: int) -> bool:
        if index <= 1 and "58b" in self.bugs:
            # Bug 58b: counted from 0, index 1 is number 0, and that is also what stands for "nothing before".
            return True
        return index < len(self.log) and self.log[index][0] == term

    def _take_over(self, ctx: Context, prev: int, entries: tuple[Entry, ...]) -> None:
        log = self.log
        if "66" in self.bugs:
            # Bug 66: what comes after may have come with a later message, and been acknowledged.
            self._truncate(ctx, prev + 1)
        for index, entry in enumerate(entries, prev + 1):
            if index < len(log):
                if log[index][0] == entry[0]:
                    continue
                self._truncate(ctx, index)
            ctx.durable[len(log)] = entry
            log.append(entry)

    def _truncate(self, ctx: Context, length: int) -> None:
        while len(self.log) > length:
            self.log.pop()
            del ctx.durable[len(self.log)]

    def _commit(self, index: int) -> None:
        self.applied += self.log[len(self.applied) : index + 1]
        self.commit_index = len(self.applied) - 1
        self.commit_term = self.term


_HANDLERS: dict[type, Any] = {
    ClientCommand: Raft._on_client_command,
    RequestVote: Raft._on_request_vote,
    Vote: Raft._on_vote,
    AppendEntries: Raft._on_append_entries,
    AppendReply: Raft._on_append_reply,
    TakeOffice: Raft._on_take_office,
}
