"""Lineage-driven fault injection into simulated Python code.

The loop of ``clew.search.lineage`` over executions of a scenario: what went right in a run (a promise is kept)
rests on messages, on nodes that were up, and on what these did before.  The next run cuts that, and so on.

Read ``execution.run`` for what an execution under faults is, ``execution.reading`` and ``lineage.ways`` for what a
promise rests on, ``searching.system`` for how the search sees that, and ``checking`` for the answer.

**Why this is not a proof.**  The causal past of an outcome says what helped.  It does not say which silence
mattered: a fault outside of it can make a third node time out and send something harmful.  So a search by lineage
over code finds counterexamples, or is incomplete; what certifies is ``searching.exhausting``, within its bounds,
on one schedule.
"""
