"""Find the passages that the hand-ins of a pair share, with their lines."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from grader.reports.templates import shortened
from grader.similarity.pairs import MOST_CHARACTERS, Code, SimilarPair
from grader.similarity.tokens import Tokens, line_names, tokens_of
from grader.similarity.winnowing import Hashes, K, fingerprints

_GAP: Final = 3 * K
"""The most tokens between two fingerprints of one passage. Inserted lines and other small changes are shorter."""

_MOST_PASSAGES: Final = 20
_MOST_LINES: Final = 60
_MOST_WIDE: Final = 160


@dataclass(frozen=True, slots=True)
class CodeLine:
    """A line of a passage: its name (a number), its text, and whether the other hand-in has the same code."""

    name: str
    text: str
    is_shared: bool


@dataclass(frozen=True, slots=True)
class Passage:
    """The lines of a passage in both hand-ins."""

    one: tuple[CodeLine, ...]
    two: tuple[CodeLine, ...]


@dataclass(frozen=True, slots=True)
class Passages:
    """The longest shared passages of a pair in the order of the first hand-in, and the number of all of them."""

    shown: tuple[Passage, ...]
    count: int


def passages(pair: SimilarPair, left_out: Hashes) -> Passages:
    """Return the passages that a pair shares. `left_out` are the fingerprints that do not count."""
    one, two = (tokens_of(code.text[:MOST_CHARACTERS]) for code in (pair.one, pair.two))
    prints = [fingerprints(tokens).without(left_out) for tokens in (one, two)]
    _, left, right = np.intersect1d(prints[0].hashes, prints[1].hashes, assume_unique=True, return_indices=True)
    places = sorted(zip(prints[0].places[left].tolist(), prints[1].places[right].tolist(), strict=True))
    runs = list(_runs(places))
    longest = sorted(sorted(runs, key=len, reverse=True)[:_MOST_PASSAGES])
    shown = tuple(
        Passage(_lines(pair.one, one, [a for a, _ in run]), _lines(pair.two, two, [b for _, b in run]))
        for run in longest
    )
    return Passages(shown, len(runs))


def _runs(places: Sequence[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    """Yield the places of shared fingerprints as runs. Within a run, the next place is near in both hand-ins."""
    run: list[tuple[int, int]] = []
    for place in places:
        if run and not (place[0] - run[-1][0] <= _GAP and 0 <= place[1] - run[-1][1] <= _GAP):
            yield run
            run = []
        run.append(place)
    if run:
        yield run


def _lines(code: Code, tokens: Tokens, places: Sequence[int]) -> tuple[CodeLine, ...]:
    shared = {int(line) for place in places for line in tokens.lines[place : place + K]}
    texts = code.text.split("\n")
    names = line_names(code.text, notebook=code.path.casefold().endswith(".ipynb"))
    numbers = range(min(shared), min(max(shared) + 1, min(shared) + _MOST_LINES))
    return tuple(CodeLine(names[n - 1], shortened(texts[n - 1].rstrip(), _MOST_WIDE), n in shared) for n in numbers)
