"""Trying candidates in order, whatever they are: one by one, by several processes, remembered in a checkpoint."""
