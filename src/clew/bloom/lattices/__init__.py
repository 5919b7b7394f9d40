"""Lattices: values that only grow, and how two of them merge (section 3.3.4 of the thesis)."""
