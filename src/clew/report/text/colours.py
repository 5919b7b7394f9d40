"""The colours of pictures and pages, as CSS custom properties, for light and dark surroundings."""

from __future__ import annotations

LIGHT = {
    "ink": "#1b1f24",  # text, lifelines
    "soft": "#4b5563",  # labels
    "muted": "#98a2ae",  # arrows and edges that nothing happens to
    "faint": "#e8ebef",  # time lines, quiet boxes
    "paper": "#ffffff",  # the background
    "cut": "#d1242f",  # what faults do
    "hit": "#d9730d",  # what faults are going to do
    "good": "#1a7f37",
    "message": "#2563eb",
}
#: The same names, for readers who prefer dark pages.
DARK = {
    "ink": "#e6e9ed",
    "soft": "#b3bcc7",
    "muted": "#66717e",
    "faint": "#252c35",
    "paper": "#12161c",
    "cut": "#ff5f5f",
    "hit": "#ffa24d",
    "good": "#4ac26b",
    "message": "#6ea8ff",
}


def _properties(colours: dict[str, str]) -> str:
    return ";".join(f"--{name}:{value}" for name, value in colours.items())


#: Sets the properties; dark where the reader prefers it.
COLOURS = (
    f":root{{color-scheme:light dark;{_properties(LIGHT)}}}"
    f"@media (prefers-color-scheme:dark){{:root{{{_properties(DARK)}}}}}"
    # Paper is white, whatever the screen is: the ink of a dark page could not be seen on it.
    f"@media print{{:root{{color-scheme:light;{_properties(LIGHT)}}}}}"
)
