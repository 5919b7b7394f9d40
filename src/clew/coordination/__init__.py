"""The coordination that an analysis asks for (thesis, section 4.4): seals, or a total order.

``synthesized(CampaignAds, "seal")`` is the class that does what ``CampaignAds`` does with the cheapest seal in
place, and ``synthesized(CampaignAds, "order")`` with its inputs in one order for all replicas.  ``sealing`` and
``ordering`` are the protocols, as Bloom modules that can be used by hand; ``planning`` decides what is held back
where, ``synthesis`` makes the class, and ``rendering`` writes it down.

The result runs, and ``clew check`` checks it; ``clew blazes`` does not know that it is coordinated, and says of it
what it would say of anybody's code that counts messages.
"""

from __future__ import annotations

from clew.consistency.extraction.system import extract
from clew.coordination.ordering import OrderedDelivery, SequencedDelivery, Sequencer
from clew.coordination.planning import plan_for
from clew.coordination.plans import Service
from clew.coordination.sealing import IndependentSeals, OneByOne, ReadsOfAll, ReadsOfPartition, Sealer, VotedSeals
from clew.coordination.synthesis import M, coordinated

__all__ = [
    "IndependentSeals",
    "OneByOne",
    "OrderedDelivery",
    "ReadsOfAll",
    "ReadsOfPartition",
    "Sealer",
    "SequencedDelivery",
    "Sequencer",
    "Service",
    "VotedSeals",
    "synthesized",
]


def synthesized(
    cls: type[M], how: str, *, independent: bool = False, service: Service = Service.SEQUENCER
) -> type[M]:
    """The class with the coordination (``how``: "seal" or "order") that its analysis recommends.

    ``independent``: every partition has one producer, so there is no vote.  ``service``: who decides an order.
    """
    plan = plan_for(cls, extract(cls).dataflow, how, independent=independent, service=service)
    return coordinated(cls, plan)
