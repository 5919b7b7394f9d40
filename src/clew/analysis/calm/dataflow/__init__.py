"""The dataflow of a program: what each rule reads, and what it derives from that."""
