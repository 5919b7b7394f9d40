"""The measurements of the papers, repeated with Clew, and the bars Clew sets itself.

``python -m benchmarks`` from the checkout measures everything.  The way through the first paper's: ``published``
(its numbers) and ``cases`` (the examples) -> ``searches`` (one search, timed) -> ``figures`` and ``growth`` (its
tables and plot) -> ``bars`` (what must be met) -> ``output`` (Markdown and JSON).  Through the second's (DEMi):
``published_sizes`` and ``smallest`` (the smallest executions known) -> ``minimization``, ``shrinking``, ``pace``
(its tables and plot), ``simulation`` and ``replaying`` (the runtime) -> ``simulation_bars``.
"""
