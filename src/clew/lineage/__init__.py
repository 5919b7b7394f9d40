"""Why an outcome came about: the rule/goal graph and its circuits over faults."""
