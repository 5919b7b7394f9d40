"""What people write who come from other languages, and from the papers, and how it is written here.

A list of expected tokens tells somebody who wrote ``p[X] = Y`` nothing.  Each entry answers a real habit: of
Prolog, Overlog, Bloom, SQL, and of the thesis, whose Dedalus marks places with ``#`` and persistence with
``persist[p]``.
"""

from __future__ import annotations

_NEGATION = "negation is written notin, unequal is !="
_RULE = "a rule is written head :- body;"
_COMPUTE = "compare with ==; compute in the head, as in p(X, N + 1) :- q(X, N);"
_PLACE = "only the first column may be marked, as the place of a row: p(#L, X) or p(@L, X)"
_PERSIST = "what persists is a rule: p(X, Y)@next :- p(X, Y); or persist[p];"
_INTERVAL = 'two dots are an interval of numbers in a fact, as in acceptor(1..3); put a name with ".." in quotes'
_NO_BRACKETS = f"brackets are written after persist alone; {_PERSIST}"
_NO_COMMENT = f"comments are // and /* */, and {_PLACE}"

#: Characters that no token starts with.
OF_CHARACTER = {
    '"': 'close it with "',
    "'": 'strings are in double quotes: "a"',
    "=": _COMPUTE,
    "!": _NEGATION,
    "¬": _NEGATION,
    "~": _NEGATION,
    ":": f"{_RULE} {_COMPUTE}",
    "←": _RULE,
    "{": "there are no declarations: a relation is what facts and rules say",
    "|": "strings cannot be joined, and alternatives are several rules",
}

#: Words that begin a clause elsewhere.
OF_WORD = {
    "persist": _PERSIST,
    "delete": "a row is gone at the next time unless a rule p(X, Y)@next :- p(X, Y), ...; keeps it",
    "durable": "what survives a restart is listed by name: durable log, term; or nothing: durable;",
    "input": "what may be given is written like a rule: input p(X, Y)@T :- q(X, Y), T <= 3;",
    "table": "there are no declarations: a relation is what facts and rules say",
    "program": "there are no declarations: a relation is what facts and rules say",
    "param": "a value that can be set from outside is declared: param replicas = 3;",
    "import": 'another file is included: include "path";',
}


def habit_between(before: str, token: str, following: str) -> str | None:
    """Return how it is written here, where the parser stops at a token between these two; None if nobody knows."""
    after_name = before[-1:].isalnum() and before not in ("notin", "next", "async")
    if token == "[":
        return _NO_BRACKETS
    if token == "#":
        return _NO_COMMENT
    if token == "..":
        return _INTERVAL
    if token == "@" and (after_name or before in ("(", ",")):
        return _PLACE
    if token == "<" and following == "-":
        return _RULE
    if token == "(" and after_name:
        return "there are no functions but + - * /; an aggregate in a head is written count<X>"
    return None
