"""Read and write files: within bounds, whole or not at all, and resumable."""
