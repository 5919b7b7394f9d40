"""Draw the lineage of an outcome as SVG."""
