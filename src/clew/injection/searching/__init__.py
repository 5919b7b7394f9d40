"""The sets of faults that are tried: by lineage, exhaustively, at random; and fewer of a set that was found."""
