"""Expressions compiled to run over the stores of a node.

``rows`` says what an operator can be asked, ``differences`` what it means that rows change; ``joins``, ``groups``
and ``lattices`` compute it where that is more than to go from row to row.
"""
