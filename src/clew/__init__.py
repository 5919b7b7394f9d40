"""Clew finds out whether a distributed system survives faults.

It follows the lineage of what went right (which messages, which state) back to the few faults that could make it
go wrong, tries exactly those, and answers with a counterexample, a certificate within stated bounds, or an honest
"incomplete".

**A model**, in Dedalus or Bloom, is checked: is there a combination of faults that breaks it?

>>> import clew
>>> verdict = clew.check("examples/simple-deliv.ded")
>>> verdict.answer.value, verdict.counterexamples[0].faults
('counterexample', FaultSet(faults=(Loss(source='a', target='c', time=1),)))

``check_grid`` checks it with many values of its params and bounds, and tells the smallest that break it:

>>> grid = clew.check_grid("examples/simple-deliv.ded", {"eff": [0, 1, 2], "crashes": [0, 1]})
>>> grid.answer.value, [row.words for row in grid.smallest]
('counterexample', ['eff=2 crashes=0'])

``run`` performs one execution, under faults of your choice:

>>> run = clew.run("examples/simple-deliv.ded", [clew.Loss("a", "b", 1)])
>>> run.answer.value, run.rows("log")
('violated', (('a', 'data'), ('c', 'data')))

``replay_verdict`` tries the counterexamples of a saved verdict on the program as it is now:

>>> from pathlib import Path
>>> _ = Path("verdict.json").write_text(verdict.to_json())
>>> clew.replay_verdict("verdict.json").answer.value
'still fails'

``check_models`` tests models, or all below a folder, against what they say is expected of them:

>>> clew.check_models(["examples/kafka.ded", "examples/flux.ded"]).answer.value
'as expected'

**Python code** is simulated (``clew.simulation``): ``fuzz`` draws random executions until an invariant breaks,
``minimize`` makes what it found small enough to be read, ``replay`` executes a recording again, exactly:

>>> found = clew.fuzz("examples/lock/lock.py:hasty")
>>> found.answer.value, found.recording.deliveries
('violation', 40)
>>> small = clew.minimize(found.recording)
>>> small.answer.value, small.size.deliveries
('minimized', 10)
>>> clew.replay(small.recording).answer.value
'same'

``check_scenario`` injects faults into code that keeps virtual time, chosen by the lineage of what went right:

>>> checked = clew.check_scenario("examples/replication/replication.py:lossy", losses=3, crashes=1)
>>> checked.answer.value, str(checked.counterexample.faults)
('counterexample', 'O(b,coordinator,Report,2) O(c,coordinator,Report,2) C(a,6)')

``run_scenario`` performs one execution of it, under faults of your choice:

>>> clew.run_scenario("examples/replication/replication.py:lossy", checked.counterexample.faults).answer.value
'violated'

``explore`` executes every schedule of a small scenario:

>>> explored = clew.explore("examples/lock/lock.py:three_careful")
>>> explored.answer.value, explored.schedules
('all explored', 444)

``check_history`` looks at what clients saw, recorded in a scenario or read from a file (``clew.histories``):

>>> history = clew.check_history("examples/histories/stale-read.jsonl", "register")
>>> history.answer.value, history.windows[0].culprit.result
('violated', 1)

**A Bloom program** (``clew.bloom``) runs on a network, is checked like a model, and is analysed for order:
``calm`` says which outputs depend on it, ``blazes`` which coordination helps:

>>> clew.calm("examples/bloom/reliable_broadcast.py:ReliableBroadcast").answer.value
'consistent'
>>> clew.blazes("examples/blazes/word-count.yaml").reason
'the contents of db can differ'

``annotate`` and ``annotate_source`` say what the steps and sources of a Bytewax dataflow do, so that ``blazes``
can read it (docs/streams.md):

>>> @clew.annotate("CR")
... def split_tweet(tweet: str) -> list[str]:
...     return tweet.split()
>>> @clew.annotate_source(seal=["batch"])
... class Tweets: ...

``cover`` runs a command, mostly tests, and counts what the rules of a class do in all of its processes:

>>> import sys
>>> step = "import kvs; node = kvs.BasicKVS(); node.kvput.insert(('me', 'key', 1, 'value')); node.tick()"
>>> command = [sys.executable, "-c", f"import sys; sys.path.insert(0, 'examples/bloom'); {step}"]
>>> covered = clew.cover("examples/bloom/kvs.py:BasicKVS", command)
>>> covered.answer.value, len(covered.rules), len(covered.dead)
('counted', 4, 3)

Every one of these results (a ``clew.Result``) has an ``answer``, the ``reason`` why it is no better, ``notices``
about the program, and the ``exit_code`` of the command.  ``str()`` is what the terminal shows, ``to_json()`` what
``--json`` writes (docs/json.md), and ``write_report`` makes a page of it that opens from disk:

>>> print(verdict.exit_code, str(verdict).splitlines()[0])
1 COUNTEREXAMPLE: 1 fault, within EOT 4, EFF 2, 0 crashes, nodes a, b, c.
>>> clew.write_report(verdict, "report.html")

``export`` writes an execution for other tools: ShiViz, Apalache's ITF, Perfetto, OpenTelemetry, Mermaid:

>>> print(clew.export(small, "mermaid").splitlines()[0])
sequenceDiagram

**In a test suite**, pytest has all of this by a plugin that loads itself (docs/pytest.md):

>>> @clew.scenario_test("replication.py:careful", losses=2, crashes=1)
... def test_acknowledged_writes_survive() -> None: ...

What cannot be asked (a program with a mistake, a bound that makes no sense) raises ``ProgramError`` or
``UsageError``, which are ``ClewError``, with a place and a remedy.

Read ``clew.faults`` for the failure model, ``clew.engine.encode`` for what an execution is,
``clew.search.lineage`` for the idea that the whole is built around, and docs/internals.md for the rooms.
"""

