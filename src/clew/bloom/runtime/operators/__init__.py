"""What computes the rows of an expression: all of them, or what differs from the step before (`differences`)."""
