"""Mistakes in programs: a rule that is missing, sooner or later, another column, another sender."""

from __future__ import annotations

import re
from collections.abc import Callable

from analysis.calm.drawn_rules import Draft


def _some_rule(draft: Draft) -> int | None:
    return draft.chance.randrange(len(draft.rules)) if draft.rules else None


def _change(draft: Draft, pattern: str, replacements: tuple[str, ...]) -> None:
    """Replace one occurrence of a pattern in the rules."""
    places = [(k, m) for k, rule in enumerate(draft.rules) for m in re.finditer(pattern, rule)]
    if places:
        k, found = draft.chance.choice(places)
        rule = draft.rules[k]
        draft.rules[k] = rule[: found.start()] + draft.chance.choice(replacements) + rule[found.end() :]


def _drop(draft: Draft) -> None:
    k = _some_rule(draft)
    if k is not None and len(draft.rules) > 1:
        del draft.rules[k]


def _later(draft: Draft) -> None:
    _change(draft, r"(?<= )<=(?= self| \(self| rows)", ("<+",))


def _sooner(draft: Draft) -> None:
    _change(draft, r"(?<= )<\+(?= )", ("<=",))


def _no_deletion(draft: Draft) -> None:
    _change(draft, r"(?<= )<-(?= )", ("<=", "<+"))


def _other_match(draft: Draft) -> None:
    _change(draft, r'\b[kv]="[kv]"', ('k="k"', 'v="v"', 'v="k"', 'k="v"'))


def _fewer_matches(draft: Draft) -> None:
    _change(draft, r'k="k", v="v"', ('k="k"', 'v="v"'))


def _other_bound(draft: Draft) -> None:
    _change(draft, r"(?<= )(>=|<=|==|>|<)(?= [xyr0-9])", (">=", "<=", "==", ">", "<"))


def _other_collection(draft: Draft) -> None:
    names = draft.of_kinds("tsifq")
    if len(names) > 1:
        _change(draft, r"\bself\.[tsifq]\d+\b", tuple(f"self.{name}" for name in names))


def _other_channel(draft: Draft) -> None:
    names = draft.of_kinds("c")
    if len(names) > 1:
        _change(draft, r"\bself\.c\d+\b", tuple(f"self.{name}" for name in names))


def _filled_twice(draft: Draft) -> None:
    names = draft.of_kinds("tslmbg")
    if names:
        draft.write(draft.chance.choice(names), draft.chance.choice(("<=", "<+")), draft.heard())


def _sent_twice(draft: Draft) -> None:
    names = draft.of_kinds("c")
    if names:
        draft.write(draft.chance.choice(names), "<~", draft.heard())


def _deleted(draft: Draft) -> None:
    names = draft.of_kinds("t")
    if names:
        draft.rules.append(f"self.{draft.chance.choice(names)} <- {draft.heard()}")


def _other_kind(draft: Draft) -> None:
    """A table becomes a scratch, a scratch a table."""
    names = draft.of_kinds("ts")
    if not names:
        return
    old = draft.chance.choice(names)
    new = draft.new("s" if old[0] == "t" else "t")
    draft.rules = [re.sub(rf"\bself\.{old}\b", f"self.{new}", rule) for rule in draft.rules]


def _as_temp(draft: Draft) -> None:
    """A scratch is not declared."""
    names = [s for s in draft.of_kinds("s") if not any(r.startswith(f"self.{s} <+") for r in draft.rules)]
    if names:
        name = draft.chance.choice(names)
        draft.rules = [re.sub(rf"\bself\.{name}\b", f"self.temp.{name}", rule) for rule in draft.rules]


def _other_place(draft: Draft) -> None:
    _change(draft, r'"[ab]"', ('"a"', '"b"', "self.ip_port"))


def _no_function(draft: Draft) -> None:
    instead = ("(lambda r: (r.k, random.randint(1, 9))", "(lambda r: (r.k, r.v)")
    _change(draft, r"\(lambda r: \(r\.k, r\.k\)", instead)


def _value_shown(draft: Draft) -> None:
    _change(draft, r"\(r\.k, r\.k\) if r\.n", ("(r.k, r.n) if r.n",))


MISTAKES: tuple[Callable[[Draft], None], ...] = (
    _drop,
    _drop,
    _later,
    _later,
    _sooner,
    _no_deletion,
    _other_match,
    _fewer_matches,
    _other_bound,
    _other_collection,
    _other_collection,
    _other_channel,
    _filled_twice,
    _filled_twice,
    _sent_twice,
    _deleted,
    _other_kind,
    _other_place,
    _as_temp,
    _no_function,
    _value_shown,
)
