"""What can go wrong, and how much of it is allowed.

The failure model of MOLLY (sections 2.1.1 and 4.1.1 of the paper): messages may be lost before the end of finite
failures (EFF), nodes may crash for good, and, beyond the paper, a delivered message may take longer than one step.

``kinds``   each kind of fault, with all that is declared of it: the place to start when adding one
``limits``  the numbers that bound a search, which the kinds consult
``sets``    sets of faults in canonical order; which faults are possible, and which sets of them admissible

Of Clew, this package imports only how names are shown.
"""

from clew.faults.kinds import KINDS, Crash, Delay, Fault, Loss, MessageFault, fault_key, make_fault
from clew.faults.limits import NodeName, SentMessage, node_key
from clew.faults.sets import FailureSpec, FaultSet, by_message, exclusive_groups

__all__ = [
    "KINDS",
    "Crash",
    "Delay",
    "FailureSpec",
    "Fault",
    "FaultSet",
    "Loss",
    "MessageFault",
    "NodeName",
    "SentMessage",
    "by_message",
    "exclusive_groups",
    "fault_key",
    "make_fault",
    "node_key",
]
