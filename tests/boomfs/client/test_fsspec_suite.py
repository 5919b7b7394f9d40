"""The suite that fsspec has for file systems, on local files and on ``boomfs://``: both pass the same tests.

Those of ``copy`` and ``get`` take a minute, and run with ``--thorough``.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from fsspec.implementations.local import LocalFileSystem
from fsspec.tests import abstract

from clew.boomfs.client.filesystem import BoomFileSystem


class _OnLocalFiles(abstract.AbstractFixtures):  # type: ignore[misc]  # fsspec has no types
    @pytest.fixture
    def fs(self) -> Any:
        return LocalFileSystem(auto_mkdir=True)

    @pytest.fixture
    def fs_path(self, tmp_path: Path) -> str:
        return str(tmp_path / "remote")


class _OnBoomFs(abstract.AbstractFixtures):  # type: ignore[misc]
    @pytest.fixture
    def fs(self, shared: BoomFileSystem) -> BoomFileSystem:
        return shared

    @pytest.fixture
    def fs_path(self) -> str:
        return f"/{uuid4().hex}"

    @pytest.fixture
    def fs_join(self) -> Callable[..., str]:
        return lambda *parts: "/".join(
            part.rstrip("/") if k < len(parts) - 1 else part for k, part in enumerate(parts)
        )


@pytest.mark.long
class TestCopyLocal(abstract.AbstractCopyTests, _OnLocalFiles):  # type: ignore[misc]
    pass


@pytest.mark.long
class TestCopy(abstract.AbstractCopyTests, _OnBoomFs):  # type: ignore[misc]
    pass


@pytest.mark.long
class TestGetLocal(abstract.AbstractGetTests, _OnLocalFiles):  # type: ignore[misc]
    pass


@pytest.mark.long
class TestGet(abstract.AbstractGetTests, _OnBoomFs):  # type: ignore[misc]
    pass


class TestPutLocal(abstract.AbstractPutTests, _OnLocalFiles):  # type: ignore[misc]
    pass


class TestPut(abstract.AbstractPutTests, _OnBoomFs):  # type: ignore[misc]
    pass


class TestPipeAndOpenLocal(abstract.AbstractPipeTests, abstract.AbstractOpenTests, _OnLocalFiles):  # type: ignore[misc]
    pass


class TestPipeAndOpen(abstract.AbstractPipeTests, abstract.AbstractOpenTests, _OnBoomFs):  # type: ignore[misc]
    pass
