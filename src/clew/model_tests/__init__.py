"""Tests of models: what they expect of their check, compared with what it comes to.

``discovery`` finds files, ``listing`` the models in them, ``processes`` gives each a process of its own, in which
``performing`` checks it, and ``judging`` compares.  ``api`` is the whole.
"""
