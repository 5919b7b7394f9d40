"""Verdicts of the checker for people and machines: terminal, page, JSON, JUnit."""
