"""Small systems with a bug whose smallest execution is known: the minimizer is measured on them."""
