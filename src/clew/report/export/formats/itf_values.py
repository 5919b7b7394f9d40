"""Values in Apalache's Informal Trace Format (its ADR 15), from the form in which states are kept as JSON.

ITF has integers, strings, truth values, sequences, tuples, sets, maps, records and variants.  What is none of
these is a variant whose tag says what it is and whose value is a string: ``Float``, ``Bytes``, ``Object``.  Not
``#unserializable``, which readers cannot have in sets.  None is the value of Apalache's unit type.  An object is a
variant with a record of its fields; where their names are none that readers take, a tuple of its name and a map.
"""

from __future__ import annotations

import keyword
from typing import Any

from clew.report.export.events import Document
from clew.report.simulated.values import short_name, value_text

Itf = Any

_UNIT = "U_OF_UNIT"


def itf_value(document: Document) -> Itf:
    """Return a value in ITF."""
    # Truth values before integers, which they are in Python.
    match document:
        case None:
            return _UNIT
        case bool() | str():
            return document
        case int():
            return {"#bigint": str(document)}
        case float():
            return _variant("Float", repr(document))
        case list():
            return list(map(itf_value, document))
        case dict():
            return _object(document)
    raise AssertionError(f"states are JSON, and this is a {type(document).__name__}")


def _object(document: dict[str, Any]) -> Itf:
    # The mark is the first key; an object that is no value has others after it.
    mark, content = next(iter(document.items()))
    match mark, content:
        case "$tuple", list():
            return {"#tup": list(map(itf_value, content))}
        case (("$set" | "$frozenset"), list()):
            return {"#set": list(map(itf_value, content))}
        case "$dict", list():
            return {"#map": [[itf_value(key), itf_value(value)] for key, value in content]}
        case "$enum", [str(name), str(member)]:
            return f"{short_name(name)}.{member}"
        case "$int", str():
            return {"#bigint": _decimal(int(content, 16))}
        case "$float", str():
            return _variant("Float", content)
        case "$bytes", str():
            return _variant("Bytes", content)
        case "$object", str():
            return _variant("Object", value_text(document))
    return _record(short_name(mark[1:]), content)


def _record(name: str, content: dict[str, Any]) -> Itf:
    # By its short name: a reader knows nothing of the functions that a class may stand in.
    fields = {field: itf_value(value) for field, value in content.items()}
    if all(map(_is_plain, (name, *fields))):
        return {"tag": name, "value": fields}
    return {"#tup": [name, {"#map": [[field, value] for field, value in fields.items()]}]}


def _variant(tag: str, value: str) -> Itf:
    return {"tag": tag, "value": value}


def _is_plain(name: str) -> bool:
    """Tell whether a name can be that of a field or a tag wherever the trace is read."""
    return name.isascii() and name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("_")


def _decimal(number: int) -> str:
    """Write an integer with any number of digits, more than Python itself writes."""
    from decimal import Context, Decimal  # only for integers of a thousand digits

    return format(Context(prec=number.bit_length()).create_decimal(Decimal(number)), "f")
