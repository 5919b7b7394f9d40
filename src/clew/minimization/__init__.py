"""Shrinking a faulty execution to what a person can read, after the second paper (DEMi).

Read ``trial`` for what it means to try a schedule, then ``pipeline`` for the stages; each stage is a module of
its own.
"""
