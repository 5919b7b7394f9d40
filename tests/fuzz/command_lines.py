"""Command lines: every command with options that it has and some that it has not, and with values of all kinds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from random import Random

from fuzz.inputs import LIMITED, Input

_NODES = [
    "a",
    "b",
    "C",
    "Z",
    "1",
    "+1",
    "-2",
    '"a"',
    '"a,b"',
    '"',
    "",
    " ",
    "é",
    "\udcff",
    "a b",
    "a" * 3000,
    "+",
    "+-",
]
_NODES += ["99999999999", "00", "*", "a;b", "a\nb", "\x1b[1m", "_", "X"]
_NUMBERS = [
    "0",
    "1",
    "2",
    "3",
    "-1",
    "99",
    "100000",
    "2147483648",
    "9" * 25,
    "9" * 5000,
    "1.5",
    "x",
    "",
    "1e3",
    " 3",
    "٣",
]
_FACTORS = ["0", "0.01", "-1", "nan", "inf", "1e400", "1", "x", ""]
_TIMES = ["1", "0", "-1", "0.5s", "2m", "1e400", "nan", "x", "", "9" * 400, "1h"]
#: Of models and of scenarios, whose faults have other parts.
_FAULTS = [
    *["a,b,1", "b,Z,1", "a,1", "a,1,2", "a,b,1,2", "a,b:1,2", "a:1,2", "Z,99999999999999999999", ",,,", "", "a"],
    *[
        "server,ann,Grant,1",
        "ann,1",
        "ann,1,0.5",
        "ann,bob:0.1,0.2",
        "ann:nan,inf",
        "ann,server,Want,x",
        "\udcff,1",
    ],
    *["bob,queue,Job,1", "a,b,-1", "a,b,1,-1", "a,2,1", "é,1", "server,ann,Grant,99999999999999999999"],
]
_ROWS = ["write(c, 1)@2", "leader(a, b)@3", "w(@1", "", "x@y", "x()@9999999999"]
_FILES = [
    "kafka.ded",
    "simple-deliv.ded",
    "2pc.ded",
    "lock.py",
    "lock.py:hasty",
    "lock.py:none",
    "broadcast.py:Simple",
]
_FILES += [
    "broadcast.py",
    "missing.ded",
    "",
    ".",
    "-",
    "kafka.json",
    "recording.json",
    "proof.zip",
    "ad-report.yaml",
]
_FILES += [
    "a\udcffb.ded",
    "a\nb.py",
    "x.py:",
    ":",
    "kafka.ded:Simple",
    "x" * 5000,
    "assertions",
    "--",
    "ad_report.py:Ads",
]
_OUTPUTS = [
    "out.json",
    "out.html",
    "out.x",
    "out.y",
    "-",
    "",
    "missing/out",
    ".",
    "assertions",
    "\udcff",
    "x" * 300,
]

#: What each option takes; words that start processes or write files come from short lists.
OPTIONS: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(
        ["--eot", "--eff", "--crashes", "--delays", "--max-runs", "--seed", "--at", "--steps"], _NUMBERS
    ),
    **dict.fromkeys(["--runs", "--at-least", "--try", "--timers", "--losses", "--duplicates"], _NUMBERS),
    **dict.fromkeys(["--restarts", "--pauses", "--partitions", "--stops", "--inputs", "--faults"], _NUMBERS),
    **dict.fromkeys(["--latencies", "--clocks", "--states", "--counterexample"], _NUMBERS),
    **dict.fromkeys(["--effort", "--sweep", "--fail-under"], _FACTORS),
    **dict.fromkeys(["--until", "--faults-until", "--outage", "--total-time-limit"], _TIMES),
    **dict.fromkeys(
        ["--lose", "--crash", "--delay", "--duplicate", "--restart", "--pause", "--partition", "--stop"], _FAULTS
    ),
    **dict.fromkeys(["--input", "--choose"], _ROWS),
    "--cluster": ["", "x", "tcp://", "tcp://127.0.0.1:1", "inproc://x", "\udcff", "http://127.0.0.1:1/"],
    "--checkpoint": ["fuzz.ck", "sweep.ck", "code-lineage.ck", "kafka.ded", "", ".", "missing/x.ck", "out.ck"],
    "--model": ["register", "map", "serializable", "stack.py:Stack", "none", "", "lock.py:hasty", "kafka.ded"],
    "--format": ["shiviz", "itf", "chrome", "otlp", "mermaid", "x", ""],
    "--synthesize": ["seal", "order", "", "x"],
    "--service": ["sequencer", "zookeeper", "x"],
    "--trace": ["do_put", "kvs.py:36", "", "\udcff", "x"],
    **dict.fromkeys(
        ["--json", "--report", "--svg", "-o", "--junit", "--proof", "--lineage", "--emit-yaml"], _OUTPUTS
    ),
    "--workers": ["0", "1", "2", "-1", "x"],
    "--set": ["n=3", "acceptors=2", "n", "=", "n=", 'n="', "n=1,2", "eot=3", "\udcff=1", "n=99999999999"],
    "--grid": ["eff=0..2", "crashes=0,1", "eff=2..0", "eot=0..999", "n=1", "nodes=1..2", "eff=a..b", "=", 'eff="'],
    "--time-limit-each": ["1", "0", "x", "1m", "-1"],
    "--strategy": ["exact", "lineage", "random", "exhaustive", "none", ""],
    "--negation": ["exact", "conservative", "ignore", "x"],
    "--relation": ["pre", "log", "", "\udcff", "x"],
    "--variant": ["Report=POOR", "Report", "=", "x=y", ""],
    "--seal": ["clicks=campaign", "clicks=", "=", "clicks=a,a", ""],
    "--memory-limit": ["2G", "1", "x", "99999G", "-1"],
    "--scenario": ["lock.py", "lock.py:hasty", "missing.py", ""],
    "--program": ["kafka.ded", "redun-deliv.ded", ""],
}
FLAGS = [
    "--symmetry",
    "--all",
    "--coverage",
    "--strict",
    "--allow-hollow",
    "--diagram",
    "--step",
    "--changed-code",
]
FLAGS += ["--traceback", "--brief", "--no-shrink", "--independent", "--none", "--fail-on-dead"]
FLAGS += ["--lasting", "--keyed", "--shrink"]
#: Drawn elsewhere, other names of the same, or for who watches: a command in process is not limited from outside.
LEFT_OUT = {"--nodes", "--time-limit", "--output", "--in-process"}
_COMMANDS = [*["check"] * 3, *["run"] * 2, "fuzz", "explore", "calm", "blazes", "verify", "replay", "minimize"]
_COMMANDS += ["export", "history", "test", "cover", "", "chek"]


@cache
def _options_of(command: str) -> Sequence[str]:
    from clew.cli.process.main import COMMANDS, main

    if command not in COMMANDS:
        return list(OPTIONS)
    import click

    found = main.get_command(click.Context(main), command)
    assert found is not None
    return sorted({name for option in found.params for name in option.opts if name in OPTIONS or name in FLAGS})


def _nodes(source: Random) -> str:
    return ",".join(source.choice(_NODES) for _ in range(source.choice([0, 1, 2, 2, 3, 5])))


def _fault(source: Random) -> list[str]:
    nodes, number = _nodes(source), source.choice(_NUMBERS)
    return [source.choice(["--lose", "--crash", "--delay"]), f"{nodes},{number}"]


#: What each command is usually given.
_USUAL: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(
        ["check", "run"],
        ("kafka.ded", "simple-deliv.ded", "2pc.ded", "broadcast.py:Simple", "jobs.py:cached", "jobs.py:durable"),
    ),
    **dict.fromkeys(["fuzz", "explore"], ("lock.py:hasty", "lock.py:three_careful")),
    "calm": ["kafka.ded", "broadcast.py:Simple", "ad_report.py:Ads"],
    "blazes": ["ad-report.yaml", "ad_report.py:Ads", "shop.py:Shop"],
    "verify": ["proof.zip"],
    "replay": ["kafka.json", "simple.json", "recording.json"],
    "minimize": ["recording.json"],
    "export": ["run.json", "recording.json"],
    "history": ["stale-read.jsonl"],
    "cover": ["kvs.py:BasicKVS", "broadcast.py:Simple"],
}
_SMALL = ["0", "1", "2", "3", "5"]


def command_line(source: Random) -> Input:
    command = source.choice(_COMMANDS)
    usual = command in _USUAL and source.random() < 0.8
    words = [command, *([source.choice(_USUAL[command])] if usual else [])]
    for _ in range(source.choice([0, 0, 0, 0, 0, 1] if usual else [0, 1, 1, 1, 2])):
        words.append(source.choice(_FILES))
    if command in ("check", "run") and source.random() < 0.4:
        words += ["--nodes", _nodes(source)]
    if command == "run" and source.random() < 0.5:
        words += _fault(source)
    options = _options_of(command)
    for _ in range(source.choice([0, 1, 1, 2, 3])):
        option = source.choice(options if source.random() < 0.97 else list(OPTIONS))
        if option in FLAGS:
            words.append(option)
        elif OPTIONS[option] is _NUMBERS and source.random() < 0.7:
            words += [option, source.choice(_SMALL)]
        else:
            words += [option, source.choice(OPTIONS[option])]
    if command == "cover":
        words += ["--", "true"]
    return Input((*words, *LIMITED))
