"""Search strategies, one file each, over the protocol that a system offers."""
