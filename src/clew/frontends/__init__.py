"""Load what a user names: a Dedalus file, a Bloom class, or a dataflow in YAML."""
