"""Runs that come back to themselves: seen from outside (``courses``), and as a question to the solver (``lasso``)."""
