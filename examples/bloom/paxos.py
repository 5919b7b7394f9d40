"""Paxos: nodes agree although some are slow, gone, or each believe to lead (thesis, listings 2.3 to 2.5).

Every node is an agent of the ``parliament`` and can lead.  Time is divided into views; a view is a number and the
node that leads it, so no two nodes lead the same.

*Prepare.*  ``start_view`` begins a view above all that this node knows; the leader asks all agents for a promise.
An agent that knows no later view promises not to vote in earlier ones, and says how it voted last: that is the
constraint of its promise (listing 2.3).  With promises of more than half the agents the view is open (2.4).

*Vote.*  The leader proposes what the promises constrain it to, which is the vote of the latest view among them; if
there is none, the first request in its queue (listing 2.5).  It never proposes two updates in one view.  Agents
vote unless they know a later view.  What more than half of them voted for is chosen, and everybody is told.

``Synod`` agrees on one update.  ``Multipaxos`` agrees on a log of them: a view is prepared once, for all instances
together.  ``ElectedMultipaxos`` starts views by itself, when the failure detector says that this node leads.
Everything is sent again with each row of ``retry`` until it is of no use, so messages may be lost, repeated and
overtaken.  A node that stops must not come back: nothing is kept on disk.
"""

from __future__ import annotations

from heartbeat import LeaderElection

from clew.bloom import Bloom, agg, bloom, channel, interface, lmax, periodic, scratch, table

#: Before all views; nobody leads it and nobody votes in it.
NO_VIEW = (0, "")


class Views(Bloom):
    """The prepare phase, for one decision or for many; who knows what a promise says fills ``promised``."""

    parliament = table("agent")
    start_view = interface.input("why")
    current_view = lmax()
    latest = scratch("view")
    mine = scratch("view")
    new_view = scratch("view")
    prepare = channel("@agent", "leader", "view")
    to_promise = scratch("agent", "leader", "view")
    promised = table("view", "agent")
    agent_cnt = scratch(val=["cnt"])
    promise_cnt = scratch("view", val=["cnt"])
    quorum = scratch("view")
    retry = periodic(1)

    @bloom
    def know_views(self) -> None:
        self.current_view <= [(NO_VIEW,)]
        self.current_view <= self.prepare.project("view")
        self.latest <= self.current_view.elements("view")
        self.mine <= self.latest.filter(lambda v: v.view[1] == self.ip_port)

    @bloom
    def begin_view(self) -> None:
        self.temp.next_view <= (self.start_view * self.latest).rights()(lambda v: ((v.view[0] + 1, self.ip_port),))
        self.current_view <+ self.temp.next_view
        self.new_view <+ self.temp.next_view
        self.prepare <~ (self.new_view * self.parliament).pairs(lambda v, p: (p.agent, self.ip_port, v.view))

    @bloom
    def ask_again(self) -> None:
        self.temp.pending <= self.mine.notin(self.quorum)
        self.temp.asked <= (self.temp.pending * self.retry).lefts()
        self.prepare <~ (self.temp.asked * self.parliament).pairs(lambda v, p: (p.agent, self.ip_port, v.view))

    @bloom
    def hear_prepare(self) -> None:
        self.to_promise <= (self.prepare * self.latest).lefts(view="view")

    @bloom
    def count_promises(self) -> None:
        self.agent_cnt <= self.parliament.group([], agg.count())
        self.promise_cnt <= self.promised.group(["view"], agg.count())
        self.temp.most <= (self.promise_cnt * self.agent_cnt).pairs(
            lambda p, a: (p.view,) if p.cnt * 2 > a.cnt else None
        )
        self.quorum <= (self.temp.most * self.mine).rights(view="view")


class Queue(Bloom):
    """Requests by number; the first one is the next to be proposed."""

    request = interface.input("id", val=["update"])
    requests = table("id", val=["update"])
    top_of_queue = scratch("id", val=["update"])

    @bloom
    def enqueue(self) -> None:
        self.requests <= self.request
        self.top_of_queue <= self.requests.argmin([], "id")


