"""What functions of rules may use: the lists, and what is refused whoever uses it."""

from __future__ import annotations

import operator
import re
import sys
from types import FunctionType

BUILTINS = frozenset(
    (
        "abs",
        "all",
        "any",
        "bin",
        "bool",
        "bytes",
        "chr",
        "complex",
        "dict",
        "divmod",
        "enumerate",
        "filter",
        "float",
        "format",
        "frozenset",
        "getattr",
        "hasattr",
        "hex",
        "int",
        "isinstance",
        "issubclass",
        "len",
        "list",
        "map",
        "max",
        "min",
        "oct",
        "ord",
        "pow",
        "range",
        "repr",
        "reversed",
        "round",
        "set",
        "slice",
        "sorted",
        "str",
        "sum",
        "tuple",
        "type",
        "zip",
    )
)
#: Functions of modules that depend on their arguments only; a module without names is pure as a whole.
MODULES: dict[str, frozenset[str]] = {
    name: frozenset(functions.split())
    for name, functions in {
        "math": "",
        "cmath": "",
        "operator": "",
        "_operator": "",
        "re": "",
        "json": "dumps loads",
        "json.encoder": "",
        "json.decoder": "",
        "hashlib": "",
        "_hashlib": "",
        "zlib": "",
        "binascii": "",
        "base64": "",
        "struct": "pack unpack calcsize",
        "_struct": "pack unpack calcsize",
        "fractions": "",
        "statistics": "mean fmean geometric_mean harmonic_mean median median_low median_high median_grouped mode"
        " multimode quantiles stdev pstdev variance pvariance",
        "string": "",
        "bisect": "",
        "_bisect": "",
        "copy": "copy deepcopy",
        "dataclasses": "replace asdict astuple",
        "functools": "reduce partial cmp_to_key",
        "_functools": "reduce partial cmp_to_key",
        "collections": "Counter OrderedDict defaultdict deque namedtuple",
        "itertools": "accumulate chain combinations combinations_with_replacement compress dropwhile filterfalse"
        " groupby islice pairwise permutations product repeat starmap takewhile zip_longest",
    }.items()
}
VALUE_TYPES = (str, bytes, int, float, complex, bool, tuple, frozenset)
OWN_TYPES = (list, dict, set, range, slice, type, *VALUE_TYPES)
GETTERS = (operator.itemgetter, operator.attrgetter, operator.methodcaller, re.Pattern)
#: Functions that make the text of any object.  That of a function, or of an object whose class does not say how it
#: is shown, has an address in it, which is another one in every process.
SHOWING = frozenset(("ascii", "format", "repr", "str"))

#: Special attributes that have the same value in every process.
_FIXED_ATTRIBUTES = frozenset(
    f"__{name}__" for name in ("name", "qualname", "doc", "len", "getitem", "contains", "init", "new")
)


class ImpureError(Exception):
    """Carries what was touched that is not pure."""


def is_listed(module: str, name: str) -> bool:
    """Return whether a function of a module depends on its arguments only."""
    names = MODULES.get(module)
    return names is not None and (not names or name in names)


def is_of_library(value: FunctionType | type) -> bool:
    """Return whether it is of Python itself: what is not listed there is not looked into."""
    return (value.__module__ or "").partition(".")[0] in sys.stdlib_module_names | {"builtins"}


def refuse_hidden(said: str, *names: str) -> None:
    """Refuse attributes that tell what no operator does: hashes, addresses, classes that others may change."""
    for name in names:
        if name.startswith("__") and name.endswith("__") and name not in _FIXED_ATTRIBUTES:
            raise ImpureError(said)
