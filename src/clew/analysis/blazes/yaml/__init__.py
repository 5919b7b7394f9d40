"""Dataflows as YAML files: read with the place of every value, and written."""
