from clew.simulation import *


class Fragile(Node):
    def on_message(self, ctx, sender, message):
        raise ValueError(f"no {message}")


scenario = Scenario(nodes={"a": Fragile}, before=[Start("a"), Send("a", "thanks")])
