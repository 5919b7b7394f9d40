"""Replicas with one mistake each, which the executions and the oracle must find."""

from __future__ import annotations

from clew.bloom import agg, bloom, scratch, table
from multipaxos.ledger import Ledger


class ForgetsPromises(Ledger):
    """Keeps in memory which view it has promised."""

    promised = table("view")


class ForgetsVotes(Ledger):
    """Keeps its votes in memory."""

    voted = table("instance", "view", val=["decree"])


class ForgetsLog(Ledger):
    """Keeps what is chosen in memory, and deletes its votes for it."""

    chosen = table("instance", val=["decree"])


class ForgetsSessions(Ledger):
    done = table("client", "number", val=["answer"])


class LeadsOn(Ledger):
    """Goes on with a view of an earlier life."""

    @bloom
    def know_views(self) -> None:
        super().know_views()
        self.mine <= self.latest.filter(lambda v: v.view[1] == self.ip_port)


class SharesViews(Ledger):
    """Two candidates may begin the same view."""

    @bloom
    def begin_view(self) -> None:
        self.temp.next_view <= (self.campaign * self.latest).pairs(lambda c, v: ((v.view[0] + 1, "z"),))
        self.promised <+ self.temp.next_view
        self.begun <+ self.temp.next_view
        self.new_view <+ self.temp.next_view


class IgnoresConstraints(Ledger):
    """Proposes nothing, whatever was voted for."""

    @bloom
    def open_view(self) -> None:
        self.temp.opening <= self.quorum.notin(self.opened)
        self.opened <+ self.temp.opening
        self.turn <+ (self.temp.opening * self.horizon).pairs(lambda o, h: (o.view, h.instance))


class TakesAnyConstraint(Ledger):
    """Proposes a vote of the earliest view, not of the latest."""

    @bloom
    def open_view(self) -> None:
        self.temp.opening <= self.quorum.notin(self.opened)
        self.opened <+ self.temp.opening
        self.temp.reports <= (self.temp.opening * self.vouched).rights(view="view")(
            lambda r: (r.view, r.instance, r.old_view, r.decree)
        )
        self.temp.voted <= self.temp.reports.filter(lambda r: r.old_view[0] > 0)
        self.temp.constraints <= self.temp.voted.argmin(["view", "instance"], "old_view")
        self.proposal <= (self.temp.constraints * self.horizon).pairs(
            lambda r, h: (r.view, r.instance, r.decree) if r.instance >= h.instance else None
        )
        self.temp.recovered <= self.temp.reports.group(["view"], last=agg.max("instance"))
        self.turn <+ self.temp.recovered(lambda r: (r.view, r.last + 1))


class TrustsHalfPromises(Ledger):
    """Counts a promise of which votes are still missing."""

    @bloom
    def count_promises(self) -> None:
        super().count_promises()
        self.complete <= self.promises(lambda p: (p.view, p.agent))


class PromisesToTheIgnorant(Ledger):
    """Promises to a candidate that does not know what it has dropped already."""

    @bloom
    def answer_candidates(self) -> None:
        super().answer_candidates()
        self.granted <= (self.prepare * self.latest).pairs(lambda p, v: (p.leader, p.view, p.first), view="view")


class VotesAgainstPromises(Ledger):
    """Votes in an earlier view than it has promised."""

    @bloom
    def cast_vote(self) -> None:
        super().cast_vote()
        self.voted <= self.vote(lambda v: (v.instance, v.view, v.decree))
        self.accept <~ self.vote(lambda v: (v.leader, self.ip_port, v.view, v.instance))


class AnswersBeforeVoting(Ledger):
    """Tells the leader of a vote that is only written after the next step."""

    later_on = scratch("instance", "view", "decree")

    @bloom
    def cast_vote(self) -> None:
        self.promised <= self.vote.project("view")
        self.temp.valid <= (self.vote * self.latest).lefts(view="view")
        self.later_on <+ self.temp.valid(lambda v: (v.instance, v.view, v.decree))
        self.voted <+ self.later_on
        self.accept <~ self.temp.valid(lambda v: (v.leader, self.ip_port, v.view, v.instance))


class TakesAnyVote(Ledger):
    """Takes for chosen what it voted for itself in any view."""

    @bloom
    def learn_chosen(self) -> None:
        self.committed <= self.passed
        self.committed <= self.commit.payloads()
        self.chosen <= (self.committed * self.voted).pairs(
            lambda c, v: (c.instance, v.decree), instance="instance"
        )


class CountsOneVote(Ledger):
    """Is content with half of the votes."""

    @bloom
    def count_votes(self) -> None:
        super().count_votes()
        self.passed <= self.accepts(lambda a: (a.view, a.instance))


class DoesAllTwice(Ledger):
    """Looks at no session when it reads requests."""

    @bloom
    def do_once(self) -> None:
        self.entry <= self.read


class SendsNoSessions(Ledger):
    """Leaves the sessions out of a state."""

    @bloom
    def install_state(self) -> None:
        self.installing <= self.whole.project("instance", "place")
        self.still <= self.installing(lambda i: ("a state is installed",))
        self.new_parts <= (self.pieces * self.whole).lefts(
            instance="instance", place="place", digest="digest"
        ).flat_map(lambda p: [(part,) for part in p.parts])
        self.install <= self.new_parts(lambda n: (n.part[1],) if n.part[0] == "application" else None)
        self.reached <+ self.installing


class InstallsOldStates(Ledger):
    """Installs a state although it has come further since it asked for it."""

    @bloom
    def collect_pieces(self) -> None:
        self.pieces <= self.piece.payloads()
        self.temp.found <= self.pieces.group(["instance", "place", "digest", "count"], found=agg.count("number"))
        self.whole <= self.temp.found(
            lambda f: (f.instance, f.place, f.digest) if f.found == f.count else None
        )
        self.pieces <- (self.pieces * self.whole).lefts(digest="digest")


class InstallsHalfStates(Ledger):
    """Installs a state with its first piece."""

    @bloom
    def install_state(self) -> None:
        super().install_state()
        self.whole <= (self.piece * self.here).pairs(
            lambda p, h: (p.instance, p.place, p.digest)
            if (p.instance, p.place) > (h.instance, h.place)
            else None
        )


class MixesStates(Ledger):
    """Takes the pieces of all states at a position for one state."""

    @bloom
    def cut_up(self) -> None:
        self.piece <~ (self.too_far_behind * self.here * self.all_parts).pairs(
            lambda t, h, a: (t.node, h.instance, h.place, "", 1, 0, (a.part,))
        )


class ForgetsVotesOfOthers(Ledger):
    """Drops votes for instances that it has not seen chosen, when it sweeps."""

    @bloom
    def forget_decrees(self) -> None:
        super().forget_decrees()
        self.voted <- (self.voted * self.sweep).lefts()


class VotesWithoutItsDisk(Ledger):
    """Promises and votes at once when it has lost its disk."""

    @bloom
    def hold_back(self) -> None:
        self.informed <= self.lost(lambda lost: (1,))


MUTANTS = [kind for kind in list(globals().values()) if isinstance(kind, type) and kind.__mro__[1] is Ledger]
