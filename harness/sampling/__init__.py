"""Watch running Python programs with sampling profilers."""
