"""What can go wrong, and how much of it is allowed.

The failure model of MOLLY (sections 2.1.1 and 4.1.1 of the paper): messages may be lost before the end of finite
failures (EFF), and nodes may crash for good.  Beyond the paper, a message may take longer than one step or arrive
twice, nodes may restart, pause or stop altogether, and a partition is one fault.

``kinds``   each kind of fault, with all that is declared of it: the place to start when adding one
``finite``  the kinds that pass: duplicates and partitions; ``halting``: restarts, pauses and stops
``given``   what the adversary decides beside faults: inputs and choices
``limits``  the numbers that bound a search, which the kinds consult
``sets``    sets of faults in canonical order; which faults are possible, and which sets of them admissible

Of Clew, this package imports only how names are shown.
"""

from clew.faults.base import AnyFault, Cell, Kind, MessageFault, Part, Span, notation
from clew.faults.finite import Duplicate, Partition, groups_of, name_group
from clew.faults.given import GivenRow, Input, Pick
from clew.faults.halting import Pause, Restart, Stop
from clew.faults.kinds import FIRST_KINDS, KINDS, Crash, Delay, Fault, Loss, fault_columns, fault_key, make_fault
from clew.faults.limits import FIRST_BOUNDS, NodeName, SentMessage, node_key
from clew.faults.sets import FailureSpec, by_message, exclusive_pairs
from clew.faults.sets import FaultSet as FaultsOf

#: The faults of a model; ``FaultsOf`` is a set of any faults, also of code.
FaultSet = FaultsOf[Fault]

__all__ = [
    "FIRST_BOUNDS",
    "FIRST_KINDS",
    "KINDS",
    "AnyFault",
    "Cell",
    "Crash",
    "Delay",
    "Duplicate",
    "FailureSpec",
    "Fault",
    "FaultSet",
    "FaultsOf",
    "GivenRow",
    "Input",
    "Kind",
    "Loss",
    "MessageFault",
    "NodeName",
    "Part",
    "Partition",
    "Pause",
    "Pick",
    "Restart",
    "SentMessage",
    "Span",
    "Stop",
    "by_message",
    "exclusive_pairs",
    "fault_columns",
    "fault_key",
    "groups_of",
    "make_fault",
    "name_group",
    "node_key",
    "notation",
]
