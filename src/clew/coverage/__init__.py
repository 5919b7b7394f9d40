"""What the rules of a Bloom class do while a command runs, in all of its processes: ``clew cover``."""
