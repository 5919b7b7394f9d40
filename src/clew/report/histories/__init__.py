"""What people and machines are told of histories."""
