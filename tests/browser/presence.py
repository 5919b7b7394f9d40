"""Is there a browser to test the report in? What to say if not; nothing here needs the browser or its driver."""

from __future__ import annotations

import shutil

#: The programs by the names that Debian's packages give them.
BROWSER, DRIVER = "chromium", "chromedriver"

#: How the reason of every test skipped for want of a browser begins: the summary of the run looks for it.
NO_BROWSER = "no browser:"


def why_skipped() -> str | None:
    """What is missing and how to get it; None if both are there."""
    missing = " and ".join(name for name in (BROWSER, DRIVER) if shutil.which(name) is None)
    if not missing:
        return None
    be = "are" if " and " in missing else "is"
    return f"{NO_BROWSER} {missing} {be} not on PATH; on Debian: apt-get install chromium chromium-driver"
