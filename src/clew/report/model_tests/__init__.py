"""What people and machines are told of tests of models."""
