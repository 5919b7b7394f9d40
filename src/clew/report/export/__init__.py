"""Executions written for other tools: one frozen form of what happened, and a writer for each format."""
