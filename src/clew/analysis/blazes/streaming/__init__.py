"""Dataflows of a stream engine: what their authors say of the steps, and how the engine has connected them."""
