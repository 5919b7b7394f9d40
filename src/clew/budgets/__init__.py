"""Bound the work: by counted effort, by the clock, and from outside of the process."""
