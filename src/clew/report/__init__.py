"""Everything that people and machines read about an answer."""
