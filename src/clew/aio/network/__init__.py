"""The simulated network: names and addresses, connections, datagrams, and the sockets of programs."""
