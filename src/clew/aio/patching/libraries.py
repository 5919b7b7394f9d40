"""Libraries that start threads of their own for what is called synchronously: anyio, and by it starlette.

Its worker threads wait for work in a queue, and hand results to the loop.  In the simulation the same call is an
event of its own, as with ``asyncio.to_thread``.
"""

from __future__ import annotations

import importlib
import sys
from contextlib import suppress
from contextvars import copy_context
from typing import Any

from clew.aio.running import current_life

_patched: set[str] = set()


def patch_libraries() -> None:
    """Patch libraries that have been imported since the last time."""
    if "anyio" in sys.modules and "anyio" not in _patched:
        # It loads this when it is first used, which would be in the midst of an event.
        with suppress(ImportError):
            importlib.import_module("anyio._backends._asyncio")
    module: Any = sys.modules.get("anyio._backends._asyncio")
    if module is not None and "anyio" not in _patched and hasattr(module, "AsyncIOBackend"):
        _patched.add("anyio")
        _patch_anyio(module)


def _patch_anyio(module: Any) -> None:
    backend = module.AsyncIOBackend
    original = backend.run_sync_in_worker_thread.__func__

    async def run_sync(
        cls: Any, func: Any, args: Any, abandon_on_cancel: bool = False, limiter: Any = None
    ) -> Any:
        if current_life() is None:
            return await original(cls, func, args, abandon_on_cancel, limiter)
        await cls.checkpoint()
        loop = module.get_running_loop()
        async with limiter or cls.current_default_thread_limiter():
            context = copy_context()

            def call() -> Any:
                return context.run(func, *args)

            return await loop.run_in_executor(None, call)

    backend.run_sync_in_worker_thread = classmethod(run_sync)
