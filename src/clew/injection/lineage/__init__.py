"""The ways in which events led to an outcome, and the faults that would have cut them."""
