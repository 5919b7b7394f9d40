"""Text from programs in XML and HTML: what markup cannot hold is written out, what it would obey is escaped."""

from __future__ import annotations

import re
from html import escape

#: What XML 1.0 cannot hold, not even escaped.
_UNSPEAKABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def speakable(text: str) -> str:
    """Characters that XML cannot hold, written as Python writes them: distinct names stay distinct."""
    return _UNSPEAKABLE.sub(lambda found: ascii(found.group())[1:-1], text)


def safe(text: str) -> str:
    """For drawings, in element content and attributes alike: only what can be seen, and line breaks.

    It takes as many characters as before: the layout has made room for them.
    """
    return escape("".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text))
