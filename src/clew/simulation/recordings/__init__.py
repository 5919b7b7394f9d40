"""Recordings: write, read and replay an execution exactly."""
