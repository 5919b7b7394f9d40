"""The tree is the architecture: imports point one way, and only the edges of the system print."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

from clew.program.graph import components

SOURCE = Path(__file__).parents[1] / "src" / "clew"

#: The rooms from left to right; a module imports only from its own room and those before it.
ROOMS = [
    "verify",
    "errors",
    "names",
    "results",
    "faults",
    "violation",
    "duration",
    "node_lists",
    "bounds",
    "expectation",
    "program",
    "budgets",
    "files",
    "workers",
    "histories",
    "simulation",
    "exploration",
    "minimization",
    "dedalus",
    "bloom",
    "multipaxos",
    "boomfs",
    "analysis",
    "frontends",
    "coverage",
    "coordination",
    "engine",
    "proof",
    "lineage",
    "search",
    "injection",
    "aio",
    "checker",
    "model_tests",
    "explain",
    "report",
    "cli",
    "pytest_plugin",
    "__main__",
]
#: The same within a room, for those that are divided: its folders and modules from left to right.  The file
#: ``__init__.py`` of a room comes last, since it collects what the room offers.
SUB_ROOMS = {
    "analysis": ["calm", "blazes", "__init__"],
    "aio": [
        *["settings", "running", "packets", "futures", "fences", "disks", "lineage", "network", "loop"],
        *["patching", "hosts", "scenarios", "__init__"],
    ],
    "analysis/calm": [
        *["refinements", "dataflow", "boundaries", "histories", "analysis", "trying"],
        *["result", "__init__"],
    ],
    "analysis/blazes": [
        *["seals", "annotations", "dataflow", "cycles", "inference", "reconciliation", "derivation", "blame"],
        *["remedies", "verdict", "wiring", "imported_modules", "coordinated", "extraction", "yaml", "streaming"],
        *["result", "__init__"],
    ],
    "bloom": [
        *["values", "lattices", "ir", "purity", "language", "runtime", "network", "tracing", "to_program"],
        *["simulated", "__init__"],
    ],
    "boomfs": [
        *["paths", "settings", "messages", "data_protocol", "namenode", "datanode", "client", "local_cluster"],
        *["command", "__main__", "__init__"],
    ],
    "boomfs/namenode": ["requests", "namespace", "order", "placement", "chunks", "node", "replicated", "__init__"],
    "boomfs/datanode": ["chunk_store", "data_server", "node", "__init__"],
    "boomfs/client": [
        *["rules", "errors", "session", "metadata", "data_client", "files", "filesystem", "__init__"],
    ],
    "simulation": [
        *["events", "node", "pool", "timing", "values", "user_code", "process", "world", "injectable"],
        *["scenario", "labels", "loading", "sending", "execution", "recordings", "fuzzing", "__init__"],
    ],
    "histories": [
        *["values", "operations", "pairing", "recorder", "inputs", "models", "linearizability", "transactions"],
        *["words", "result", "api", "__init__"],
    ],
    "injection": [
        *["faults", "bounds", "written", "execution", "repeating", "lineage", "searching", "explaining"],
        *["meaning", "result", "deadly", "checking", "running", "__init__"],
    ],
    "pytest_plugin": [
        *["running", "options", "sources", "searching", "judging", "storing", "texts", "regression", "failing"],
        *["replaying", "checking", "decorator", "reporting", "covering", "hooks", "__init__"],
    ],
    "report": [
        *["text", "renderers", "diagrams", "lineage", "verdict", "grid", "replay", "simulated", "injected"],
        *["export", "calm", "blazes", "histories", "model_tests", "coverage", "writing"],
        "__init__",
    ],
}
MODULES = sorted(p for p in SOURCE.rglob("*.py") if p != SOURCE / "__init__.py")


def _room(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def _imported_rooms(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "clew":
            names = (
                [f"{node.module}.{a.name}" for a in node.names] if node.module == "clew" else [node.module or ""]
            )
            yield from (name.split(".")[1] for name in names)
        elif isinstance(node, ast.Import):
            yield from (a.name.split(".")[1] for a in node.names if a.name.startswith("clew."))


def _module(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported_modules(path: Path, known: Collection[str]) -> Iterator[str]:
    """Yield the modules that a module imports anywhere: at the top, for type checking only, or in a function."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module is not None and node.module in known:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in known else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)


def test_every_room_is_in_the_list() -> None:
    assert {_room(p) for p in MODULES} == set(ROOMS)


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_point_one_way(path: Path) -> None:
    own = ROOMS.index(_room(path))
    later = [room for room in _imported_rooms(path) if ROOMS.index(room) > own]
    assert later == []


@pytest.mark.parametrize("room", SUB_ROOMS)
def test_imports_within_a_room_point_one_way(room: str) -> None:
    order = SUB_ROOMS[room]
    depth = len((SOURCE / room).parts)

    def part(path: Path) -> str:
        return path.parts[depth].removesuffix(".py")

    paths = {_module(p): p for p in MODULES if SOURCE / room in p.parents}
    assert {part(path) for path in paths.values()} == set(order)
    for path in paths.values():
        own = order.index(part(path))
        later = [m for m in _imported_modules(path, paths) if order.index(part(paths[m])) > own]
        assert later == [], path


def test_no_modules_import_each_other() -> None:
    """Not even for type checking or in a function: a cycle cannot be read from one end to the other."""
    paths = {_module(path): path for path in MODULES}
    imports = {name: sorted(set(_imported_modules(path, paths))) for name, path in paths.items()}
    assert [c for c in components(imports, lambda name: imports[name]) if len(c) > 1] == []


def test_the_failure_model_imports_nothing_of_ours_but_how_names_are_shown() -> None:
    assert list(_imported_rooms(SOURCE / "names.py")) == []
    for path in (SOURCE / "faults").glob("*.py"):
        assert set(_imported_rooms(path)) <= {"faults", "names"}
    assert list(_imported_rooms(SOURCE / "errors.py")) == []
    assert list(_imported_rooms(SOURCE / "violation.py")) == ["names"]


def test_the_checker_of_proofs_shares_no_code_with_what_makes_them() -> None:
    for path in (SOURCE / "verify").glob("*.py"):
        assert set(_imported_rooms(path)) <= {"verify"}
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
                assert not {name.split(".")[0] for name in names} & {"clingo", "pysat"}
    for path in MODULES:
        if "verify" in _imported_rooms(path):
            assert path == SOURCE / "cli" / "commands" / "verify.py" or _room(path) == "verify"


def test_strategies_know_nothing_of_dedalus() -> None:
    """They see the protocol, faults and circuits; so simulated code can be searched by the same loop."""
    allowed = {"errors", "names", "faults", "violation", "duration", "budgets", "lineage", "search"}
    for path in (SOURCE / "search").glob("*.py"):
        assert set(_imported_rooms(path)) <= allowed
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(
                ("clew.engine", "clew.lineage")
            ):
                assert node.module == "clew.lineage.circuit"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_only_the_command_line_prints_or_exits(path: Path) -> None:
    if _room(path) == "cli":
        return
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in ("print", "exit", "eval", "exec")
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            assert (node.value.id, node.attr) != ("sys", "exit")


@pytest.mark.parametrize("path", [*MODULES, SOURCE / "__init__.py"], ids=lambda p: str(p.relative_to(SOURCE)))
def test_every_module_says_what_it_is_for(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not text or ast.get_docstring(ast.parse(text))
