"""What users write: classes, collections, and the rules that a block records when it is executed.

Follow ``self.log <= self.bcast(lambda m: (m.payload,))`` from the user's block to data, one module at a time; each
imports only those after it:

1. ``module``: ``Module.program`` executes every block once, with a ``Capture`` that collects its rules.
2. ``declarations``: ``log = table(...)`` in the class is a descriptor, so ``self.log`` makes a handle; ``@bloom``
   marks the block.
3. ``handles``: a handle is both the target of ``<=`` and an expression over the collection.
4. ``rules``: check that the right-hand side fits into the target, and add an ``ir.program.Rule`` to the capture.
5. ``relations`` and ``lattice_relations``: every method of a right-hand side builds a node of ``ir.expressions``.
6. ``row_functions``: find out what ``lambda m: ...`` does, by calling it with symbols (``ir.symbolic``) once its
   code has been found to hide nothing from them (``ir.function_code``).

Two modules serve all of them: ``scope`` says which collection a name means in the block being read, and
``capture`` holds what was read so far and knows the lines of the user's file.  ``setting`` is not about rules: it
holds the bounds and given rows with which a program is checked.
"""
