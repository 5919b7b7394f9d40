"""One step of one node: rules evaluated to their fixpoint over what the node stores.

From the outside in: ``node`` (the user's object) steps a ``machine``, which applies what waits and calls
``evaluation``; that runs, stratum by stratum (``strata``), the operators that ``compiler`` made of the rules
(``operators``, ``calls``) over ``storage``.  ``endless`` bounds recursion that computes values.
"""
