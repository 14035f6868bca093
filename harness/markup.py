"""Text inside of markup: what HTML, SVG and XML take as words and as nothing else."""

import html


def escaped(text: str) -> str:
    """Return `text` for XML, without the control characters that XML forbids even escaped."""
    return html.escape("".join(character for character in text if character.isprintable() or character == "\n"))
