"""pandas, pyarrow and Dask read and write through ``boomfs://``."""

from __future__ import annotations

import dask.bag
import dask.dataframe
import pandas
import pyarrow
import pyarrow.dataset
import pyarrow.fs
import pyarrow.parquet
import pytest

from clew.boomfs.client.filesystem import BoomFileSystem
from clew.boomfs.local_cluster import LocalCluster

FRAME = pandas.DataFrame(
    {"n": range(40_000), "text": [f"row {k % 97}" for k in range(40_000)], "x": [k / 7 for k in range(40_000)]}
)


@pytest.fixture
def url(cluster: LocalCluster, folder: str) -> str:
    return f"boomfs://{cluster.namenodes}{folder}"


def test_pandas_csv(url: str) -> None:
    FRAME.to_csv(f"{url}/a.csv", index=False)
    pandas.testing.assert_frame_equal(pandas.read_csv(f"{url}/a.csv"), FRAME)
    parts = list(pandas.read_csv(f"{url}/a.csv", chunksize=15_000))
    assert [len(part) for part in parts] == [15_000, 15_000, 10_000]


def test_pandas_parquet(url: str) -> None:
    FRAME.to_parquet(f"{url}/a.parquet")
    pandas.testing.assert_frame_equal(pandas.read_parquet(f"{url}/a.parquet"), FRAME)
    assert list(pandas.read_parquet(f"{url}/a.parquet", columns=["x"]).columns) == ["x"]


def test_pyarrow_parquet_and_datasets(shared: BoomFileSystem, folder: str) -> None:
    table = pyarrow.Table.from_pandas(FRAME)
    pyarrow.parquet.write_table(table, f"{folder}/t.parquet", filesystem=shared)
    assert pyarrow.parquet.read_table(f"{folder}/t.parquet", filesystem=shared).equals(table)
    arrow = pyarrow.fs.PyFileSystem(pyarrow.fs.FSSpecHandler(shared))
    parts = table.append_column("part", pyarrow.array([k % 3 for k in range(len(table))]))
    pyarrow.dataset.write_dataset(
        parts, f"{folder}/set", filesystem=arrow, format="parquet", partitioning=["part"]
    )
    found = pyarrow.dataset.dataset(f"{folder}/set", filesystem=arrow, partitioning=["part"])
    assert found.count_rows() == len(FRAME)
    assert found.count_rows(filter=pyarrow.dataset.field("part") == 1) == 13_333


def test_pyarrow_csv(shared: BoomFileSystem, folder: str) -> None:
    from pyarrow import csv

    table = pyarrow.Table.from_pandas(FRAME)
    arrow = pyarrow.fs.PyFileSystem(pyarrow.fs.FSSpecHandler(shared))
    with arrow.open_output_stream(f"{folder}/t.csv") as out:
        csv.write_csv(table, out)
    with arrow.open_input_stream(f"{folder}/t.csv") as source:
        assert csv.read_csv(source).to_pylist() == table.to_pylist()


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of Dask, in pandas 3.1
def test_dask_dataframes(url: str) -> None:
    dask.dataframe.from_pandas(FRAME, npartitions=3).to_parquet(f"{url}/d")  # type: ignore[no-untyped-call]
    with dask.config.set(scheduler="synchronous"):
        assert dask.dataframe.read_parquet(f"{url}/d").n.sum().compute() == FRAME.n.sum()
    FRAME.to_csv(f"{url}/a.csv", index=False)
    with dask.config.set(scheduler="synchronous"):
        assert dask.dataframe.read_csv(f"{url}/a.csv", blocksize=200_000).n.sum().compute() == FRAME.n.sum()


def test_dask_word_count(url: str, shared: BoomFileSystem, folder: str) -> None:
    words = [f"word{k * k % 101}" for k in range(60_000)]
    shared.pipe_file(f"{folder}/text", " ".join(words).replace("word0 ", "word0\n").encode())
    lines = dask.bag.read_text(f"{url}/text", blocksize=100_000)  # type: ignore[no-untyped-call]
    with dask.config.set(scheduler="synchronous"):
        counted = dict(lines.str.split().flatten().frequencies().compute())
    assert counted == {word: words.count(word) for word in set(words)}
