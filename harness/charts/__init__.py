"""Draw numbers: as text for a terminal, and as SVG pictures for a light and a dark browser."""
