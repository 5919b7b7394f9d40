"""A regression test that stands alone: it replays what was found, with the public API and nothing of this plugin.

It fails while the bug is there.  Where the code has changed so much that the recording does not fit any more, a
replay says nothing, and the test searches as the one that found it: it never passes for want of something to do.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clew.files.python_names import split_name
from clew.files.writing import write_whole
from clew.names import in_one_line
from clew.pytest_plugin.running import RunningTest
from clew.pytest_plugin.searching import Plan
from clew.pytest_plugin.sources import Kind
from clew.pytest_plugin.storing import name_of_test

#: So much of the name of a test is kept in that of the file, and so many digits tell it from others.
_MOST_READ, _DIGITS = 40, 12

_HEAD = '''"""Regression test, written by ``pytest --clew-write-test`` for {test}.

{headline}
"""

from pathlib import Path

import clew

HERE = Path(__file__).parent
RECORDED = HERE / "{document}"
'''

_OF_SCENARIO = """SCENARIO = f"{{HERE / {file!r}}}{name}"


def test_{function}() -> None:
    replayed = clew.replay(RECORDED, SCENARIO, changed_code=True)
    if replayed.answer.value != "cannot be followed":
        assert replayed.answer.value == "fixed", str(replayed)
        return
    # The code has changed so much that the recording does not fit: search as the test did that found it.
    found = clew.{call}(SCENARIO{options})
    assert found.answer.value != "{bad}", str(found)
    assert found.exit_code == 0 or {searched}, str(found)
"""

_OF_MODEL = """FILES = [{files}]


def test_{function}() -> None:
    replayed = clew.replay_verdict(RECORDED, FILES)
    assert replayed.answer.value == "fixed", str(replayed)
"""


def write_test(test: RunningTest, plan: Plan, document: str, headline: str) -> list[str]:
    """Write the test and its recording beside the test that failed; return what to say of it."""
    # A test that stands alone has to name what it is about.
    if not plan.target.files:
        return ["no regression test is written: what is checked was made in Python; name it as FILE.py:NAME"]
    if not _is_literal(plan.options):
        return ["no regression test is written: its options are more than numbers and texts"]
    readable = re.sub("[^a-z0-9]+", "_", test.item.name.lower()).strip("_")[:_MOST_READ].strip("_")
    readable = readable.removeprefix("test_")
    digest = hashlib.sha256(f"{name_of_test(test.item.nodeid)} {test.checks}".encode()).hexdigest()[:_DIGITS]
    folder = test.item.path.parent
    file = folder / f"test_clew_{readable}_{digest}.py"
    recorded = file.with_suffix(".json")
    try:
        # First what it reads: a test without its recording would fail for the wrong reason.
        write_whole(recorded, document)
        write_whole(file, _text(test, plan, recorded.name, f"{readable}_{digest}", headline, folder))
    except OSError as error:
        return [f"no regression test is written: {error.strerror or error}"]
    return [f"regression test: {os.path.relpath(file)}"]


def _text(test: RunningTest, plan: Plan, document: str, function: str, headline: str, folder: Path) -> str:
    # In a docstring, neither quotes nor backslashes may end or change anything.
    quiet = [in_one_line(text).replace("\\", "/").replace('"', "'") for text in (test.item.nodeid, headline)]
    head = _HEAD.format(test=quiet[0], headline=quiet[1], document=document)
    if plan.target.kind is Kind.MODEL:
        files = ", ".join(f"str(HERE / {_from(folder, file)!r})" for file in plan.target.files)
        return head + _OF_MODEL.format(files=files, function=function)
    (name,) = plan.target.files
    file, inner = split_name(name)
    is_code_check = plan.call == "check_scenario"
    return head + _OF_SCENARIO.format(
        file=_from(folder, file),
        name=f":{inner}" if inner else "",
        function=function,
        call=plan.call,
        options="".join(f", {name}={value!r}" for name, value in plan.options.items() if name != "time_limit"),
        bad="counterexample" if is_code_check else "violation",
        # A search by lineage ends without a certificate, also where nothing is left to be tried.
        searched="found.runs > found.vacuous" if is_code_check else "False",
    )


def _from(folder: Path, file: str) -> str:
    """Return a file, or a name in one, as seen from a folder."""
    path, inner = split_name(file)
    # Forward slashes work everywhere, and the file may be read on another system.
    seen = Path(os.path.relpath(path, folder)).as_posix()
    return f"{seen}:{inner}" if inner else seen


def _is_literal(options: Mapping[str, Any]) -> bool:
    """Tell whether options can be written down as they are."""
    simple = (int, float, str, bool, type(None))
    return all(
        isinstance(value, simple)
        or (isinstance(value, tuple | list) and all(isinstance(v, simple) for v in value))
        for value in options.values()
    )
