"""Where order matters, and what to do about it: CALM's points of order, and Blazes' labels and coordination."""
