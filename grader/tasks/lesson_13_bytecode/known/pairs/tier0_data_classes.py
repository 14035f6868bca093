"""Uses a frozen dataclass for a pair as the key of a dict, and an ordered dataclass for the rows."""

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Pair:
    first: str
    second: str


@dataclass(order=True)
class Entry:
    minus_times: int
    pair: Pair

    def row(self):
        return [self.pair.first, self.pair.second, -self.minus_times]


def pairs(trace):
    counts = {}
    for first, second in zip(trace, trace[1:]):
        pair = Pair(first, second)
        counts[pair] = counts.get(pair, 0) + 1
    entries = sorted(Entry(-times, pair) for pair, times in counts.items() if times > 1)
    return [entry.row() for entry in entries]
