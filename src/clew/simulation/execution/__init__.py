"""Execute scenarios: schedules, effects of events, limits and child processes."""
