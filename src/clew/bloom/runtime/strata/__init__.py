"""What evaluates a stratum: one collection (``once``), or collections that depend on each other.

``rounds`` evaluates such anew; ``recursion`` changes what is there, where no table and no lattice is among them.
"""
