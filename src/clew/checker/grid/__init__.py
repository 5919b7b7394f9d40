"""A grid: one program checked with many values of its params and bounds."""
