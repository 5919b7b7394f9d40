"""What stands in for the real world while a host runs: clocks, random numbers, sockets, processes, threads."""
