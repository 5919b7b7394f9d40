"""``clew blazes --synthesize``: the text of the coordinated program."""

from __future__ import annotations

from pathlib import Path

from clew.analysis.blazes import Verdict
from clew.analysis.blazes.extraction.system import Extraction
from clew.coordination.planning import plan_for
from clew.coordination.plans import Service
from clew.coordination.synthesis import module_text
from clew.errors import UsageError
from clew.files.python_names import split_name

KINDS = ("seal", "order")
SERVICES = tuple(service.value for service in Service)


def synthesized_text(
    file: str, extraction: Extraction | None, verdict: Verdict, how: str, *, independent: bool, service: str
) -> str:
    """Return the module that wraps the class which ``file`` names, and which was extracted and analysed before."""
    if extraction is None:
        raise UsageError(
            "--synthesize is for Bloom programs",
            remedy="name a class: clew blazes FILE.py:CLASS --synthesize seal",
        )
    plan = plan_for(extraction, verdict, how, independent=independent, service=Service(service))
    cls = extraction.module
    path = Path(split_name(file)[0])
    made_by = (
        f"clew blazes {path.name}:{cls.__name__} --synthesize {how}; it imports {path.name}, so keep it there"
    )
    # The file was loaded under a name of its own; whoever imports the text finds it beside itself.
    return module_text(cls, plan, made_by=made_by, modules={cls.__module__: path.stem})
