"""Verdicts that were saved: read back, and their counterexamples executed again."""
