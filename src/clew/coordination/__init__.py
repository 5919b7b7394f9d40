"""The coordination that an analysis asks for (thesis, section 4.4): seals, or a total order.

``synthesized(CampaignAds, "seal")`` is the class that does what ``CampaignAds`` does with the cheapest seal in
place, and ``synthesized(CampaignAds, "order")`` with its inputs in one order for all replicas.  ``sealing`` and
``ordering`` are the protocols, as Bloom modules that can be used by hand, and ``settling`` tells them when a
component has taken in what it was given.  ``planning`` and ``seal_planning`` decide what is held back where:
``worlds`` proves that partitions stay apart, ``quiescence`` that components settle, ``transport`` that rows arrive
as they are counted.  ``synthesis`` writes the program, and makes the class of it.

The result runs, and ``clew check`` checks it.
"""

from __future__ import annotations

from clew.analysis.blazes import analyse
from clew.analysis.blazes.coordinated.record import ordered, sealed, system
from clew.analysis.blazes.extraction.system import extract
from clew.coordination.ordering import OrderedDelivery, SequencedDelivery, Sequencer
from clew.coordination.planning import plan_for
from clew.coordination.plans import Service
from clew.coordination.sealing import (
    Admission,
    IndependentSeals,
    OneByOne,
    ReadsOfAll,
    ReadsOfPartition,
    Sealer,
    VotedSeals,
)
from clew.coordination.settling import Settling, pending_changes
from clew.coordination.synthesis import M, build_class

__all__ = [
    "Admission",
    "IndependentSeals",
    "OneByOne",
    "OrderedDelivery",
    "ReadsOfAll",
    "ReadsOfPartition",
    "Sealer",
    "SequencedDelivery",
    "Sequencer",
    "Service",
    "Settling",
    "VotedSeals",
    "ordered",
    "pending_changes",
    "sealed",
    "synthesized",
    "system",
]


def synthesized(
    cls: type[M], how: str, *, independent: bool = False, service: Service = Service.SEQUENCER
) -> type[M]:
    """Return the class with the coordination (``how``: "seal" or "order") that its analysis recommends.

    ``independent``: every partition has one producer, so there is no vote.  ``service``: who decides an order.
    """
    extraction = extract(cls)
    verdict = analyse(extraction.dataflow)
    return build_class(cls, plan_for(extraction, verdict, how, independent=independent, service=service))
