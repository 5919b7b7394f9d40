"""BOOM-FS: a distributed file system whose control path is a Bloom program (thesis, section 2.3).

The original kept the interface of HDFS, so that Hadoop ran on it unchanged.  This one is a file system of fsspec,
so whatever reads and writes through that does: ``pandas.read_csv("boomfs://127.0.0.1:7000/a.csv")``.

What everybody speaks of is in ``paths``, ``settings``, ``messages`` and ``data_protocol``; then come ``namenode``,
``datanode`` and ``client``, and the command with ``local_cluster``.
"""
