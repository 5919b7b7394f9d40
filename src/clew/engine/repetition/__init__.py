"""Runs that come back to themselves: as they are executed (``courses``), and as a question (``lasso``)."""
