"""The disk of a host: a directory of its own, which outlives a crash, and what a crash does to it."""
