"""Analyse where order matters: CALM for programs, Blazes for dataflows."""
