"""The templates of pages, which share their head, and the plainest of the pages."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib.metadata import version
from importlib.resources import files

from jinja2 import Environment, FunctionLoader, StrictUndefined, Template
from markupsafe import Markup

from clew.report.diagrams.colours import COLOURS
from clew.report.text.markup import speakable
from clew.results import HOLDS, VIOLATED, Result

#: How the answer at the top of a page is coloured, by exit code; what is neither is incomplete.
_KINDS = {HOLDS: "good-run", VIOLATED: "violated-run"}


def page_template(name: str) -> Template:
    """Return the template of this name; everything that is put into it is escaped."""
    parts = files("clew.report") / "page"
    loader = FunctionLoader(lambda part: (parts / part).read_text(encoding="utf-8"))
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True
    )
    return environment.get_template(name)


def policy_hash(script: str) -> str:
    """Name the one script that a page admits, as its content security policy does."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def page_kind(result: Result) -> str:
    """Return the class of the body of a page about a result."""
    return _KINDS.get(result.exit_code, "incomplete")


def plain_page(
    result: Result,
    *,
    name: str,
    summary: str,
    text: str,
    facts: Sequence[tuple[str, str]] = (),
    replay: str = "",
) -> str:
    """Return a page with no more than an answer and its text: for results that have no picture.

    It has no script and its policy admits none.
    """
    css = (files("clew.report") / "page" / "page.css").read_text(encoding="utf-8")
    return page_template("plain.html").render(
        kind=page_kind(result),
        answer=result.answer.value.upper(),
        name=speakable(name),
        summary=speakable(summary),
        facts=[(speakable(label), speakable(value)) for label, value in facts],
        cautions=[speakable(str(notice)) for notice in result.notices],
        replay=speakable(replay),
        text=speakable(text),
        style=Markup("\n".join([COLOURS, css])),
        version=version("clew"),
    )
