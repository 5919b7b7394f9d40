"""Hosts: what one execution shares, one life of a host, and the node that the simulation sees."""
