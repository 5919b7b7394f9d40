"""Random executions until an invariant breaks."""
