"""docs/ci.md: configurations are YAML with what each system needs, and every command in them runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from command import ROOT
from plugin_projects import TOLD

PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
MODEL = (
    "//! nodes=a,b eot=3 eff=1 expect=certified\n"
    "log(a, x)@1; log(N, X)@next :- log(N, X); pre(X) :- log(_, X); post(X) :- log(_, X);\n"
)
TEST = 'import clew\n\n@clew.scenario_test("told.py:timed", losses=1)\ndef test_told(): pass\n'


def _configurations() -> dict[str, Any]:
    """Return the documents of the page by the file that they are for."""
    found = re.findall(r"```yaml\n# (\S+)\n(.*?)```", PAGE, re.DOTALL)
    return {name: yaml.safe_load(text) for name, text in found}


def _commands(configuration: dict[Any, Any]) -> list[str]:
    jobs = configuration.get("jobs", configuration)
    steps = [step.get("run") for job in jobs.values() if isinstance(job, dict) for step in job.get("steps", ())]
    parts = ("before_script", "script")
    scripts = [
        line for job in jobs.values() if isinstance(job, dict) for part in parts for line in job.get(part, ())
    ]
    return [line for line in (*steps, *scripts) if line]


def test_every_block_of_the_page_is_one_of_three_files() -> None:
    assert PAGE.count("```yaml") == 3
    assert sorted(_configurations()) == [
        ".github/workflows/tests.yml",
        ".gitlab-ci.yml",
        ".pre-commit-config.yaml",
    ]


def test_the_workflow_keeps_what_is_stored_whatever_comes_of_the_tests() -> None:
    (job,) = _configurations()[".github/workflows/tests.yml"]["jobs"].values()
    used = {step["uses"].partition("@")[0]: step for step in job["steps"] if "uses" in step}
    restore, save = used["actions/cache/restore"], used["actions/cache/save"]
    assert restore["with"]["path"] == save["with"]["path"] == ".clew"
    assert restore["with"]["key"] == save["with"]["key"]
    assert all(restore["with"]["key"].startswith(key) for key in restore["with"]["restore-keys"].splitlines())
    assert "always()" in save["if"]
    upload = used["actions/upload-artifact"]["with"]
    assert upload["path"].split() == [".clew", "junit.xml", "junit-models.xml"]
    assert upload["include-hidden-files"] is True


def test_the_jobs_of_gitlab_keep_it_as_well() -> None:
    jobs = _configurations()[".gitlab-ci.yml"]
    (kept,) = (cache for cache in jobs["tests"]["cache"] if cache["paths"] == [".clew"])
    assert kept["when"] == "always"
    assert jobs["tests"]["artifacts"]["paths"] == [".clew"]
    assert [jobs[name]["artifacts"]["reports"]["junit"] for name in ("tests", "models")] == [
        "junit.xml",
        "junit-models.xml",
    ]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    files = {"told.py": TOLD, "test_told.py": TEST, "kept.ded": MODEL, "requirements.txt": "# is there already\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def _run(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", line],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )


def test_every_command_runs_and_the_hook_as_well(project: Path) -> None:
    configurations = _configurations()
    commands = [_commands(configurations[name]) for name in (".github/workflows/tests.yml", ".gitlab-ci.yml")]
    # The same for both, so each is run once.
    assert sorted(commands[0]) == sorted(commands[1])
    assert len(commands[0]) == 3
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    ((used,),) = [repo["hooks"] for repo in configurations[".pre-commit-config.yaml"]["repos"]]
    assert used["id"] == hook["id"]
    assert all(re.search(hook["files"], name) for name in ("a.ded", "b/c.py"))
    assert {"entry", "name", "language"} <= set(hook)
    for line in commands[0]:
        done = _run(line, project)
        assert done.returncode == 0, (line, done.stdout, done.stderr)
    for name, tested in {"junit.xml": "test_told", "junit-models.xml": "kept.ded"}.items():
        cases = ElementTree.parse(project / name).iter("testcase")
        assert any(tested in (case.get("name"), case.get("classname")) for case in cases)
    assert any(line.startswith(hook["entry"]) for line in commands[0])
