"""What the commands of the metadata protocol mean, said a second time: a dictionary of paths."""

from __future__ import annotations

from typing import Any


class TreeModel:
    """Applies commands one after the other; ``nodes``: what is there, files with their chunks, folders None."""

    def __init__(self) -> None:
        self.nodes: dict[str, list[int] | None] = {"/": None}

    def apply(self, command: str, path: str, arg: Any) -> Any:
        """Apply a command; return True, or why it fails."""
        return getattr(self, f"_{command}")(path, arg)

    def _room_for(self, path: str) -> str | None:
        parent = path.rpartition("/")[0] or "/"
        if parent not in self.nodes:
            return "ENOENT"
        return None if self.nodes[parent] is None else "ENOTDIR"

    def _is_dir(self, path: str) -> bool:
        return path in self.nodes and self.nodes[path] is None

    def below(self, path: str) -> list[str]:
        return [p for p in self.nodes if p != path and (p.startswith(path + "/") or path == "/")]

    def _create(self, path: str, overwrite: bool) -> Any:
        if path in self.nodes:
            if self._is_dir(path):
                return "EISDIR"
            if not overwrite:
                return "EEXIST"
        elif why := self._room_for(path):
            return why
        self.nodes[path] = []
        return True

    def _mkdir(self, path: str, _: Any) -> Any:
        if path in self.nodes:
            return True if self._is_dir(path) else "EEXIST"
        if why := self._room_for(path):
            return why
        self.nodes[path] = None
        return True

    def _remove(self, path: str, recursive: bool) -> Any:
        if path == "/":
            return "EPERM"
        if path not in self.nodes:
            return "ENOENT"
        below = self.below(path)
        if below and not recursive:
            return "ENOTEMPTY"
        for each in [path, *below]:
            del self.nodes[each]
        return True

    def _rename(self, path: str, to: str) -> Any:
        if path not in self.nodes:
            return "ENOENT"
        if path == "/":
            return "EPERM"
        if to.startswith(path + "/"):
            return "EINVAL"
        if to == "/":
            return "EEXIST" if self._is_dir(path) else "EISDIR"
        if why := self._room_for(to):
            return why
        if to == path:
            return True
        if to in self.nodes:
            if self._is_dir(to):
                return "EEXIST" if self._is_dir(path) else "EISDIR"
            if self._is_dir(path):
                return "ENOTDIR"
        moved = {to + p[len(path) :]: self.nodes[p] for p in [path, *self.below(path)]}
        for each in [path, *self.below(path)]:
            del self.nodes[each]
        self.nodes.update(moved)
        return True

    def _add_chunk(self, path: str, meant: list[int] | None) -> Any:
        if path not in self.nodes:
            return "ENOENT"
        if self._is_dir(path):
            return "EISDIR"
        return True if self.nodes[path] is meant else "ESTALE"
