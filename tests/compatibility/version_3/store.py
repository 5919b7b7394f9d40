from dataclasses import dataclass

from clew.simulation import Node


@dataclass(frozen=True)
class Put:
    key: str
    value: int


@dataclass(frozen=True)
class Copy:
    key: str
    value: int


class Replica(Node):
    def __init__(self):
        self.data = {}

    def on_message(self, ctx, sender, message):
        match message:
            case Put(key, value):
                self.data[key] = value
                for other in ("a", "b", "c"):
                    if other != ctx.me:
                        ctx.send(other, Copy(key, value))
            case Copy(key, value):
                self.data[key] = value
