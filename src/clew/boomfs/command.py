"""The command ``boomfs``: a cluster on this machine for trying, its processes, and files in it."""

from __future__ import annotations

import errno
import gc
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from clew.boomfs.client.errors import UnansweredError
from clew.boomfs.datanode.node import DataNode
from clew.boomfs.local_cluster import LocalCluster, Plan, describe, make_plan
from clew.boomfs.namenode.node import NameNode
from clew.boomfs.namenode.replicated import ReplicatedNameNode
from clew.boomfs.settings import DEFAULT_POLICY, Policy
from clew.errors import ClewError
from clew.results import FAILED

_SECRET = "BOOMFS_SECRET"
_SOME = click.IntRange(min=1)
_FOLDER = click.option(
    "--dir",
    "folder",
    required=True,
    type=click.Path(path_type=Path, exists=True),
    help="The folder of the cluster.",
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--namenodes",
    envvar="BOOMFS_NAMENODES",
    metavar="HOST:PORT,...",
    help="NameNodes of the cluster; one that answers is enough.  Also BOOMFS_NAMENODES.",
)
@click.option(
    "--patience", default=60.0, show_default=True, metavar="SECONDS", help="How long a NameNode may be away."
)
@click.pass_context
def main(context: click.Context, namenodes: str | None, patience: float) -> None:
    """Keep files in a BOOM-FS cluster.  A cluster with a secret takes it from BOOMFS_SECRET."""
    logging.basicConfig(format="%(levelname)s %(name)s: %(message)s", level=logging.WARNING)
    context.obj = namenodes, patience


class _SurroundingsError(click.ClickException):
    """Neither an answer, such as that chunks are lost, nor a refusal: the cluster is away, or a disk is full."""

    exit_code = FAILED


#: What a disk, or whoever reads standard output, says.
_NO_ROOM = {errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EBADF}


def _refusal(error: ClewError) -> click.ClickException:
    """Return what the command ends with: what is wrong, and what to do."""
    return click.ClickException(f"{error.message}\n  remedy: {error.remedy}" if error.remedy else error.message)


def run() -> None:
    """Run the command line; Ctrl-C is quiet."""
    try:
        main(prog_name="boomfs")
    except KeyboardInterrupt:
        os._exit(130)
    except OSError as error:  # of standard output: what is wrong with a cluster is told where it is asked
        with suppress(OSError):
            click.echo(f"Error: {error.strerror or error}", err=True)
        os._exit(FAILED)


@contextmanager
def _file_system(context: click.Context) -> Iterator[Any]:
    """Open the file system; what goes wrong with it is told in one line."""
    try:
        from clew.boomfs.client.filesystem import BoomFileSystem
    except ImportError as error:
        raise click.ClickException(f"{error}: install clew[boomfs]") from error
    namenodes, patience = context.obj
    if not namenodes:
        raise click.UsageError("no NameNode is named: give --namenodes HOST:PORT, or set BOOMFS_NAMENODES")
    fs = None
    try:
        secret = os.environ.get(_SECRET)
        fs = BoomFileSystem(namenodes, secret=secret, patience=patience, skip_instance_cache=True)
        yield fs
    except UnansweredError as error:
        raise _SurroundingsError(f"{error}: is it up, and is {namenodes} its address?") from error
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        kind = _SurroundingsError if error.errno in _NO_ROOM else click.ClickException
        raise kind(f"{where}{error.strerror or error}") from error
    except ClewError as error:
        raise _refusal(error) from error
    except ValueError as error:
        raise click.ClickException(str(error)) from error
    finally:
        if fs is not None:
            fs.close()


# -- files -------------------------------------------------------------------------------------------------------


@main.command()
@click.argument("local")
@click.argument("remote")
@click.option("-r", "--recursive", is_flag=True, help="Copy a folder with all that is in it.")
@click.pass_context
def put(context: click.Context, local: str, remote: str, recursive: bool) -> None:
    """Copy a file of this machine into the cluster."""
    if not Path(local).exists():
        raise click.ClickException(f"{local}: no such file")
    if Path(local).is_dir() and not recursive:
        raise click.ClickException(f"{local} is a folder: give -r to copy all that is in it")
    with _file_system(context) as fs:
        fs.put(local, remote, recursive=recursive, callback=_progress())


@main.command()
@click.argument("remote")
@click.argument("local")
@click.option("-r", "--recursive", is_flag=True, help="Copy a folder with all that is in it.")
@click.pass_context
def get(context: click.Context, remote: str, local: str, recursive: bool) -> None:
    """Copy a file of the cluster to this machine."""
    with _file_system(context) as fs:
        if fs.info(remote)["type"] == "directory" and not recursive:
            raise click.ClickException(f"{remote} is a folder: give -r to copy all that is in it")
        fs.get(remote, local, recursive=recursive, callback=_progress())


