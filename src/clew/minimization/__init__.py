"""Shrink a faulty execution to what a person can read, after the second paper (DEMi).

Read ``trial`` for what it means to try a schedule, ``search`` for how candidates are tried in order, then
``pipeline`` for the stages: ``causal_order`` (provenance), ``deltas`` and ``backtracking`` (STSSched, TFB),
``shrinking`` (contents), and ``shortening``, with its candidates in ``moves``, ``departing`` and ``exchanging``.
"""
