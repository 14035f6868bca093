"""Lesson 20: notice when code becomes slower, without false alarms on a noisy machine."""

import json
import math
import timeit
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from random import choice, choices, random, randrange
from statistics import median
from tempfile import TemporaryDirectory

from harness.paired.duel import Duel, Finding, duel
from harness.paired.rounds import by_pair
from lessons.engine.api import Figures, Interval, Lacking, Rows, load
from lessons.engine.command import main
from lessons.probes.gated_project import PrintedRun, lacking_git, run_gate
from lessons.probes.neighbours import neighbours


# ── 1 ──────────────────────────────────────────────────────────────────────────────────────────
def words_of(text: str) -> list[str]:
    return [word.strip() for word in text.split(",")]


def one_run(calls: int) -> float:
    text = "alpha, beta, gamma, " * 50
    names = {"words_of": words_of, "text": text}
    timer = timeit.Timer("words_of(text)", globals=names)
    return timer.timeit(calls) / calls


def stored(runs: int = 9, calls: int = 15_000) -> list[tuple[float, float]]:
    found = []
    with TemporaryDirectory() as folder:
        file = Path(folder, "stored.json")
        for _ in range(runs):
            file.write_text(json.dumps(one_run(calls)))
            with neighbours(per_core=2):
                now_s = one_run(calls)
            found.append((json.loads(file.read_text()), now_s))
    return found


def stored_figures(found: list[tuple[float, float]]) -> Figures:
    before, now = zip(*found, strict=True)
    return {
        "times": Rows([(min(each), median(each), max(each)) for each in (before, now)]),
        "slower": max(new / old - 1 for old, new in found),
        "spread": max(before) / min(before) - 1,
        "runs": len(found),
    }


# ── 2 ──────────────────────────────────────────────────────────────────────────────────────────
TOLERANCES = 0.01, 0.02, 0.05, 0.1, 0.2
"""The tolerances of the table."""


def one_after_another(runs: int = 10, calls: int = 2000) -> list[float]:
    times_s = []
    for _ in range(5):
        times_s += [one_run(calls) for _ in range(runs)]
        with neighbours(per_core=1):
            times_s += [one_run(calls) for _ in range(runs)]
    return times_s


def one_after_another_figures(times_s: list[float]) -> Figures:
    changes = [new / old - 1 for old, new in pairwise(times_s)]
    alarms = {limit: sum(change > limit for change in changes) for limit in TOLERANCES}
    return {
        "tolerances": Rows([(limit, alarms[limit] / len(changes), doubling(limit)) for limit in TOLERANCES]),
        "alarms": Interval.share(alarms[0.05], len(changes)),
        "without": max(changes),
        "doubled": doubling(0.04),
        "runs": len(times_s),
    }


def doubling(change: float) -> int:
    """Return how many changes of this size make the time twice as long."""
    return math.ceil(math.log(2) / math.log1p(change))


# ── 3 ──────────────────────────────────────────────────────────────────────────────────────────
def slower_pairs(pairs: list[tuple[float, float]]) -> int:
    drawn = choices(pairs, k=10)
    return sum(choice((a <= b, b < a)) for a, b in drawn)


def many_benchmarks(changes: int = 5000) -> list[list[int]]:
    numbers = list(range(1000))
    timer = timeit.Timer("sum(numbers)", globals={"numbers": numbers})
    times = timer.repeat(4000, number=5)
    pairs = list(zip(times[::2], times[1::2], strict=True))

    runs = range(changes)
    return [[slower_pairs(pairs) for _ in range(10)] for _ in runs]


def many_benchmarks_figures(counts: list[list[int]]) -> Figures:
    runs = {needed: sum(max(run) >= needed for run in counts) for needed in (9, 10)}
    single = {needed: sum(each >= needed for run in counts for each in run) for needed in runs}
    shares = {needed: Interval.share(red, len(counts)) for needed, red in runs.items()}
    errors = [
        (single[needed] / (10 * len(counts)), share.middle, 100 * share.middle) for needed, share in shares.items()
    ]
    return {
        "errors": Rows(errors),
        "red_runs": 100 * shares[9].middle,
        "often": shares[9],
        "seldom": shares[10],
        "changes": len(counts),
    }


# ── 4 ──────────────────────────────────────────────────────────────────────────────────────────
def strip_twice(text: str) -> list[str]:
    return [word.strip().strip() for word in text.split(",")]


def in_pairs(seconds: float = 3.0) -> tuple[Duel, Duel]:
    names = {
        "text": "alpha, beta, gamma, " * 50,
        "words_of": words_of,
        "strip_twice": strip_twice,
    }
    old, new = "words_of(text)", "strip_twice(text)"
    judge = partial(duel, globals=names, margin=0.05, budget_s=seconds)
    with neighbours(per_core=2):
        return judge(old, old), judge(new, old)


def in_pairs_figures(found: tuple[Duel, Duel]) -> Figures:
    equal, changed = found
    return {
        "verdicts": Rows([(each.verdict.upper(), each.ratio, each.low, each.high) for each in found]),
        "equal": Interval.duel(equal),
        "changed": Interval.duel(changed),
    }


