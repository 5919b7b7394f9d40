"""The templates of pages, which share their head."""

from __future__ import annotations

from importlib.resources import files

from jinja2 import Environment, FunctionLoader, StrictUndefined, Template


def page_template(name: str) -> Template:
    """The template of this name; everything that is put into it is escaped."""
    parts = files("clew.report") / "page"
    loader = FunctionLoader(lambda part: (parts / part).read_text(encoding="utf-8"))
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True
    )
    return environment.get_template(name)
