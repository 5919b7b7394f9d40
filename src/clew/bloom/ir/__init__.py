"""A Bloom program as data: collections, rules, and what their functions compute."""
