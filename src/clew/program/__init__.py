"""The IR between languages and engine, with its checks and rewrites."""
