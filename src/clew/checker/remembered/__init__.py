"""Systems that remember what was executed: a search that is started again gets the same outcomes without the work.

Every strategy is determined by the outcomes of the executions that it asks for, in their order.  So a strategy
knows nothing of checkpoints: it is given a system that answers from memory for as long as it can, and notes what
is new.
"""
