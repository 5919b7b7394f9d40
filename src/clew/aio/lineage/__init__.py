"""Which events at a host rest on which earlier ones: by tasks and timers, and by the state that they share."""
