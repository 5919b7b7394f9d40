"""The process of a command: how it starts, is supervised, limited, and ends."""
