"""Blazes verdicts for people and machines."""
