"""CALM analyses for people and machines."""
