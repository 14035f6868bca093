"""Show texts that the grader did not write, safely for a terminal, HTML, XML, JSON and CSV."""

from harness.rendering.texts import shown

__all__ = ["shown"]
