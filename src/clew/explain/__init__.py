"""Explain an answer: supports, lineage graphs, and what happens without each fault."""
