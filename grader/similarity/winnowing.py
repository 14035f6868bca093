"""Choose fingerprints of code by winnowing (Schleimer, Wilkerson and Aiken, SIGMOD 2003).

A fingerprint is a hash of `K` adjacent tokens. Of each `WINDOW` adjacent hashes, the smallest is chosen, and of equal
ones the last. Two texts that share `K + WINDOW - 1` adjacent tokens therefore always share a fingerprint.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from grader.similarity.tokens import Tokens

K: Final = 8
"""The tokens of a fingerprint: about one line. Of copies in disguise, 6 and 8 find more than 10, 12 or 15 do
(`tests/benchmarks/similar.py`), and with 6 the answers of different people share more."""

WINDOW: Final = 4
"""The hashes of a window. It keeps two fifths of the hashes, and finds as many copies as a window of 1."""

_FACTOR: Final = np.uint64(0x9E3779B97F4A7C15)
_OTHER_FACTOR: Final = np.uint64(0xD6E8FEB86659FD93)

Hashes = npt.NDArray[np.uint64]
Places = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """The different fingerprints of a text, sorted, and the number of the first token of each one's first place."""

    hashes: Hashes
    places: Places

    def without(self, others: Hashes) -> "Fingerprints":
        """Return the fingerprints that are not among `others`."""
        kept = ~np.isin(self.hashes, others)
        return Fingerprints(self.hashes[kept], self.places[kept])


def hashes_of(tokens: Tokens) -> Hashes:
    """Return the hash of each run of `K` adjacent tokens. Fewer than `K` tokens have none."""
    count = max(len(tokens.codes) - K + 1, 0)
    hashes = np.zeros(count, np.uint64)
    for place in range(K):  # unsigned numbers wrap around without a warning
        hashes = hashes * _FACTOR + tokens.codes[place : place + count]
    hashes = (hashes ^ (hashes >> np.uint64(32))) * _OTHER_FACTOR
    return hashes ^ (hashes >> np.uint64(32))


def fingerprints(tokens: Tokens) -> Fingerprints:
    """Return the fingerprints of a text. A text with fewer than `K` tokens has none."""
    hashes = hashes_of(tokens)
    if not len(hashes):
        return Fingerprints(hashes, np.zeros(0, np.int64))
    window = min(WINDOW, len(hashes))
    windows = np.lib.stride_tricks.sliding_window_view(hashes, window)
    places = np.unique(np.arange(len(windows)) + window - 1 - np.argmin(windows[:, ::-1], axis=1))
    chosen, first = np.unique(hashes[places], return_index=True)
    return Fingerprints(chosen, places[first])
