"""``clew blazes --synthesize``: the text of the coordinated program."""

from __future__ import annotations

from pathlib import Path

from clew.analysis.blazes import Dataflow
from clew.coordination.planning import plan_for
from clew.coordination.plans import Service
from clew.coordination.rendering import module_text
from clew.errors import UsageError
from clew.files.python_names import is_python, split_name
from clew.frontends.bloom import open_bloom

KINDS = ("seal", "order")
SERVICES = tuple(service.value for service in Service)


def synthesized_text(file: str, dataflow: Dataflow, how: str, *, independent: bool, service: str) -> str:
    """The module that wraps the class which ``file`` names."""
    if not is_python(file):
        raise UsageError(
            "--synthesize is for Bloom programs",
            remedy="name a class: clew blazes FILE.py:CLASS --synthesize seal",
        )
    cls = open_bloom(file).cls
    plan = plan_for(cls, dataflow, how, independent=independent, service=Service(service))
    path = Path(split_name(file)[0])
    made_by = (
        f"clew blazes {path.name}:{cls.__name__} --synthesize {how}; it imports {path.name}, so keep it there"
    )
    # The file was loaded under a name of its own; whoever imports the text finds it beside itself.
    return module_text(cls, plan, made_by=made_by, modules={cls.__module__: path.stem})