@main.command()
@click.argument("path", default="/")
@click.option("-l", "--long", "is_long", is_flag=True, help="With sizes and times.")
@click.pass_context
def ls(context: click.Context, path: str, is_long: bool) -> None:
    """List a folder."""
    with _file_system(context) as fs:
        for entry in fs.ls(path):
            name = entry["name"].rpartition("/")[2] + ("/" if entry["type"] == "directory" else "")
            when = datetime.fromtimestamp(entry["mtime"], UTC).strftime("%Y-%m-%d %H:%M")
            click.echo(f"{entry['size']:>14} {when} {name}" if is_long else name)


@main.command()
@click.argument("path")
@click.option("-r", "--recursive", is_flag=True, help="Remove a folder with all that is in it.")
@click.pass_context
def rm(context: click.Context, path: str, recursive: bool) -> None:
    """Remove a file."""
    with _file_system(context) as fs:
        if not recursive and fs.info(path)["type"] == "directory":
            raise click.ClickException(f"{path} is a folder: give -r to remove all that is in it, too")
        fs.rm(path, recursive=recursive)


@main.command()
@click.argument("path")
@click.option("-p", "--parents", is_flag=True, help="Make missing folders around it; it may be there already.")
@click.pass_context
def mkdir(context: click.Context, path: str, parents: bool) -> None:
    """Make a folder."""
    with _file_system(context) as fs:
        if parents:
            fs.makedirs(path, exist_ok=True)
        else:
            fs.mkdir(path, create_parents=False)


@main.command()
@click.argument("path", default="/")
@click.pass_context
def tree(context: click.Context, path: str) -> None:
    """Show a folder with all that is in it."""
    with _file_system(context) as fs:
        fs.info(path)
        click.echo(path)
        for line in _branches(fs, path, ""):
            click.echo(line)


def _branches(fs: Any, path: str, indent: str) -> Iterator[str]:
    entries = fs.ls(path)
    for entry in entries:
        is_last = entry is entries[-1]
        is_folder = entry["type"] == "directory"
        name = entry["name"].rpartition("/")[2] + ("/" if is_folder else "")
        yield f"{indent}{'└── ' if is_last else '├── '}{name}"
        if is_folder:
            yield from _branches(fs, entry["name"], indent + ("    " if is_last else "│   "))


@main.command()
@click.pass_context
def status(context: click.Context) -> None:
    """Tell what is in the cluster, and what is wrong with it.  Exit code 1 if chunks are lost."""
    with _file_system(context) as fs:
        lost = fs.metadata.lost()
        for partition, (tallies, nodes) in enumerate(fs.metadata.status()):
            counts = dict(tallies)
            click.echo(
                f"partition {partition}: {counts.get('files', 0)} files, {counts.get('folders', 0)} folders, "
                f"{counts.get('chunks', 0)} chunks; {counts.get('thin', 0)} with too few replicas, "
                f"{counts.get('lost', 0)} lost"
            )
            for addr, data, free, chunks in sorted(nodes):
                click.echo(f"  DataNode {addr}: {chunks} chunks at {data}, {free / 2**30:.1f} GiB free")
        for path, chunk in lost:
            click.echo(f"LOST: chunk {chunk} of {path}")
    context.exit(1 if lost else 0)


# -- clusters ----------------------------------------------------------------------------------------------------


@main.command()
@click.option(
    "--dir",
    "folder",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="For all that it keeps.",
)
@click.option(
    "--namenodes", "ranks", type=_SOME, default=1, show_default=True, help="NameNodes of each partition."
)
@click.option("--partitions", type=_SOME, default=1, show_default=True, help="Partitions of the namespace.")
@click.option("--datanodes", type=_SOME, default=4, show_default=True, help="DataNodes, for all partitions.")
@click.option("--replicas", type=_SOME, default=3, show_default=True, help="Replicas of each chunk.")
@click.option("--chunk-size", default=64 * 2**20, show_default=True, help="In bytes.")
@click.option(
    "--silence",
    type=click.FloatRange(min=1.0),
    default=DEFAULT_POLICY.silence,
    show_default=True,
    metavar="SECONDS",
    help="Until a DataNode that is not heard is given up.",
)
@click.pass_context
def up(
    context: click.Context,
    folder: Path,
    ranks: int,
    partitions: int,
    datanodes: int,
    replicas: int,
    chunk_size: int,
    silence: float,
) -> None:
    """Start a cluster on this machine, and end it with Ctrl-C.

    Its files are there again the next time, and then DIRECTORY says what it is made of.
    """
    try:
        # Also where the shell has it ignored, as for what runs in its background.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.default_int_handler)
        if (folder / "cluster.json").exists():
            plan = Plan.read(folder)
            if given := _given(context, "ranks", "partitions", "datanodes", "replicas", "chunk_size", "silence"):
                click.echo(f"{folder} has a cluster already: {', '.join(given)} not used", err=True)
        else:
            policy = Policy(chunk_size=chunk_size, replicas=replicas, silence=silence)
            plan = make_plan(partitions=partitions, namenodes=ranks, datanodes=datanodes, policy=policy)
        for line in describe(plan):
            click.echo(line)
        cluster = LocalCluster(folder, plan)
        click.echo(f"starting {len(cluster.names())} processes ...", err=True)
        with cluster:
            click.echo(f"  export BOOMFS_NAMENODES={cluster.namenodes}")
            click.echo("it is up; Ctrl-C ends it")
            _watch(cluster)
    except KeyboardInterrupt:
        click.echo("ended")
    except ClewError as error:
        raise _refusal(error) from error


