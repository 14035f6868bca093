"""Tools for authors of exercises: stubs, lint, calibration, mutants, and records of measured ratios."""
