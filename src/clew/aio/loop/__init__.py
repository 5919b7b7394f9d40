"""The event loop that programs see, and what it offers: transports, servers, sockets, executors."""
