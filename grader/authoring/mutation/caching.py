"""Make changed copies of a function that call it only once, or once per input size, and then return stored answers."""

from collections.abc import Iterator
from string import Template

KEYS = {
    "always returns its first answer": "0",
    "always returns its first answer to an argument of the same shape or length": "_size(arguments)",
}
"""For each kind of change: its description, and the Python expression for the key under which an answer is stored."""

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
    """Yield a description and a source text for each changed copy of `function` that returns stored answers."""
    for words, key in KEYS.items():
        yield words, source + WRAPPED.substitute(key=key, function=function)
