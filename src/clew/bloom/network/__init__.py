"""Nodes on a real network: sockets, frames, authentication, and tables on disk."""
