"""Scenarios that are coroutine functions: their settings, what they see of the world, and what is made of them."""
