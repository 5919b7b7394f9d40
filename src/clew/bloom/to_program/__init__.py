"""Translate a Bloom program to the IR, so that everything that checks Dedalus checks it."""
