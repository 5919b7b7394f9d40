"""Parts that several commands share: files, progress, recordings, checkpoints."""