class Synod(Views, Queue):
    promise = channel("@leader", "agent", "view", "old_view", "old_update")
    promises = table("view", "agent", "old_view", "old_update")
    vote = channel("@agent", "leader", "view", val=["update"])
    prev_vote = table("view", val=["update"])
    voted = scratch("agent")
    accept = channel("@leader", "agent", "view", val=["update"])
    accepts = table("view", "agent", val=["update"])
    proposal = scratch("view", val=["update"])
    proposed = table("view", val=["update"])
    passed = scratch("update")
    learn = channel("@agent", "update")
    chosen = table("update")

    @bloom
    def give_promise(self) -> None:
        self.temp.last_vote <= self.prev_vote.argmax([], "view")
        self.promise <~ (self.to_promise * self.temp.last_vote).pairs(
            lambda p, v: (p.leader, p.agent, p.view, v.view, v.update)
        )
        self.voted <= self.prev_vote(lambda v: (self.ip_port,))
        self.promise <~ self.to_promise.notin(self.voted, agent="agent")(
            lambda p: (p.leader, p.agent, p.view, NO_VIEW, None)
        )

    @bloom
    def hear_promise(self) -> None:
        self.promises <= self.promise(lambda p: (p.view, p.agent, p.old_view, p.old_update))
        self.promised <= self.promises(lambda p: (p.view, p.agent))

    @bloom
    def propose(self) -> None:
        self.temp.opened <= self.quorum.notin(self.proposed, view="view")
        self.temp.constraints <= (self.temp.opened * self.promises).rights(view="view").filter(
            lambda p: p.old_view != NO_VIEW
        )
        self.proposal <= self.temp.constraints.argmax(["view"], "old_view")(lambda p: (p.view, p.old_update))
        self.temp.free <= self.temp.opened.notin(self.temp.constraints, view="view")
        self.proposal <= (self.temp.free * self.top_of_queue).pairs(lambda v, r: (v.view, r.update))
        self.proposed <+ self.proposal

    @bloom
    def ask_for_votes(self) -> None:
        self.vote <~ (self.proposal * self.parliament).pairs(
            lambda v, p: (p.agent, self.ip_port, v.view, v.update)
        )
        self.temp.open_vote <= (self.proposed * self.mine).lefts(view="view")
        self.temp.asked_again <= (self.temp.open_vote * self.retry).lefts()
        self.vote <~ (self.temp.asked_again * self.parliament).pairs(
            lambda v, p: (p.agent, self.ip_port, v.view, v.update)
        )

    @bloom
    def cast_vote(self) -> None:
        self.current_view <= self.vote.project("view")
        self.temp.valid <= (self.vote * self.latest).lefts(view="view")
        self.prev_vote <= self.temp.valid(lambda v: (v.view, v.update))
        self.accept <~ self.temp.valid(lambda v: (v.leader, v.agent, v.view, v.update))

    @bloom
    def count_votes(self) -> None:
        self.accepts <= self.accept(lambda a: (a.view, a.agent, a.update))
        self.temp.accept_cnt <= self.accepts.group(["view", "update"], cnt=agg.count())
        self.passed <= (self.temp.accept_cnt * self.agent_cnt).pairs(
            lambda c, a: (c.update,) if c.cnt * 2 > a.cnt else None
        )

    @bloom
    def tell(self) -> None:
        self.temp.news <= self.passed.notin(self.chosen)
        self.learn <~ (self.temp.news * self.parliament).pairs(lambda c, p: (p.agent, c.update))
        self.temp.old_news <= (self.passed * self.retry).lefts()
        self.learn <~ (self.temp.old_news * self.parliament).pairs(lambda c, p: (p.agent, c.update))
        self.chosen <= self.learn(lambda c: (c.update,))


