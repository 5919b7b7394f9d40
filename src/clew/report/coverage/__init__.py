"""How coverage of rules is shown."""
