"""The idioms of distributed programs in logic (thesis, sections 2.2 and 3.1): state, order, and rounds.

Clocks are in ``clocks``, multicast in ``multicast``, the timeout in ``two_phase_commit``.

*State.*  ``Persistence``: what a table is, written with a scratch.  ``Sequence``: a number that grows with every
event.  ``Counter``: the same for requests of other nodes, which are answered with the number *before* the request.

*Order.*  ``PriorityQueue`` gives out one job of each user a step, ``GlobalQueue`` one job a step.
``AtomicDequeue`` shows the same request until it has passed.

*Rounds.*  ``RollCall`` asks who is there, ``Barrier`` waits until all have answered, and ``Voting`` is a barrier
whose answers are votes.
"""

from __future__ import annotations

from clew.bloom import Bloom, agg, bloom, channel, interface, rows, scratch, table


class FirstStep(Bloom):
    """``first`` has a row in the first step only: the base of every induction."""

    born = table("yes")
    first = scratch("yes")

    @bloom
    def be_born(self) -> None:
        self.first <= rows([(True,)]).notin(self.born)
        self.born <+ rows([(True,)])


# -- state -------------------------------------------------------------------------------------------------------


class Persistence(Bloom):
    """A fact is there in the next step if it is here now, unless it was retracted."""

    given = interface.input("a", "b")
    retracted = interface.input("a", "b")
    p = scratch("a", "b")

    @bloom
    def persist(self) -> None:
        self.p <= self.given
        self.p <+ self.p.notin(self.retracted)


class Sequence(FirstStep):
    event = interface.input("what")
    seq = table(val=["n"])

    @bloom
    def grow(self) -> None:
        self.seq <= self.first(lambda f: (0,))
        self.temp.last <= (self.seq * self.event).lefts()
        self.seq <- self.temp.last
        self.seq <+ self.temp.last(lambda s: (s.n + 1,))


class CounterMessages(Bloom):
    request = channel("@server", "client", "ident")
    response = channel("@client", "ident", val=["value"])


class Counter(CounterMessages, FirstStep):
    """Requests of the same step are answered alike and counted as one: a step is the smallest time there is."""

    counter = table(val=["value"])

    @bloom
    def count(self) -> None:
        self.counter <= self.first(lambda f: (0,))
        self.temp.asked <= (self.counter * self.request).lefts()
        self.counter <- self.temp.asked
        self.counter <+ self.temp.asked(lambda c: (c.value + 1,))

    @bloom
    def answer(self) -> None:
        self.response <~ (self.counter * self.request).pairs(lambda c, r: (r.client, r.ident, c.value))


class CounterClient(CounterMessages):
    answers = table("ident", val=["value"])

    @bloom
    def keep(self) -> None:
        self.answers <= self.response(lambda r: (r.ident, r.value))


# -- order -------------------------------------------------------------------------------------------------------


class PriorityQueue(Bloom):
    """Jobs that are given in any order come out by priority, one a step for each user."""

    submitted = interface.input("user", "job", "priority")
    waiting = table("user", "job", "priority")
    lowest = scratch("user", "priority")
    priority_queue = interface.output("user", "job", "priority")

    @bloom
    def enqueue(self) -> None:
        self.waiting <= self.submitted

    @bloom
    def choose(self) -> None:
        self.lowest <= self.waiting.group(["user"], agg.min("priority"))

    @bloom
    def dequeue(self) -> None:
        self.temp.chosen <= (self.waiting * self.lowest).lefts(user="user", priority="priority")
        self.priority_queue <+ self.temp.chosen
        self.waiting <- self.temp.chosen


class GlobalQueue(PriorityQueue):
    """One job a step, whoever it is from."""

    @bloom
    def choose(self) -> None:
        self.temp.first <= self.waiting.group([], agg.min("priority"))
        self.temp.head <= (self.waiting * self.temp.first).lefts(priority="min_priority").argmin([], "user")
        self.lowest <= self.temp.head(lambda w: (w.user, w.priority))


class AtomicDequeue(Bloom):
    """Listing 2.5: at most one request is being worked on; the next one comes when it has passed."""

    update_request = interface.input("update", "origin", "id")
    update_passed = interface.input("update", "id")
    stored_update_request = table("update", "origin", "id")
    top_of_queue = scratch("id")
    begin_prepare = interface.output("update")

    @bloom
    def choose(self) -> None:
        self.stored_update_request <= self.update_request
        self.top_of_queue <= self.stored_update_request.group([], agg.min("id"))
        self.begin_prepare <= (self.stored_update_request * self.top_of_queue).lefts(id="id")(
            lambda r: (r.update,)
        )

    @bloom
    def clean_up(self) -> None:
        self.stored_update_request <- (self.stored_update_request * self.update_passed).lefts(
            update="update", id="id"
        )


# -- rounds ------------------------------------------------------------------------------------------------------


class RollCall(Bloom):
    """A multicast, and an answer of each that heard it."""

    members = table("peer")
    begin = interface.input("number")
    call_msg = channel("@peer", "caller", "number")
    here_msg = channel("@caller", "peer", "number")
    present = table("number", "peer")

    @bloom
    def ask(self) -> None:
        self.call_msg <~ (self.begin * self.members).pairs(lambda b, m: (m.peer, self.ip_port, b.number))

    @bloom
    def answer(self) -> None:
        self.here_msg <~ self.call_msg(lambda c: (c.caller, c.peer, c.number))

    @bloom
    def collect(self) -> None:
        self.present <= self.here_msg(lambda h: (h.number, h.peer))


class Barrier(RollCall):
    """Passed when all are present."""

    member_cnt = scratch(val=["cnt"])
    present_cnt = scratch("number", val=["cnt"])
    passed = interface.output("number")

    @bloom
    def count(self) -> None:
        self.member_cnt <= self.members.group([], agg.count())
        self.present_cnt <= self.present.group(["number"], agg.count())
        self.temp.full <= (self.present_cnt * self.member_cnt).lefts(cnt="cnt")
        self.passed <= self.temp.full(lambda p: (p.number,))


class Voting(Barrier):
    """Each peer votes "yes" on what it favours; when all have voted it is known how many do."""

    favoured = table("number")
    vote_msg = channel("@caller", "peer", "number", val=["vote"])
    votes = table("number", "peer", val=["vote"])
    yes_cnt = interface.output("number", val=["cnt"])

    @bloom
    def answer(self) -> None:
        self.vote_msg <~ (self.call_msg * self.favoured).lefts(number="number")(
            lambda c: (c.caller, c.peer, c.number, "yes")
        )
        self.vote_msg <~ self.call_msg.notin(self.favoured, number="number")(
            lambda c: (c.caller, c.peer, c.number, "no")
        )

    @bloom
    def collect(self) -> None:
        self.votes <= self.vote_msg(lambda v: (v.number, v.peer, v.vote))
        self.present <= self.votes(lambda v: (v.number, v.peer))

    @bloom
    def count_votes(self) -> None:
        self.temp.complete <= (self.present_cnt * self.member_cnt).lefts(cnt="cnt")
        self.temp.cast <= (self.votes * self.temp.complete).lefts(number="number")
        # The peer stays in the rows: equal votes of two peers would be one row without it.
        self.yes_cnt <= self.temp.cast(lambda v: (v.number, v.peer, 1 if v.vote == "yes" else 0)).group(
            ["number"], agg.sum(2)
        )
