"""JSON as all documents of Clew are written: indented, readable, and in UTF-8 whatever a file is called."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from clew.results import Result

#: Half a character: what the path of a file becomes whose name is not UTF-8.
_SURROGATE = re.compile("[\ud800-\udfff]")


def json_text(document: Mapping[str, Any]) -> str:
    """Write a document; the order of its fields is that of the mapping, so that equal results give equal bytes."""
    return escape_surrogates(json.dumps(document, indent=2, ensure_ascii=False)) + "\n"


def escape_surrogates(text: str) -> str:
    """Write half characters as JSON escapes: no encoding has them, and a reader gets the name back."""
    return _SURROGATE.sub(lambda half: f"\\u{ord(half.group()):04x}", text)


def result_fields(result: Result) -> dict[str, Any]:
    """Return the fields that every document about a result begins with, after its format and version."""
    return {"verdict": result.answer.value, "reason": result.reason, "exit_code": result.exit_code}
