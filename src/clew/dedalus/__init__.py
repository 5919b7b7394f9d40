"""Dedalus text to the IR and back."""
