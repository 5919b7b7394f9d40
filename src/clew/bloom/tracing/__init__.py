"""What nodes do, rule by rule: traces of chosen rules (``trace``), and counts of all rules for ``clew cover``."""
