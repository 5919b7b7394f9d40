"""Random Lamport diagrams, of any kind of system, for the tests of what is drawn from them."""

from __future__ import annotations

from hypothesis import strategies as st

from clew.report.diagrams.lamport import Arrow, Band, CrashMark, Diagram, Fate, Halt, HaltKind

#: What a program may call things: also what would be markup, wide, invisible or an escape sequence elsewhere.
NAMES = st.one_of(
    st.sampled_from(
        ["a", "replica-12", "<script>alert(1)</script>", "\"'&", "é", "写真", "x\x1b[31m\n", "n" * 200]
    ),
    st.text(min_size=1, max_size=12),
)
_FATES = st.sampled_from([Fate.DELIVERED] * 4 + [Fate.LOST, Fate.LATE, Fate.NEVER])


@st.composite
def diagrams(draw: st.DrawFn, names: st.SearchStrategy[str], most: int = 8, busiest: int = 30) -> Diagram:
    """Up to so many processes and arrows; every step has names of its own, so none repeats another."""
    processes = tuple(draw(st.lists(names, min_size=1, max_size=most, unique=True)))
    last = draw(st.integers(1, 6))
    links = st.tuples(st.sampled_from(processes), st.sampled_from(processes), st.integers(1, max(1, last - 1)))
    chosen = draw(st.lists(links, max_size=busiest, unique=True))
    arrows, faults = [], []
    for source, target, sent in sorted(chosen, key=lambda link: (link[2], link[0], link[1])):
        if source != target and sent < last:
            arrow = draw(_arrows(source, target, sent, last))
            if draw(st.booleans()) or arrow.fate not in (Fate.DELIVERED, Fate.LATE):
                faults.append(f"O({source},{target},{sent})")
                arrow = arrow._replace(fault=len(faults))
            arrows.append(arrow)
            if arrow.fate is Fate.DELIVERED and not arrow.fault and sent + 2 <= last and draw(st.booleans()):
                faults.append(f"U({source},{target},{sent},1)")
                arrows.append(arrow._replace(arrived=sent + 2, fate=Fate.AGAIN, fault=len(faults)))
    crashes = []
    for process in draw(st.lists(st.sampled_from(processes), max_size=2, unique=True)):
        crashes.append(CrashMark(process, draw(st.integers(1, last)), len(faults) + 1))
        faults.append(f"C({process},{crashes[-1].time})")
    halts = []
    running = [p for p in processes if p not in [c.process for c in crashes]] if last > 1 else []
    for process in draw(st.lists(st.sampled_from(running), max_size=2, unique=True)) if running else ():
        first, kind = draw(st.integers(1, last - 1)), draw(st.sampled_from(HaltKind))
        halts.append(Halt(process, kind, first, draw(st.integers(first + 1, last)), len(faults) + 1))
        faults.append(f"{'R' if kind is HaltKind.DOWN else 'Z'}({process},{first},{halts[-1].end})")
    bands = []
    if len(processes) > 1 and last > 1 and draw(st.booleans()):
        size = draw(st.integers(1, len(processes) // 2))
        bands.append(Band(processes[:size], 1, draw(st.integers(2, last)), len(faults) + 1))
        faults.append(f"P({{{','.join(processes[:size])}}},1,{bands[0].end})")
    return Diagram(
        processes,
        last,
        tuple(arrows),
        tuple(crashes),
        tuple(faults),
        halts=tuple(halts),
        bands=tuple(bands),
    )


@st.composite
def _arrows(draw: st.DrawFn, source: str, target: str, sent: int, last: int) -> Arrow:
    fate = draw(_FATES)
    if fate is Fate.LATE and sent + 2 > last:
        fate = Fate.NEVER
    arrived = {Fate.DELIVERED: sent + 1, Fate.LATE: last}.get(fate)
    labels = (f"m{sent}", *draw(st.sampled_from([(), ("ping",), ("<b>", "acknowledgement_of_receipt")])))
    details = tuple(f"{label}({target}, {source})" for label in labels)
    return Arrow(source, target, sent, arrived, tuple(sorted(labels)), details, fate)
