"""Simulated runs for people: terminal, diagram and page."""
