"""Minimize executions in virtual time.

There, nothing that nodes do can simply be left out: whatever is on its way arrives when its time is over, and
every timer goes off.  A schedule is therefore a list of *wishes* (``schedule``): what comes from outside and when,
how long each message takes, what gets lost, how fast clocks run.  An execution follows them as far as the bounds
of the scenario allow (``trial``), and whatever nobody wished for happens as soon as it can.

Read those two, then ``changes`` for what is made smaller and ``departing`` for what is tried at random, and
``pipeline`` for the stages.
"""
