"""Shows what ``clew.check_grid`` returns."""
