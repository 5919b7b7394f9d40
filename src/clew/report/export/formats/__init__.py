"""Writers of executions, one for each format, and the clocks that they share."""
