"""Mutants that answer from memory: they call the function once, or once for each size of its first argument."""

from collections.abc import Iterator
from string import Template

KEYS = {
    "returns its first answer for ever": "0",
    "returns its first answer to an argument of this shape or length for ever": "_size(arguments)",
}
"""What such a mutant does, and the expression by which it remembers an answer."""

WRAPPED = Template("""

def _size(arguments):
    for first in arguments[:1]:
        if hasattr(first, "shape"):
            return tuple(first.shape)
        if hasattr(first, "__len__"):
            return len(first)
    return 0


def _remembering(function):
    answers = {}

    def answered(*arguments):
        key = $key
        if key not in answers:
            answers[key] = function(*arguments)
        return answers[key]

    return answered


$function = _remembering($function)
""")


def cached(source: str, function: str) -> Iterator[tuple[str, str]]:
    """Yield what each mutant does, and its source text."""
    for words, key in KEYS.items():
        yield words, source + WRAPPED.substitute(key=key, function=function)
