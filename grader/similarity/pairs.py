"""Compare all hand-ins for one lesson, and find how unusual each pair is among the pairs of this class.

The authors of a hand-in are one student, a team, or the students for whom the same file was handed in. A pair is a pair
of authors. Its similarity is that of its two most similar hand-ins: the number of fingerprints that both have, divided
by the number of fingerprints of the shorter one. Fingerprints of the exercise in the kit do not count, and neither do
common ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import numpy as np
import numpy.typing as npt

from grader.similarity.tokens import tokens_of
from grader.similarity.winnowing import Fingerprints, Hashes, Places, fingerprints, hashes_of

COMMON_SHARE: Final = 3
COMMON_LEAST: Final = 4
"""A fingerprint is common if more than a third of the authors have it, and at least four. The task asks for such code,
or the lesson shows it. Fewer than four may have one source."""

FEW: Final = 10
"""A hand-in with fewer fingerprints of its own counts as having this many, because a few agree by chance."""

_FAR_OUT: Final = 3.0
"""Values above the upper quartile by more than this many interquartile ranges are far out (Tukey 1977)."""

_LEAST_FAR_OUT: Final = 0.3
"""The least similarity that is far out. If most pairs share nothing, the interquartile range is 0."""

MOST_CHARACTERS: Final = 200_000
"""The compared characters of a hand-in: 30 times the longest solution. A file may have a million of any kind."""

Similarities = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Code:
    """The code of one hand-in. `key` is its SHA-256, and `term` is "" or names an earlier term.

    `counts` is True for the attempt that counts.
    """

    authors: str
    path: str
    text: str
    key: str
    lesson: str = ""
    term: str = ""
    at: datetime | None = None
    counts: bool = True

    @property
    def who(self) -> str:
        """The authors, with the earlier term if there is one."""
        return f"{self.authors} ({self.term})" if self.term else self.authors


@dataclass(frozen=True, slots=True)
class SimilarPair:
    """The two most similar hand-ins of two authors. `rank` is 1 for the most similar pair of the lesson."""

    one: Code
    two: Code
    shared: int
    similarity: float
    rank: int
    is_far_out: bool

    @property
    def is_same_text(self) -> bool:
        """Whether the code of both hand-ins is the same text."""
        return self.one.key == self.two.key


@dataclass(frozen=True, slots=True)
class LessonPairs:
    """The pairs of one lesson. `pairs` are those that share code, the most similar first.

    `similarities` has one value for each compared pair. `left_out` are the fingerprints that do not count.
    """

    lesson: str
    authors: int
    earlier: int
    pairs: tuple[SimilarPair, ...]
    similarities: Similarities
    far_out_from: float
    common: int
    left_out: Hashes
    cut: int

    def below(self, pair: SimilarPair) -> float:
        """Return the share of the compared pairs that are less similar than `pair`."""
        return float(np.mean(self.similarities < pair.similarity))

    def clusters(self) -> list[list[str]]:
        """Return the groups of three or more authors who are connected by far-out pairs, the largest first."""
        groups: dict[str, set[str]] = {}
        for pair in self.pairs:
            if pair.is_far_out:
                both = groups.get(pair.one.who, {pair.one.who}) | groups.get(pair.two.who, {pair.two.who})
                groups.update(dict.fromkeys(both, both))
        different = {tuple(sorted(group)) for group in groups.values() if len(group) > 2}
        return [[*group] for group in sorted(different, key=lambda group: (-len(group), group))]


def compare(lesson: str, codes: Sequence[Code], stub: str = "", most: int = 20) -> LessonPairs:
    """Return the pairs of authors of this term, and of this and earlier terms, that have similar code for one lesson.

    `stub` is the text of the exercise in the kit. The result has the `most` most similar pairs, and all far-out pairs.
    """
    codes = sorted(codes, key=lambda code: (bool(code.term), code.term, code.authors, code.path, code.key))
    numbers = {who: number for number, who in enumerate(dict.fromkeys(code.who for code in codes))}
    author = np.array([numbers[code.who] for code in codes], dtype=np.int64)
    new = len({code.who for code in codes if not code.term})
    whole = [fingerprints(tokens_of(code.text[:MOST_CHARACTERS])) for code in codes]
    of_stub = hashes_of(tokens_of(stub))  # all of them, because a window may reach into code that a student added
    common = np.setdiff1d(_common(whole, author, len(numbers)), of_stub)
    left_out = np.union1d(of_stub, common)
    own = [one.without(left_out).hashes for one in whole]
    one, two, shared, similarity = _best(own, author, new)
    compared = new * (new - 1) // 2 + new * (len(numbers) - new)
    similarities = np.concatenate([similarity, np.zeros(compared - len(similarity))])
    low, high = np.quantile(similarities, (0.25, 0.75)) if compared else (0.0, 0.0)
    bound = max(float(high + _FAR_OUT * (high - low)), _LEAST_FAR_OUT)
    order = np.lexsort((two, one, -shared, -similarity))
    ranks = 1 + np.searchsorted(np.sort(-similarity), -similarity, side="left")
    pairs = (
        SimilarPair(codes[one[at]], codes[two[at]], int(shared[at]), float(similarity[at]), int(ranks[at]), bool(far))
        for place, at in enumerate(order)
        if (far := similarity[at] > bound) or place < most
    )
    cut = sum(len(code.text) > MOST_CHARACTERS for code in codes)
    earlier = len(numbers) - new
    return LessonPairs(lesson, new, earlier, tuple(pairs), similarities, bound, len(common), left_out, cut)


def _common(found: Sequence[Fingerprints], author: Places, authors: int) -> Hashes:
    """Return the fingerprints that are common. `author` has the number of the authors of each hand-in."""
    held = [
        np.unique(np.concatenate([one.hashes for one, by in zip(found, author, strict=True) if by == number]))
        for number in range(authors)
    ]
    hashes, counts = np.unique(np.concatenate([*held, np.zeros(0, np.uint64)]), return_counts=True)
    return hashes[(counts >= COMMON_LEAST) & (counts * COMMON_SHARE > authors)]


def _best(own: Sequence[Hashes], author: Places, new: int) -> tuple[Places, Places, Places, Similarities]:
    """Return, for each two authors who share a fingerprint, their two most similar hand-ins.

    The four arrays have the numbers of the two hand-ins, the number of shared fingerprints, and the similarity. The
    first `new` authors are those of this term.
    """
    shared = _shared(own, author)
    one, two = np.nonzero(np.triu(shared))
    kept = (author[one] != author[two]) & (author[one] < new)
    one, two = one[kept], two[kept]
    sizes = np.array([len(hashes) for hashes in own], dtype=np.int64)
    both = shared[one, two].astype(np.int64)
    similarity = both / np.maximum(np.minimum(sizes[one], sizes[two]), FEW)
    pair = author[one] * (author.max(initial=0) + 1) + author[two]
    order = np.lexsort((-two, -one, both, similarity, pair))
    last = order[np.append(np.diff(pair[order]) != 0, True)[: len(order)]]
    return one[last], two[last], both[last], similarity[last]


def _shared(own: Sequence[Hashes], author: Places) -> npt.NDArray[np.int32]:
    """Return the number of fingerprints that each two hand-ins share, from an index of the hand-ins by fingerprint."""
    shared = np.zeros((len(own), len(own)), np.int32)
    holder = np.repeat(np.arange(len(own)), [len(hashes) for hashes in own])
    hashes = np.concatenate([*own, np.zeros(0, np.uint64)])
    order = np.argsort(hashes, kind="stable")
    holder = holder[order]
    for group in np.split(holder, np.flatnonzero(np.diff(hashes[order])) + 1):
        if len(group) and author[group[0]] != author[group[-1]]:  # the holders in a group are sorted
            shared[np.ix_(group, group)] += 1
    return shared
