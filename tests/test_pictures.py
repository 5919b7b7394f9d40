"""The pictures of the documentation are what the tool draws today, and the pages describe them in words."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from command import ROOT

PICTURES = ROOT / "docs" / "pictures"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all pictures, drawn again."""
    folder = tmp_path_factory.mktemp("pictures")
    subprocess.run(
        ["sh", str(PICTURES / "make.sh"), str(folder)],
        cwd=ROOT,
        env={**os.environ, "CLEW": f"{sys.executable} -m clew"},
        timeout=300,
        check=True,
    )
    return folder


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*.svg"))


def _shown() -> dict[Path, str]:
    """The pictures that pages show, with what stands in for them when they cannot be seen."""
    return {
        (page.parent / target).resolve(): alternative
        for page in PAGES
        for alternative, target in re.findall(r"!\[(.*?)\]\((.*?)\)", page.read_text(encoding="utf-8"), re.DOTALL)
    }


def test_the_script_draws_all_pictures(drawn: Path) -> None:
    assert _names(drawn) == _names(PICTURES)


@pytest.mark.parametrize("name", _names(PICTURES))
def test_a_picture_is_what_the_tool_draws(name: str, drawn: Path) -> None:
    same = (drawn / name).read_bytes() == (PICTURES / name).read_bytes()
    assert same, f"{name} is out of date: make pictures"


@pytest.mark.parametrize("name", _names(PICTURES))
def test_a_picture_stands_alone(name: str) -> None:
    text = (PICTURES / name).read_text(encoding="utf-8")
    assert ElementTree.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"
    assert not re.search(r"<script|https?://(?!www\.w3\.org/)", text)


def test_every_picture_is_shown_with_words_beside_it() -> None:
    shown = _shown()
    assert sorted(shown) == sorted(PICTURES / name for name in _names(PICTURES))
    assert all(len(alternative.split()) > 5 for alternative in shown.values())
