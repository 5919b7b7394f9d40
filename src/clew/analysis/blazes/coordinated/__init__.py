"""Recognise programs that were synthesized, by the structure of their rules."""
