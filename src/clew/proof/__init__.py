"""Proofs of certificates: the question as a CNF, with a refutation that other programs can check."""
