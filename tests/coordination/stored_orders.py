"""A program that ships what is ordered and not cancelled: absence of rows of a sealed stream."""

from __future__ import annotations

from clew.analysis.blazes.extraction.declared import annotated
from clew.bloom import Bloom, bloom, interface, table


class Orders(Bloom):
    orders = interface.input("order", "what")
    cancels = interface.input("order", "who")
    ship = interface.output("order", "what")
    ordered = table("order", "what")
    cancelled = table("order", "who")
    blazes = annotated(seals={"cancels": ["order"]})


class StoredOrders(Orders):
    """What is ordered and not cancelled is shipped."""

    @bloom
    def decide(self) -> None:
        self.ordered <= self.orders
        self.cancelled <= self.cancels
        self.ship <= self.ordered.notin(self.cancelled, order="order")
