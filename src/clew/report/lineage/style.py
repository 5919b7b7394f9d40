"""How the drawing of a lineage looks; the colours are the properties of ``colours``."""

from __future__ import annotations

STYLE = """
.lineage text{font:12px system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;fill:var(--ink,#1b1f24)}
.lineage text{text-anchor:middle}
.lineage .goal>rect{fill:var(--paper,#fff);stroke:var(--ink,#1b1f24);stroke-width:1.2}
.lineage .goal.absent>rect{stroke-dasharray:2 3}
.lineage .goal.absent>text{font-style:italic}
.lineage .goal.given>rect{stroke:var(--faint,#d8dde3);fill:var(--faint,#d8dde3)}
.lineage .goal.outcome>rect{stroke-width:2.4}
.lineage .goal.elsewhere>rect{stroke:var(--muted,#8b949e)}
.lineage .goal.elsewhere>text{fill:var(--soft,#57606a)}
.lineage .at{fill:var(--soft,#57606a);font-size:11px}
.lineage .firing>rect{fill:var(--faint,#d8dde3);stroke:none}
.lineage .firing>text{font-size:10.5px;fill:var(--soft,#57606a)}
.lineage .firing.through>rect{fill:none;stroke:var(--muted,#8b949e);stroke-dasharray:2 3}
.lineage .firing.through>text{font-style:italic}
.lineage .firing.message>rect{fill:var(--paper,#fff);stroke:var(--message,#2563eb);stroke-dasharray:4 3}
.lineage .firing.message>text{fill:var(--message,#2563eb)}
.lineage .edge{fill:none;stroke:var(--muted,#8b949e);stroke-width:1.2}
.lineage .edge.message{stroke:var(--message,#2563eb);stroke-dasharray:5 4;stroke-width:1.6}
.lineage .strike,.lineage .steps,.lineage .inside{display:none}
.lineage .strike{stroke:var(--cut,#cf222e);stroke-width:3.2;fill:none}
.lineage .edge.cut{stroke:var(--cut,#cf222e);stroke-width:2.4}
.lineage .firing.cut>rect{stroke:var(--cut,#cf222e);stroke-width:2;stroke-dasharray:none}
.lineage .firing.cut>text{fill:var(--cut,#cf222e);font-weight:700;text-decoration:line-through}
.lineage .firing.touched>rect{stroke:var(--cut,#cf222e)}
.lineage .firing.touched>text{fill:var(--cut,#cf222e)}
.lineage .strike.cut{display:inline}
.lineage .goal.gone>rect{stroke:var(--cut,#cf222e);stroke-dasharray:3 2}
.lineage .goal.gone>text{fill:var(--cut,#cf222e)}
.lineage .goal.gone>.strike{display:inline;stroke-width:1.6}
.lineage .open>.steps,.lineage .open>.inside{display:inline}
.lineage .steps text{font-size:10.5px;fill:var(--soft,#57606a)}
.lineage .folded>rect{stroke-width:2.6}
.lineage .away{display:none}
.lineage [role=button]{cursor:pointer}
.lineage [role=button]:focus{outline:none}
.lineage [role=button]:focus-visible>rect{stroke:var(--message,#2563eb);stroke-width:3}
""".strip()