class Multipaxos(Views, Queue):
    """The queue holds an update until it is in the log; the log has it twice if two leaders proposed it."""

    promise = channel("@leader", "agent", "view", "votes")
    promises = table("view", "agent", "votes")
    vote = channel("@agent", "leader", "view", "instance", val=["update"])
    prev_vote = table("view", "instance", val=["update"])
    ever_voted = scratch("agent", val=["votes"])
    accept = channel("@leader", "agent", "view", "instance", val=["update"])
    accepts = table("view", "instance", "agent", val=["update"])
    opened = table("view")
    recovered = scratch("view", "instance", "old_view", "update")
    proposal = scratch("view", "instance", val=["update"])
    proposed = table("view", "instance", val=["update"])
    used = scratch("instance")
    passed = scratch("instance", "update")
    learn = channel("@agent", "instance", "update")
    log = table("instance", "update")

    @bloom
    def give_promise(self) -> None:
        # All votes in one message: a promise of which a part is lost would constrain too little.
        self.ever_voted <= self.prev_vote(lambda v: (self.ip_port, v.view, (v.instance, v.update))).group(
            [0], agg.accum_pair(1, 2)
        )
        self.promise <~ (self.to_promise * self.ever_voted).pairs(
            lambda p, v: (p.leader, p.agent, p.view, v.votes), agent="agent"
        )
        self.promise <~ self.to_promise.notin(self.ever_voted, agent="agent")(
            lambda p: (p.leader, p.agent, p.view, frozenset())
        )

    @bloom
    def hear_promise(self) -> None:
        self.promises <= self.promise(lambda p: (p.view, p.agent, p.votes))
        self.promised <= self.promises(lambda p: (p.view, p.agent))

    @bloom
    def recover(self) -> None:
        """Once in a view: what the first majority of promises constrains the leader to."""
        self.temp.opening <= self.quorum.notin(self.opened)
        self.opened <+ self.temp.opening
        self.recovered <= (self.temp.opening * self.promises).rights(view="view").flat_map(
            lambda p: [(p.view, voted[0], old_view, voted[1]) for old_view, voted in sorted(p.votes)]
        )
        self.proposal <= self.recovered.argmax(["view", "instance"], "old_view")(
            lambda r: (r.view, r.instance, r.update)
        )

    @bloom
    def propose(self) -> None:
        """The first request goes to the first instance that has no proposal in this view."""
        self.temp.current <= (self.proposed * self.mine).lefts(view="view")
        self.used <= self.temp.current(lambda p: (p.instance,))
        self.temp.candidates <= self.used(lambda u: (u.instance + 1,)).rename("instance")
        self.temp.candidates <= [(0,)]
        self.temp.next_free <= self.temp.candidates.notin(self.used).argmin([], "instance")
        self.temp.wanted <= self.top_of_queue.notin(self.temp.current, update="update")
        self.temp.leading <= (self.opened * self.mine).lefts(view="view")
        self.proposal <= (self.temp.leading * self.temp.next_free * self.temp.wanted).pairs(
            lambda v, i, r: (v.view, i.instance, r.update)
        )
        self.proposed <+ self.proposal

    @bloom
    def ask_for_votes(self) -> None:
        self.vote <~ (self.proposal * self.parliament).pairs(
            lambda v, p: (p.agent, self.ip_port, v.view, v.instance, v.update)
        )
        self.temp.open_votes <= (self.proposed * self.mine).lefts(view="view")
        self.temp.not_passed <= self.temp.open_votes.notin(self.log, instance="instance")
        self.temp.asked_again <= (self.temp.not_passed * self.retry).lefts()
        self.vote <~ (self.temp.asked_again * self.parliament).pairs(
            lambda v, p: (p.agent, self.ip_port, v.view, v.instance, v.update)
        )

    @bloom
    def cast_vote(self) -> None:
        self.current_view <= self.vote.project("view")
        self.temp.valid <= (self.vote * self.latest).lefts(view="view")
        self.prev_vote <= self.temp.valid(lambda v: (v.view, v.instance, v.update))
        self.accept <~ self.temp.valid(lambda v: (v.leader, v.agent, v.view, v.instance, v.update))

    @bloom
    def count_votes(self) -> None:
        self.accepts <= self.accept(lambda a: (a.view, a.instance, a.agent, a.update))
        self.temp.accept_cnt <= self.accepts.group(["view", "instance", "update"], cnt=agg.count())
        self.passed <= (self.temp.accept_cnt * self.agent_cnt).pairs(
            lambda c, a: (c.instance, c.update) if c.cnt * 2 > a.cnt else None
        )

    @bloom
    def tell(self) -> None:
        self.temp.news <= self.passed.notin(self.log)
        self.learn <~ (self.temp.news * self.parliament).pairs(lambda c, p: (p.agent, c.instance, c.update))
        self.temp.old_news <= (self.passed * self.retry).lefts()
        self.learn <~ (self.temp.old_news * self.parliament).pairs(lambda c, p: (p.agent, c.instance, c.update))
        self.log <= self.learn(lambda c: (c.instance, c.update))
        self.requests <- (self.requests * self.log).lefts(update="update")


class ElectedMultipaxos(Multipaxos, LeaderElection):
    """A node that is named leader starts a view, unless the latest is its own; requests are passed on to it."""

    forward = channel("@leader", "id", val=["update"])

    @bloom
    def lead(self) -> None:
        self.temp.called <= (self.leader * self.retry).lefts().filter(lambda named: named.peer == self.ip_port)
        self.temp.others <= self.latest.notin(self.mine)
        self.start_view <+ (self.temp.called * self.temp.others).pairs(lambda c, v: (c.peer,))

    @bloom
    def pass_on(self) -> None:
        self.temp.due <= (self.requests * self.retry).lefts()
        self.forward <~ (self.temp.due * self.leader).pairs(lambda r, named: (named.peer, r.id, r.update))
        self.requests <= self.forward(lambda f: (f.id, f.update))
