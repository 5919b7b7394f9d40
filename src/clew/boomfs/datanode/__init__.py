"""The DataNode: chunks on a disk, a server for their bytes, and the rules that tell NameNodes of them."""
