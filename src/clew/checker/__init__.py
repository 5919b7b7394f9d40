"""Answer whether a program within bounds survives: bounds, strategies, sweeps, and the verdict."""