from __future__ import annotations

#: Type checkers take it for true.  Nothing is imported here, not even ``typing``: the command passes through this
#: module before it can answer Ctrl-C.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from clew.analysis.blazes.result import BlazesAnalysis
    from clew.analysis.blazes.streaming.declared import annotate, annotate_source
    from clew.analysis.calm.result import CalmAnalysis
    from clew.checker.api import check, run
    from clew.checker.grid.api import check_grid
    from clew.checker.grid.result import GridResult
    from clew.checker.result import Verdict
    from clew.coverage.api import cover
    from clew.coverage.result import BloomCoverage
    from clew.dedalus.loader import parse_program
    from clew.duration import Duration, Persistence
    from clew.engine.execution import Execution, Message
    from clew.errors import ClewError, Notice, ProgramError, UsageError
    from clew.exploration import Exploration, explore
    from clew.faults import (
        Crash,
        Delay,
        Duplicate,
        FailureSpec,
        Fault,
        FaultSet,
        Loss,
        NodeName,
        Partition,
        Pause,
        Restart,
        Stop,
    )
    from clew.frontends.analyses import blazes, calm
    from clew.histories.api import check_history
    from clew.histories.result import HistoryVerdict
    from clew.injection.checking import check_scenario
    from clew.injection.result import CodeVerdict
    from clew.injection.running import CodeRun, run_scenario
    from clew.minimization.minimizing import Minimized, minimize
    from clew.model_tests.api import check_models
    from clew.model_tests.result import ModelTests
    from clew.program.ir import Program
    from clew.pytest_plugin.decorator import scenario_test
    from clew.report.export.exporting import export
    from clew.report.replay.replaying import ReplayedVerdict, replay_verdict
    from clew.report.writing import write_report
    from clew.results import Result
    from clew.search.verdict import Answer, Counterexample
    from clew.simulation.fuzzing.fuzz import Fuzzed, fuzz
    from clew.simulation.recordings.recording import Recording, write_recording
    from clew.simulation.recordings.replaying import Replayed, replay
    from clew.violation import Violation

