"""Compare verdicts with behaviour: the same inputs in many random orders."""
