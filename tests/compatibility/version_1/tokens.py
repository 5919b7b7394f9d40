from messages import Colour, Hello, Token

from clew.simulation import *

LIMIT = 6
NAMES = ("a", "b", "c")


class Player(Node):
    def on_start(self, ctx):
        self.lives = ctx.durable["lives"] = ctx.durable.get("lives", 0) + 1
        self.tokens = []
        self.friends = set()
        ctx.set_timer("tick")

    def on_message(self, ctx, sender, message):
        if isinstance(message, Hello):
            self.friends |= message.names
            return
        self.tokens.append(message.number)
        target = ctx.random.choice(NAMES)
        ctx.log(f"{message.colour.name} to {target}")
        ctx.send(target, Token(message.number + 1, message.colour, (*message.seen, ctx.me)))
        if sender:
            ctx.send(sender, Hello({ctx.me, target}, {"times": [0.5, ctx.now]}))

    def on_timer(self, ctx, name):
        ctx.set_timer(name)


def few(nodes):
    for name, node in nodes.items():
        if len(node.tokens) >= LIMIT:
            return Broken("few", f"{name} has seen {len(node.tokens)} tokens", (name,))
    return None


def token(random, world):
    return Send(random.choice(NAMES), Token(random.randrange(10), random.choice(list(Colour))))


def trouble(random, world):
    first, second = random.sample(NAMES, 2)
    return random.choice(
        [Partition(first, second), Partition(first, second, True), Heal(first, second), Heal(), Restart(first),
         Stop(first), Start(first), Start(second), BLOCK]
    )


def forget(world):
    for node in world.nodes.values():
        node.friends.clear()


BLOCK = CodeBlock("forget", forget)
UP = WaitCondition("all up", lambda world: len(world.nodes) == len(NAMES))

scenario = Scenario(
    nodes=dict.fromkeys(NAMES, Player),
    before=[*(Start(name) for name in NAMES), UP],
    events=[(3, token), (1, trouble)],
    count=30,
    after=[Heal(), WaitQuiescence()],
    invariants=[few],
    network=Network.REORDERING,
    loss=0.05,
    duplication=0.05,
    steps=300,
    code=[BLOCK],
    fingerprint=lambda message: f"{type(message).__name__} {getattr(message, 'number', '')}",
)
