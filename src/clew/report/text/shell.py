"""Arguments for a shell: a line that is printed and copied does what it says.

Apart from ``commands``, which knows programs and their nodes: commands about recordings need none of that, and the
solver that comes with it.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable


def file_words(files: Iterable[str]) -> str:
    """Return the names of files as arguments in a shell, none of which can be taken for a flag."""
    return shell_words(f"./{file}" if file.startswith("-") else file for file in files)


def shell_words(words: Iterable[str]) -> str:
    """Quote words for a shell, in one line."""
    return " ".join(map(_shell_word, words))


def _shell_word(word: str) -> str:
    # A terminal would obey what is not printable, or show a line break as one.  A shell substitutes no line break
    # at the end of a word: such a name stays as it is, on two lines.
    if word.isprintable() or word.endswith("\n") or not _is_encodable(word):
        return shlex.quote(word)
    octal = re.sub(rb"[^A-Za-z0-9_./]", lambda byte: rb"\0%03o" % byte.group()[0], os.fsencode(word))
    return f"\"$(printf %b '{octal.decode()}')\""


def _is_encodable(word: str) -> bool:
    """Return whether this can be the name of a file: half a character that stands for no byte cannot."""
    try:
        os.fsencode(word)
    except UnicodeEncodeError:
        return False
    return True
