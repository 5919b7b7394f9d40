"""Exploration in virtual time: all global states that a scenario comes to, with a finite choice of latencies.

There, an execution follows from a few choices: how long each message takes, how fast each clock runs, and what of
that which is due at one time happens first.  The first two are continuous, so only some values of each are tried
(``bounds``), and the answer says which.  ``run`` is one execution, choice by choice; ``situation`` tells whether
two executions have come to the same; ``search`` follows every choice from every situation, once.
"""