def _given(context: click.Context, *names: str) -> list[str]:
    """Return the options that the command line has, as it spells them."""
    options = {param.name: param.opts[0] for param in context.command.params}
    from_command_line = click.core.ParameterSource.COMMANDLINE
    return [options[name] for name in names if context.get_parameter_source(name) is from_command_line]


def _watch(cluster: LocalCluster) -> None:
    """Say which processes end, for as long as one is left."""
    told: set[str] = set()
    while len(told) < len(cluster.processes):
        time.sleep(0.5)
        for name in cluster.ended():
            if name not in told:
                told.add(name)
                click.echo(f"{name} has ended; start it again: boomfs {name} --dir {cluster.folder}", err=True)


@main.command()
@click.argument("partition", type=click.IntRange(min=0))
@click.argument("rank", type=click.IntRange(min=0))
@_FOLDER
@click.option("--until-eof", is_flag=True, hidden=True)
def namenode(partition: int, rank: int, folder: Path, until_eof: bool) -> None:
    """Run a NameNode of a cluster: RANK of PARTITION.  Until Ctrl-C or SIGTERM."""
    with _told_in_a_line():
        plan = Plan.read(folder)
        kind = NameNode if len(plan.namenodes[partition]) == 1 else ReplicatedNameNode
        node = kind(
            plan.namenodes[partition][rank],
            data=folder / f"namenode-{partition}-{rank}" / "namenode.sqlite",
            policy=plan.policy,
            partition=partition,
            cluster=plan.namenodes,
            secret=os.environ.get(_SECRET),
        )
        _end_with(until_eof, node.stop)
        # Rows stay, and are in no cycles: looked through every few hundred rows, as is usual, 100,000 files take
        # a third of the time of a step.
        gc.set_threshold(50_000, 20, 100)
        node.run(ready=lambda: click.echo(f"listening at {node.ip_port}"))


@main.command()
@click.argument("number", type=click.IntRange(min=0))
@_FOLDER
@click.option("--until-eof", is_flag=True, hidden=True)
def datanode(number: int, folder: Path, until_eof: bool) -> None:
    """Run a DataNode of a cluster.  Until Ctrl-C or SIGTERM."""
    with _told_in_a_line():
        plan = Plan.read(folder)
        address, data_address = plan.datanodes[number]
        node = DataNode(
            folder / f"datanode-{number}",
            plan.namenodes,
            address=address,
            data_address=data_address,
            capacity=plan.capacity,
            secret=os.environ.get(_SECRET),
        )
        _end_with(until_eof, lambda: os._exit(0))
        node.run(lambda addr: click.echo(f"listening at {addr}"))


@contextmanager
def _told_in_a_line() -> Iterator[None]:
    try:
        yield
    except IndexError:
        raise click.ClickException("the cluster has no such node") from None
    except ClewError as error:
        raise _refusal(error) from error


def _end_with(until_eof: bool, end: Callable[[], object]) -> None:
    """End when the process that started this one does, and so closes standard input."""
    if until_eof:

        def wait() -> None:
            sys.stdin.read()
            end()

        threading.Thread(target=wait, daemon=True).start()


def _progress() -> Any:
    """Return what shows how far a copy is, on a terminal and if it takes longer than two seconds."""
    from fsspec.callbacks import Callback

    class Progress(Callback):  # type: ignore[misc]  # fsspec has no types
        began = time.monotonic()
        bytes = 0

        def branched(self, path_1: str, path_2: str, **kwargs: Any) -> Any:
            return Progress()

        def relative_update(self, inc: int = 1) -> None:
            super().relative_update(inc)
            if sys.stderr.isatty() and time.monotonic() - Progress.began > 2:
                click.echo(f"\r{self.value:,} of {self.size or 0:,} bytes ", nl=False, err=True)

    return Progress()
