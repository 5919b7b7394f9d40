"""Functions of rules that are none: what they return is not decided by the rows that they are given.

A function is *pure* if its code is known to touch nothing but its arguments, values that cannot change, and other
pure functions.  What is allowed is listed here; whatever else it touches (a random number, the time, an iterator
that remembers where it is, a list that others change) is said, with its line.  Functions that are seen through
(``clew.bloom.ir.symbolic``) are pure by construction.

The rows that a function gets cannot change, and what it makes during a call is its own, so that methods of such
values need no list.  Everything else comes in by a name: a global, a variable of the function around it, a default
value, an attribute of ``self``.  These names are followed, through modules, classes and other functions.
"""