__all__ = [
    "Answer",
    "BlazesAnalysis",
    "BloomCoverage",
    "CalmAnalysis",
    "ClewError",
    "CodeRun",
    "CodeVerdict",
    "Counterexample",
    "Crash",
    "Delay",
    "Duplicate",
    "Duration",
    "Execution",
    "Exploration",
    "FailureSpec",
    "Fault",
    "FaultSet",
    "Fuzzed",
    "GridResult",
    "HistoryVerdict",
    "Loss",
    "Message",
    "Minimized",
    "ModelTests",
    "NodeName",
    "Notice",
    "Partition",
    "Pause",
    "Persistence",
    "Program",
    "ProgramError",
    "Recording",
    "Replayed",
    "ReplayedVerdict",
    "Restart",
    "Result",
    "Stop",
    "UsageError",
    "Verdict",
    "Violation",
    "annotate",
    "annotate_source",
    "blazes",
    "calm",
    "check",
    "check_grid",
    "check_history",
    "check_models",
    "check_scenario",
    "cover",
    "explore",
    "export",
    "fuzz",
    "minimize",
    "parse_program",
    "replay",
    "replay_verdict",
    "run",
    "run_scenario",
    "scenario_test",
    "write_recording",
    "write_report",
]

__version__ = "0.1.0"

#: Where the names above live.  They are loaded when they are used: ``clew --version`` must not wait for a solver.
#: The same names stand above for type checkers; a test compares the two.
_HOMES = {
    "clew.analysis.blazes.result": ("BlazesAnalysis",),
    "clew.analysis.blazes.streaming.declared": ("annotate", "annotate_source"),
    "clew.analysis.calm.result": ("CalmAnalysis",),
    "clew.checker.api": ("check", "run"),
    "clew.checker.grid.api": ("check_grid",),
    "clew.checker.grid.result": ("GridResult",),
    "clew.checker.result": ("Verdict",),
    "clew.coverage.api": ("cover",),
    "clew.coverage.result": ("BloomCoverage",),
    "clew.dedalus.loader": ("parse_program",),
    "clew.duration": ("Duration", "Persistence"),
    "clew.engine.execution": ("Execution", "Message"),
    "clew.exploration": ("Exploration", "explore"),
    "clew.errors": ("ClewError", "Notice", "ProgramError", "UsageError"),
    "clew.faults": (
        "Crash",
        "Delay",
        "Duplicate",
        "FailureSpec",
        "Fault",
        "FaultSet",
        "Loss",
        "NodeName",
        "Partition",
        "Pause",
        "Restart",
        "Stop",
    ),
    "clew.frontends.analyses": ("blazes", "calm"),
    "clew.histories.api": ("check_history",),
    "clew.histories.result": ("HistoryVerdict",),
    "clew.injection.checking": ("check_scenario",),
    "clew.injection.result": ("CodeVerdict",),
    "clew.injection.running": ("CodeRun", "run_scenario"),
    "clew.minimization.minimizing": ("Minimized", "minimize"),
    "clew.model_tests.api": ("check_models",),
    "clew.model_tests.result": ("ModelTests",),
    "clew.program.ir": ("Program",),
    "clew.pytest_plugin.decorator": ("scenario_test",),
    "clew.report.export.exporting": ("export",),
    "clew.report.replay.replaying": ("ReplayedVerdict", "replay_verdict"),
    "clew.report.writing": ("write_report",),
    "clew.results": ("Result",),
    "clew.search.verdict": ("Answer", "Counterexample"),
    "clew.simulation.fuzzing.fuzz": ("Fuzzed", "fuzz"),
    "clew.simulation.recordings.recording": ("Recording", "write_recording"),
    "clew.simulation.recordings.replaying": ("Replayed", "replay"),
    "clew.violation": ("Violation",),
}


def __getattr__(name: str) -> object:
    from importlib import import_module

    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module 'clew' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
