"""Executions: the IR and a failure spec become a ground program that answers questions."""
