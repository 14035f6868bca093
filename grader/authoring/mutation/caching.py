"""Make mutants that return stored answers. They call the function once, or once per size of its first argument."""

from collections.abc import Iterator
from string import Template

KEYS = {
    "always returns its first answer": "0",
    "always returns its first answer to an argument of the same shape or length": "_size(arguments)",
}
"""The description of each mutant, and the Python expression for the key under which the mutant stores an answer."""

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
    """Yield the description and the source text of each mutant of a function."""
    for words, key in KEYS.items():
        yield words, source + WRAPPED.substitute(key=key, function=function)