# ── 5 ──────────────────────────────────────────────────────────────────────────────────────────
def benchmarks() -> str:
    return """
import pytest
from words import parse

@pytest.mark.duel
def test_parse():
    parse("alpha, beta, gamma, " * 50)

@pytest.mark.duel
def test_sum():
    sum(range(1000))
"""


def compare(old: str, new: str, *more: str) -> PrintedRun | None:
    if lacking_git():
        return None
    files = {"words.py": old, "test_words.py": benchmarks()}
    options = "--duel-allow=3%", "--duel-limit=2"
    return run_gate(files, {"words.py": new}, *options, *more)


def gate() -> PrintedRun | None:
    old = "def parse(x): return [y.strip() for y in x.split(',')]"
    new = old.replace("strip()", "strip().strip()")
    return compare(old, new)


def gate_figures(found: PrintedRun | None) -> Figures | Lacking:
    if found is None:
        return Lacking(lacking_git())
    verdicts = {one.name.rpartition("::")[2]: one.verdict for one in found.run.outcomes}
    slower = " ".join(name for name, verdict in verdicts.items() if verdict == "slower")
    return {
        "table": found.table,
        "letter": {"": "a", "test_parse": "b", "test_parse test_sum": "c"}.get(slower),
        "red": found.status == 1,
        "spared": verdicts["test_sum"] != "slower",
    }


# ── 6 ──────────────────────────────────────────────────────────────────────────────────────────
def beside_unused() -> PrintedRun | None:
    used = "def parse(x): return [y.strip() for y in x.split(',')]\n"
    unused = "def unused(x): return {n: x for n in range(9)}\n"
    return compare(used, unused + used, "-k", "parse")


def beside_unused_figures(found: PrintedRun | None) -> Figures | Lacking:
    if found is None:
        return Lacking(lacking_git())
    rounds = by_pair(found.run.outcomes[0].rounds).values()
    pairs = [median(each.here / each.base - 1 for each in of_pair) for of_pair in rounds]
    return {
        "pairs": Rows([(min(pairs), median(pairs), max(pairs))]),
        "number": len(pairs),
        "apart": max(pairs) - min(pairs),
        "middle": Interval.median(pairs),
    }


# ── 7 ──────────────────────────────────────────────────────────────────────────────────────────
def search(verdict: Callable[[int], str], first_slow: int) -> tuple[bool, int]:
    fast, slow, asked = 0, 64, 0
    while slow - fast > 1:
        middle = (fast + slow) // 2
        found = verdict(middle - first_slow)
        asked += 1
        if found == "SLOWER":
            slow = middle
        if found == "SAME":
            fast = middle
    return slow == first_slow, asked


def flips(after: int) -> str:
    wrong = random() < 0.1
    return "SLOWER" if (after >= 0) != wrong else "SAME"


def undecided(after: int) -> str:
    if random() < 0.3:
        return "UNDECIDED"
    return "SLOWER" if after >= 0 else "SAME"


def find_commit(searches: int = 3000) -> list[list[tuple[bool, int]]]:
    found = []
    for rule in (flips, undecided):
        slow = (randrange(1, 65) for _ in range(searches))
        found.append([search(rule, each) for each in slow])
    return found


def find_commit_figures(found: list[list[tuple[bool, int]]]) -> Figures:
    right = [Interval.share(sum(is_right for is_right, _ in each), len(each)) for each in found]
    asked = [sum(number for _, number in each) / len(each) for each in found]
    return {
        "searches": Rows([(share.middle, number) for share, number in zip(right, asked, strict=True)]),
        "number": len(found[0]),
        "flipping": right[0],
        "all_right": all(is_right for is_right, _ in found[1]),
        "more": asked[1] / asked[0],
    }


# ── 8 ──────────────────────────────────────────────────────────────────────────────────────────
def longer(margin: float, seconds: float) -> Duel:
    texts = {"old": "alpha, " * 100, "new": "alpha, " * 104}
    new, old = "words_of(new)", "words_of(old)"
    names = {"words_of": words_of, **texts}
    return duel(new, old, globals=names, margin=margin, budget_s=seconds)


def more_time(seconds: float = 3.0) -> list[Duel]:
    limits = seconds / 20, seconds / 3, seconds
    found = [longer(margin=0.03, seconds=each) for each in limits]
    measured = 1 / found[-1].ratio - 1
    return [*found, longer(margin=measured, seconds=seconds)]


def more_time_figures(found: list[Duel]) -> Figures:
    first, *_, edge = found
    return {
        "limits": Rows(
            [(each.spent_s, each.margin, each.verdict.upper(), each.low, each.high) for each in found],
        ),
        "letter": {Finding.SAME: "a", Finding.SLOWER: "b", Finding.UNDECIDED: "c"}.get(edge.verdict),
        "narrower": wide(first) / wide(edge),
        "stays": edge.verdict is Finding.UNDECIDED,
    }


def wide(found: Duel) -> float:
    """Return the width of a duel's interval, or infinity if there is none."""
    return math.inf if found.low is None or found.high is None else found.high - found.low


lesson = load(__name__)

if __name__ == "__main__":
    main(lesson)
