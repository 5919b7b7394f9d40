"""``python -m clew.boomfs`` is the command ``boomfs``."""

from clew.boomfs.command import run

run()
