"""A checker of proofs that shares no code with what writes them: it imports nothing else of Clew.

``archive`` reads the file, ``numbers`` the texts in it, ``ground`` the ground program; ``clauses`` compares the
CNF with the ground program, and ``drat`` checks the proof that the CNF has no model.
"""
