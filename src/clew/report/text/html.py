"""Pages and drawings: their templates and parts, and text from programs as XML and HTML can hold it."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from html import escape
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING

from clew.report.text.colours import COLOURS
from clew.results import HOLDS, VIOLATED, Result

if TYPE_CHECKING:
    from jinja2 import Template

#: How the answer at the top of a page is coloured, by exit code; what is neither is incomplete.
_KINDS = {HOLDS: "good-run", VIOLATED: "violated-run"}


def page_part(name: str) -> str:
    """Read a style, script or template of the pages."""
    return (files("clew.report") / "page" / name).read_text(encoding="utf-8")


def page_template(name: str) -> Template:
    """Load a template; everything that is put into it is escaped."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined  # drawings and JUnit files do without it

    environment = Environment(
        loader=FunctionLoader(page_part), autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True
    )
    # Undefined names raise: a page that silently lacks a part would look complete.
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
    from markupsafe import Markup

    return page_template("plain.html").render(
        kind=page_kind(result),
        answer=result.answer.value.upper(),
        name=speakable(name),
        summary=speakable(summary),
        facts=[(speakable(label), speakable(value)) for label, value in facts],
        cautions=[speakable(str(notice)) for notice in result.notices],
        replay=speakable(replay),
        text=speakable(text),
        style=Markup("\n".join([COLOURS, page_part("page.css")])),
        version=version("clew"),
    )


#: What XML 1.0 cannot hold, not even escaped.
_UNSPEAKABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def speakable(text: str) -> str:
    """Write characters that XML cannot hold as Python writes them: distinct names stay distinct."""
    return _UNSPEAKABLE.sub(lambda found: ascii(found.group())[1:-1], text)


def safe(text: str) -> str:
    """Escape text for element content and attributes of drawings: only what can be seen, and line breaks.

    It takes as many characters as before: the layout has made room for them.
    """
    return escape("".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text))
