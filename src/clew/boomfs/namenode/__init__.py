"""The rules of the NameNode: namespace, order of changes, chunks and their replicas, DataNodes."""
