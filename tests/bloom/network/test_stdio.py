"""Lines that a program prints."""

from __future__ import annotations

from clew.bloom import Bloom, bloom, scratch, stdio


class Greeting(Bloom):
    names = scratch("name")
    screen = stdio()

    @bloom
    def greet(self) -> None:
        self.screen <~ self.names(lambda n: ("hello, " + n.name,))


def test_what_is_sent_to_stdio_is_printed_in_that_step() -> None:
    node = Greeting()
    node.names.insert(("world",), ("you",))
    stepped = node.tick()
    assert stepped.printed == (("hello, world",), ("hello, you",))
    assert stepped.sent == ()
    assert node.tick().printed == ()
