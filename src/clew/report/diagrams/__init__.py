"""Space-time diagrams and layered drawings, as text and as SVG."""
