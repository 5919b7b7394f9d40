"""Show what a check of simulated code came to: as text, JSON, JUnit and a page."""
