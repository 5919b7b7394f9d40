from clew.bloom import EVERY, bloom, checked, outcome, scratch, table
from clew.multipaxos.votes import Votes

NODES = ["a", "b", "c"]
GIVEN = {
    EVERY: {"member": [("a",), ("b",), ("c",)]},
    "a": {1: {"campaign": [("now",)], "mine_to_propose": [("x",)]}},
    "b": {4: {"campaign": [("now",)]}, 1: {"mine_to_propose": [("y",)]}},
}


class Core(Votes):
    """One decree each."""

    mine_to_propose = table("decree", durable=True)
    candidate = scratch("instance")
    window = 2
    never = scratch("instance", "one", "other")
    setting = checked(nodes=NODES, eot=9, eff=6, restarts=1, crashes=0, given=GIVEN)

    @bloom
    def propose_own(self) -> None:
        self.next_decree <= self.mine_to_propose

    @bloom
    def know_horizon(self) -> None:
        self.candidate <= [(1,)]
        self.candidate <= self.chosen(lambda c: (c.instance + 1,) if c.instance < 2 else None)
        self.temp.gap <= self.candidate.notin(self.chosen, instance="instance")
        self.horizon <= self.temp.gap.argmin([], "instance")

    @outcome
    def agreement(self) -> None:
        self.never <= (self.everywhere.chosen * self.everywhere.chosen).pairs(
            lambda c, d: (c.instance, c.decree, d.decree) if c.decree < d.decree else None, instance="instance"
        )


class Volatile(Core):
    promised = table("view")
    voted = table("instance", "view", val=["decree"])
    chosen = table("instance", val=["decree"])
