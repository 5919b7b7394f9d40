"""A scenario executed under given faults, with what each event read and wrote."""
