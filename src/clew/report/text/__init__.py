"""Pieces that all reports share: columns, numbers, markup, commands."""
