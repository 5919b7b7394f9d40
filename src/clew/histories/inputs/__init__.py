"""Histories in files: JSON lines, and Jepsen's EDN."""
