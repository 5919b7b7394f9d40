"""The client: requests to NameNodes, bytes of chunks, and the file system that fsspec sees."""
