"""The measurements of section 5.2 of the paper, repeated with Clew, and the bars Clew sets itself.

``python -m benchmarks`` from the checkout measures everything.  The way through: ``published`` (the paper's
numbers) and ``cases`` (the examples) -> ``searches`` (one search, timed) -> ``figures`` and ``growth`` (the
paper's tables and plot) -> ``bars`` (what must be met) -> ``output`` (Markdown and JSON).
"""
